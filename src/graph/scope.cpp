#include "graph/scope.hpp"

#include <array>

namespace attn {
namespace {

constexpr std::array kinds = {
    &scope::sentence,
    &scope::layer,
    &scope::head,
    &scope::query,
    &scope::source,
    &scope::target,
    &scope::encoder,
    &scope::decoder,
    &scope::self_attention,
    &scope::cross_attention,
    &scope::source_embedding,
    &scope::target_embedding,
    &scope::source_positions,
    &scope::target_positions,
    &scope::output,
    &scope::feed_forward,
    &scope::norm,
    &scope::step,
};

}  // namespace

std::span<const ScopeKind* const> scope_kinds() {
  return kinds;
}

ScopeName::ScopeName(const ScopeKind& its_kind, std::size_t its_number)
    : kind(&its_kind), number(its_number), text(its_kind.name) {
  if (kind->joint) text += kind->joint;
  text += std::to_string(its_number);
}

const NamedScope* within(const NamedScope* scope, const ScopeKind& kind) {
  while (scope && !scope->is(kind)) scope = scope->outer;
  return scope;
}

bool lies_within(const NamedScope* scope, const NamedScope* outer) {
  while (scope && scope != outer) scope = scope->outer;
  return scope == outer;
}

const NamedScope* outermost(const NamedScope* scope) {
  while (scope && scope->outer) scope = scope->outer;
  return scope;
}

const NamedScope* around(const NamedScope* scope, const ScopeKind& kind) {
  const NamedScope* const found = within(scope, kind);
  return found ? found->outer : scope;
}

}  // namespace attn
