#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/expression.hpp"

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

// What goes in.
inline constexpr Role x{.leaf = "x", .latex = "X"};
inline constexpr Role ids{.leaf = "ids", .content = Content::ids};
inline constexpr Role e{.leaf = "e"};  // embeddings of a vocabulary, a row for each word
inline constexpr Role one_hot{.leaf = "one_hot"};
inline constexpr Role product{.leaf = "product"};            // of one-hot rows with the embeddings
inline constexpr Role scaled_x{.leaf = "scaled_x"};          // times √d_model
inline constexpr Role memory{.leaf = "memory"};              // what is attended to in place of x
inline constexpr Role value_memory{.leaf = "value_memory"};  // source of the values, in place of the memory
inline constexpr Role positions{.leaf = "positions"};
inline constexpr Role positioned{.leaf = "positioned"};  // x + positions
inline constexpr Role position_table{.leaf = "position_table"};
inline constexpr Role table{.leaf = "table"};  // the learned positions of one side of a model
inline constexpr Role dot_products{.leaf = "dot_products"};

// Parameters, with the letters of "Attention Is All You Need".
inline constexpr Role w_q{.leaf = "w_q", .latex = "W^{Q}"};
inline constexpr Role w_k{.leaf = "w_k", .latex = "W^{K}"};
inline constexpr Role w_v{.leaf = "w_v", .latex = "W^{V}"};
inline constexpr Role w_o{.leaf = "w_o", .latex = "W^{O}"};
inline constexpr Role b_q{.leaf = "b_q", .latex = "b^{Q}"};
inline constexpr Role b_k{.leaf = "b_k", .latex = "b^{K}"};
inline constexpr Role b_v{.leaf = "b_v", .latex = "b^{V}"};
inline constexpr Role b_o{.leaf = "b_o", .latex = "b^{O}"};
inline constexpr Role w_1{.leaf = "w_1"};
inline constexpr Role b_1{.leaf = "b_1"};
inline constexpr Role w_2{.leaf = "w_2"};
inline constexpr Role b_2{.leaf = "b_2"};
inline constexpr Role w{.leaf = "w"};
inline constexpr Role b{.leaf = "b"};
inline constexpr Role gamma{.leaf = "gamma"};
inline constexpr Role beta{.leaf = "beta"};
inline constexpr Role score_m{.leaf = "score_m", .latex = "M"};
inline constexpr Role score_wq{.leaf = "score_wq", .latex = "W_{q}"};
inline constexpr Role score_wk{.leaf = "score_wk", .latex = "W_{k}"};
inline constexpr Role score_b{.leaf = "score_b", .latex = "b"};
inline constexpr Role score_wv{.leaf = "score_wv", .latex = "w_{v}"};

