#pragma once

#include <string>
#include <vector>

#include "graph/formula.hpp"
#include "graph/scope.hpp"

namespace attn {

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
Name called(std::string_view name);

/// A name as formulas write it.
Formula symbol(const Name& name);

}  // namespace attn
