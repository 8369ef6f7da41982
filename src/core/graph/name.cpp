#include "core/graph/name.hpp"

#include <algorithm>

#include "core/support/text.hpp"

namespace attn {

namespace {

// --- name

// What is read back as it was written: not "01".
std::optional<std::size_t> number_in(std::string_view text) {
  const std::optional<std::size_t> number = parse_number<std::size_t>(text);
  return number && std::to_string(*number) == text ? number : std::nullopt;
}

// Scopes of a name: a scope's number may be a piece of its own.
class ScopesRead {
 public:
  explicit ScopesRead(std::vector<std::string_view> pieces) : pieces_(std::move(pieces)) {}

  std::vector<ScopeName> all() {
    std::vector<ScopeName> scopes;
    while (at_ < pieces_.size()) scopes.push_back(next());
    return scopes;
  }

 private:
  ScopeName next() {
    const std::string_view piece = pieces_[at_++];
    if (const auto number = number_in(piece)) return {scope::number, *number};
    for (const ScopeKind* kind : scope_kinds()) {
      if (!piece.starts_with(kind->name)) continue;
      const std::string_view rest = piece.substr(kind->name.size());
      if (rest.empty()) return with_number_behind(*kind);
      const auto number = rest.front() == kind->joint ? number_in(rest.substr(1)) : std::nullopt;
      if (number) return {*kind, *number};
    }
    return {scope::other, piece};
  }

  // A layer of an encoder is a scope of its own, but `head.2` is one.
  ScopeName with_number_behind(const ScopeKind& kind) {
    const auto number = kind.joint == '.' && at_ < pieces_.size() ? number_in(pieces_[at_]) : std::nullopt;
    if (!number) return kind;
    ++at_;
    return {kind, *number};
  }

  std::vector<std::string_view> pieces_;
  std::size_t at_ = 0;
};

// --- role

constexpr const Role* all[] = {
    &role::other,
#define ROLE(name, ...) &role::name,
#include "core/graph/roles.def"
#undef ROLE
};

// --- scope

constexpr const ScopeKind* kinds_of_scopes[] = {
#define SCOPE(name, ...) &scope::name,
#include "core/graph/scopes.def"
#undef SCOPE
};

}  // namespace

// --- name

Name::Name(const Role& role, std::size_t number)
    : role_(&role), leaf_(std::string(role.leaf) + "_" + std::to_string(number)) {}

Name::Name(std::vector<ScopeName> scopes, Name name) : Name(std::move(name)) {
  scopes_.insert(scopes_.begin(), scopes.begin(), scopes.end());
}

std::string Name::text() const {
  std::string text;
  for (const ScopeName& scope : scopes_) text += scope.text + '.';
  if (family_) text += family_->prefix;
  return text + leaf_;
}

Name name_from_text(std::string_view name) {
  std::vector<std::string_view> pieces = split_at(name, '.');
  const std::string_view leaf = pieces.back();
  pieces.pop_back();
  const auto all = roles();
  const auto found = std::ranges::find(all, leaf, &Role::leaf);
  const Role& role = found == all.end() ? role::other : **found;
  return {ScopesRead(std::move(pieces)).all(), {role, std::string(leaf)}};
}

Formula symbol(const Name& name) {
  std::string scope;
  for (const ScopeName& one : name.scopes()) scope += (scope.empty() ? "" : ".") + one.text;
  const std::string_view letter = name.letter();
  return symbol(scope, name.leaf(), letter.empty() ? latex_of_name(name.leaf()) : std::string(letter));
}

// --- role

std::span<const Role* const> roles() { return all; }

// --- scope

std::span<const ScopeKind* const> scope_kinds() { return kinds_of_scopes; }

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