// Attention.
inline constexpr Role q{.leaf = "q", .latex = "Q"};
inline constexpr Role k{.leaf = "k", .latex = "K"};
inline constexpr Role v{.leaf = "v", .latex = "V"};
inline constexpr Role keys{.leaf = "keys"};      // with those of earlier words
inline constexpr Role values{.leaf = "values"};  // with those of earlier words, or of several layers
inline constexpr Role scores{.leaf = "scores"};
inline constexpr Role scaled{.leaf = "scaled", .may_be_masked = true};  // scores that are given may be −∞
inline constexpr Role capped{.leaf = "capped", .may_be_masked = true};
inline constexpr Role masked{.leaf = "masked", .may_be_masked = true};
inline constexpr Role weights{.leaf = "weights", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role alignment{.leaf = "alignment", .content = Content::weights};
inline constexpr Role alignment_transposed{.leaf = "alignment_transposed", .content = Content::weights};
inline constexpr Role head{.leaf = "head"};  // the output of the only one
inline constexpr Role concat{.leaf = "concat"};
inline constexpr Role output{.leaf = "output"};
inline constexpr Role mask{.leaf = "mask", .content = Content::permissions};
inline constexpr Role cross_mask{.leaf = "cross_mask", .content = Content::permissions};
inline constexpr Role bias{.leaf = "bias"};  // a mask that is added to the scores
inline constexpr Role cross_bias{.leaf = "cross_bias"};

// What scores are made of.
inline constexpr Role expanded{.leaf = "expanded"};
inline constexpr Role dot{.leaf = "dot"};
inline constexpr Role half_q{.leaf = "half_q"};
inline constexpr Role half_k{.leaf = "half_k"};
inline constexpr Role projected_q{.leaf = "projected_q"};
inline constexpr Role unit_q{.leaf = "unit_q"};  // of length 1
inline constexpr Role unit_k{.leaf = "unit_k"};
inline constexpr Role hidden_q{.leaf = "hidden_q"};
inline constexpr Role hidden_k{.leaf = "hidden_k"};
inline constexpr Role hidden{.leaf = "hidden"};
inline constexpr Role activated{.leaf = "activated"};  // by tanh, or by what a feed-forward layer has
inline constexpr Role rotated_q{.leaf = "rotated_q"};  // by rotary positions
inline constexpr Role rotated_k{.leaf = "rotated_k"};
inline constexpr Role content{.leaf = "content"};      // without relative positions
inline constexpr Role relative{.leaf = "relative"};    // what relative positions add
inline constexpr Role distances{.leaf = "distances"};  // a column for each distance

// Layers.
inline constexpr Role inner{.leaf = "inner"};
inline constexpr Role rectified{.leaf = "rectified"};
inline constexpr Role feed_forward{.leaf = "feed_forward"};
inline constexpr Role sum{.leaf = "sum"};  // a residual connection
inline constexpr Role mean{.leaf = "mean"};
inline constexpr Role variance{.leaf = "variance"};
inline constexpr Role normalised{.leaf = "normalised"};
inline constexpr Role through_layer{.leaf = "through_layer"};
inline constexpr Role padding{.leaf = "padding"};

// What comes out of a model.
inline constexpr Role logits{.leaf = "logits"};
inline constexpr Role expected{.leaf = "expected", .content = Content::ids};  // words that should come out
inline constexpr Role losses{.leaf = "losses"};                               // a number for each word
inline constexpr Role counted{.leaf = "counted"};                             // how much each word counts in the loss
inline constexpr Role loss{.leaf = "loss"};
inline constexpr Role tempered{.leaf = "tempered"};
inline constexpr Role distribution{.leaf = "distribution", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role allowed{.leaf = "allowed", .content = Content::permissions};
inline constexpr Role limited{.leaf = "limited", .content = Content::weights, .rows_sum_to_one = true};

// Recurrent networks.
inline constexpr Role source{.leaf = "source", .content = Content::ids};
inline constexpr Role last_words{.leaf = "last_words", .content = Content::ids};  // their places
inline constexpr Role last{.leaf = "last"};                                       // the states behind them
inline constexpr Role previous{.leaf = "previous", .content = Content::ids};
inline constexpr Role h{.leaf = "h"};
inline constexpr Role y{.leaf = "y"};
inline constexpr Role state{.leaf = "state"};
inline constexpr Role query{.leaf = "query"};
inline constexpr Role context{.leaf = "context"};
inline constexpr Role joined{.leaf = "joined"};
inline constexpr Role w_s{.leaf = "w_s"};
inline constexpr Role b_s{.leaf = "b_s"};
inline constexpr Role w_xh{.leaf = "w_xh"};
inline constexpr Role w_hh{.leaf = "w_hh"};
inline constexpr Role b_h{.leaf = "b_h"};
inline constexpr Role x_h{.leaf = "x_h"};
inline constexpr Role h_h{.leaf = "h_h"};
inline constexpr Role w_xr{.leaf = "w_xr"};
inline constexpr Role w_hr{.leaf = "w_hr"};
inline constexpr Role b_r{.leaf = "b_r"};
inline constexpr Role x_r{.leaf = "x_r"};
inline constexpr Role h_r{.leaf = "h_r"};
inline constexpr Role w_xz{.leaf = "w_xz"};
inline constexpr Role w_hz{.leaf = "w_hz"};
inline constexpr Role b_z{.leaf = "b_z"};
inline constexpr Role x_z{.leaf = "x_z"};
inline constexpr Role h_z{.leaf = "h_z"};
inline constexpr Role reset{.leaf = "reset"};
inline constexpr Role update{.leaf = "update"};
inline constexpr Role remembered{.leaf = "remembered"};
inline constexpr Role candidate{.leaf = "candidate"};

// Comparisons.
inline constexpr Role heads{.leaf = "heads", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role shares{.leaf = "shares", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role average{.leaf = "average", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role lowered_scores{.leaf = "lowered_scores"};
inline constexpr Role unmasked{.leaf = "unmasked", .content = Content::weights, .rows_sum_to_one = true};
inline constexpr Role filled{.leaf = "filled"};  // masked weights that are another number
inline constexpr Role left{.leaf = "left"};      // what masked weights leave of a row
inline constexpr Role zeroed{.leaf = "zeroed"};

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
