#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/role.hpp"

namespace attn {

/// What a scope is, wherever it is opened. A kind is known by its address; only this table knows its name.
struct ScopeKind {
  std::string_view name;           // "head" of head.2; empty: its number alone
  char joint = 0;                  // between name and number; 0: it has no number
  const Family* family = nullptr;  // of all that is named within; null: that of the scope around it
};

namespace scope {

/// A scope with a name of its own, such as a row of a table that is compared with others.
inline constexpr ScopeKind other{""};

inline constexpr ScopeKind sentence{"sentence", '.'};
inline constexpr ScopeKind layer{"layer", '.'};
inline constexpr ScopeKind head{"head", '.'};
inline constexpr ScopeKind query{"query", '.'};

// Parts of a model. A number alone is a layer, or the output of a recurrent decoder.
inline constexpr ScopeKind number{""};
inline constexpr ScopeKind source{"source"};
inline constexpr ScopeKind target{"target"};
inline constexpr ScopeKind source_embedding{"source_embedding"};
inline constexpr ScopeKind target_embedding{"target_embedding"};
inline constexpr ScopeKind source_positions{"source_positions"};
inline constexpr ScopeKind target_positions{"target_positions"};
inline constexpr ScopeKind output{"output"};
inline constexpr ScopeKind encoder{"encoder"};
inline constexpr ScopeKind decoder{"decoder"};
inline constexpr ScopeKind self_attention{"self_attention"};
inline constexpr ScopeKind cross_attention{"cross_attention"};
inline constexpr ScopeKind feed_forward{"feed_forward"};
inline constexpr ScopeKind norm{"norm", '_'};
inline constexpr ScopeKind step{"step", '.'};  // of a generation

}  // namespace scope

/// Every kind of scope that names from outside may have.
std::span<const ScopeKind* const> scope_kinds();

/// A scope as it is opened: `head.2`, `norm_1`, `encoder`, `gaussian`.
struct ScopeName {
  ScopeName(const ScopeKind& its_kind) : kind(&its_kind), text(its_kind.name) {}
  ScopeName(const ScopeKind& its_kind, std::size_t its_number);
  ScopeName(const ScopeKind& its_kind, std::string_view its_text) : kind(&its_kind), text(its_text) {}

  const ScopeKind* kind;
  std::optional<std::size_t> number = {};
  std::string text;  // as it is written
};

/// A scope of a graph, within the one around it. Each stands once in its graph.
struct NamedScope {
  const ScopeKind* kind;
  std::optional<std::size_t> number;
  const NamedScope* outer;  // null: none
  const Family* family;
  std::string prefix;  // of the names within: `encoder.1.`

  bool is(const ScopeKind& other) const { return kind == &other; }
  /// `encoder.1`
  std::string title() const { return prefix.substr(0, prefix.size() - 1); }
};

/// The innermost scope of a kind that is `scope` or lies around it; null: there is none.
const NamedScope* within(const NamedScope* scope, const ScopeKind& kind);
/// Whether `scope` is `outer` or lies within it. Everything lies within null.
bool lies_within(const NamedScope* scope, const NamedScope* outer);
/// The one around all others; null: there is no scope.
const NamedScope* outermost(const NamedScope* scope);
/// The scope around the innermost one of that kind, or the scope itself where there is none.
const NamedScope* around(const NamedScope* scope, const ScopeKind& kind);

}  // namespace attn
