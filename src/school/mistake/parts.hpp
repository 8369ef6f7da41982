#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/op/operations.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

// What rows of mistakes are made of. A node is known by its role, its operation and its scope.

/// As tables of mistakes write them.
constexpr auto error = Mistake::Kind::error, convention = Mistake::Kind::convention;

/// What is made in the place of a node; nothing: it stays as it is.
using Made = std::optional<Value>;

// --- where

/// An operand of a node, or null where it has fewer.
const Node* operand(const Node& node, std::size_t i);

/// Whether an operand of a node is one of these, whatever other names it has.
bool uses(const Node& node, const Node& operand);

/// Whether a function of a node finds something.
template <auto find>
bool has(const Node& node) {
  return static_cast<bool>(find(node));
}

/// Whether the node has one of these roles.
template <const Role&... roles>
bool has_role(const Node& node) {
  return (node.is(roles) || ...);
}

/// Whether the node has this role, or one of several, and is the result of an operation, and not another name
/// of one.
bool makes(const Node& node, const Role& role);
template <const Role&... roles>
bool makes(const Node& node) {
  return (makes(node, roles) || ...);
}

/// Whether it turns queries or keys by the angles of their positions.
constexpr auto turns = makes<role::rotated_q, role::rotated_k>;

/// Whether a node is a gradient, or made of one.
bool is_gradient(const Node& node);

/// Whether it is a softmax whose rows are weights: of attention, or, unless only that is meant, of the words
/// of a vocabulary as well.
bool is_softmax_of_attention(const Node& node);
bool is_any_softmax(const Node& node);

/// Whether it puts something in the place of masked scores, as mask() does; that, and its role as well.
bool is_mask(const Node& node);
bool masks_scores(const Node& node);

/// Whether it is the weighted sum of values, weights · v, and of attention.
bool sums_values(const Node& node);

/// Whether it holds dot products of queries and keys, however they were told their positions: its operands.
bool compares(const Node& node);
/// The dot products that scores are made of; null where they are made otherwise.
const Node* comparison_of(const Node& scores);

/// x · w + b, as a node is made: a linear layer.
struct LinearNodes {
  const Node* x;
  const Node* w;
  const Node* b;  // null: none
};
std::optional<LinearNodes> linear_nodes(const Node& node);

/// The node of a role in the scope around the heads, where the heads share it; null: there is none.
const Node* shared_by_heads(const Node& node, const Role& role);
/// The nodes of a role of all heads that stand beside the one of this node, in order.
std::vector<const Node*> of_all_heads(const Node& node, const Role& role);
/// The same node of all sentences of a batch, in order, where each has a scope of its own; empty: none has.
std::vector<const Node*> of_all_sentences(const Node& node);
/// Which of the heads it belongs to, from 0; nothing where there is one head without a scope.
std::optional<std::size_t> head_of(const Node& node);

/// How many words went in at a time of which these are the keys: all at once, or first those before.
std::vector<std::size_t> words_at_a_time(const Node& keys);

/// Whether a node is made of one that has another name of this role.
bool is_made_of_named(const Node& node, const Role& role);

// --- what instead

/// The first operand alone, so that the step is left out; and the second one alone.
Made left_out(RewriteSite at);
Made second_alone(RewriteSite at);

/// The node times a number.
Value multiplied(RewriteSite at, double factor);

/// For a node that is made of one with another name of this role: its operation on what that name now stands
/// for. So a mistake can put something in the place of a step that was none, such as a scale.
Made on_named(RewriteSite at, const Role& role);

/// The operation of a node on its operands as they now are, but some of them exchanged, or one.
Value on_others(RewriteSite at, const std::function<Made(const Node& operand)>& other);
Value on_other(RewriteSite at, const Node& operand, const Value& other);

/// What `result` would be if `from`, of which it is made, were `value`: all between them is made again.
Value put(const Node& result, const Node& from, const Value& value, Rewriting& again);

/// One number in every cell, with the shape of `x`.
Value constant_like(const Value& x, double number);

/// The sum of matrices of one shape, and their mean.
Value sum_of_all(const std::vector<Value>& all);
Value mean_of_all(const std::vector<Value>& all);

/// A function of each cell of a matrix in the place of a node.
Value each_cell(RewriteSite at, const Matrix& matrix, double (*function)(double));

/// A factor that has no notation of its own.
Scalar plain_number(double value);
Scalar plain_number(std::size_t value);

/// √n.
Scalar root_of(std::size_t n);

/// The waves of a node that has some; with another base; beginning one position later.
Waves waves(RewriteSite at);
Waves with_base(RewriteSite at, double base);
Waves one_later(RewriteSite at);

// Of a softmax, as the node: the scores that it is taken of, with a number in place of each that is masked;
// the same before the mask; the mask once more on something of their shape, and weights with 0 in place of
// each that is masked.
Value scores_with(double fill, RewriteSite softmax);
Value scores_before_mask(RewriteSite softmax);
Value masked_like(RewriteSite softmax, const Value& scores);
Value zero_where_masked(RewriteSite softmax, const Value& weights);

}  // namespace attn
