#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/formula.hpp"

namespace attn {

/// What the cells of a matrix are.
enum class Content { numbers, weights /* 0 to 1 */, permissions /* 0 or 1 */, ids };

/// What a matrix is, wherever it stands. A role is known by its address; only this table knows its name.
struct Role {
  std::string_view leaf;        // the last part of a node's name
  std::string_view latex = {};  // its letter in a formula; empty: the name is written out
  Content content = Content::numbers;
  bool rows_sum_to_one = false;  // or to zero, where all keys are masked
  bool may_be_masked = false;    // −∞ is no overflow
};

namespace role {

/// A matrix of which nothing is known but a name of its own.
inline constexpr Role other{.leaf = ""};

#define ROLE(name, ...) inline constexpr Role name{.leaf = #name, __VA_ARGS__};
#include "core/graph/roles.def"
#undef ROLE

}  // namespace role

/// Every role.
std::span<const Role* const> roles();

/// A second computation of the same kind beside the first one, or the first one itself. Its matrices have the
/// same roles.
struct Family {
  std::string_view name;
  std::string_view prefix = {};  // of a leaf: "d_" of d_weights
  std::string_view before = {};  // the letter of a role, in LaTeX
  bool keeps_facts = false;      // the weights of an averaging are weights; changed ones may be any numbers
};

namespace family {

inline constexpr Family forward{.name = "forward", .keeps_facts = true};
/// How much a number that the computation ends in changes with each cell.
inline constexpr Family gradient{.name = "gradient", .prefix = "d_", .before = "\\partial L/\\partial "};

}  // namespace family

/// What a scope is, wherever it is opened. A kind is known by its address; only this table knows its name.
struct ScopeKind {
  std::string_view name;           // "head" of head.2; empty: its number alone
  char joint = 0;                  // between name and number; 0: it has no number
  const Family* family = nullptr;  // of all that is named within; null: that of the scope around it
};

namespace scope {

/// A scope with a name of its own, such as a row of a table that is compared with others.
inline constexpr ScopeKind other{""};

/// A number alone: a layer, or the output of a recurrent decoder.
inline constexpr ScopeKind number{""};

#define SCOPE(name, ...) inline constexpr ScopeKind name{#name, __VA_ARGS__};
#include "core/graph/scopes.def"
#undef SCOPE

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

/// What a matrix is called: its role, with a number where a scope has several, or a name that is not the
/// role's; and the scopes in which it stands, within those that are open.
class Name {
 public:
  Name(const Role& role) : role_(&role), leaf_(role.leaf) {}
  /// `sum_2`
  Name(const Role& role, std::size_t number);
  Name(const Role& role, std::string leaf) : role_(&role), leaf_(std::move(leaf)) {}
  /// `encoder.1.x`
  Name(std::vector<ScopeName> scopes, Name name);
  /// `d_weights`; otherwise its family is that of the scope.
  Name(const Family& family, const Role& role) : Name(family, role, std::string(role.leaf)) {}
  Name(const Family& family, const Role& role, std::string leaf)
      : role_(&role), family_(&family), leaf_(std::move(leaf)) {}

  const Role& role() const { return *role_; }
  /// Its family, in a scope of another one.
  const Family& family(const Family& of_scope) const { return family_ ? *family_ : of_scope; }
  const std::string& leaf() const { return leaf_; }
  const std::vector<ScopeName>& scopes() const { return scopes_; }
  /// With its scopes and, where it has a family of its own, the prefix of that.
  std::string text() const;
  /// That of the role, where it is called by the role's name.
  std::string_view letter() const { return leaf_ == role_->leaf ? role_->latex : std::string_view(); }

 private:
  const Role* role_;
  const Family* family_ = nullptr;
  std::string leaf_;
  std::vector<ScopeName> scopes_ = {};
};

/// A name that comes from outside, a file's or a problem's, with its scopes: `encoder.1.self_attention.w_q`.
/// An unknown matrix or scope is `other`.
Name name_from_text(std::string_view name);

/// A name as formulas write it.
Formula symbol(const Name& name);

}  // namespace attn
