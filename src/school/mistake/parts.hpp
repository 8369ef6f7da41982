#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/op/operations.hpp"
#include "school/mistake/rewriting.hpp"

namespace attn {

// What rows of mistakes are made of.

using Made = std::optional<Value>;

/// An operand of a node, or null where it has fewer.
const Node* operand(const Node& node, std::size_t i);

/// Whether an operand of a node is one of these, whatever other names it has.
bool uses(const Node& node, const Node& operand);

/// The operation of a node on its operands as they now are, but some of them exchanged.
Value on_others(const Node& node, const std::function<Made(const Node& operand)>& other, Rewriting& again);

/// What `result` would be if `from`, of which it is made, were `value`: all between them is made again.
Value put(const Node& result, const Node& from, const Value& value, Rewriting& again);

/// A column of zeros, or of one number, as long as `column`.  [n, 1] -> [n, 1].
Value constant_like(const Value& column, double number);

/// A factor that has no notation of its own.
Scalar plain_number(double value);

/// Whether a node is a gradient, or made of one.
bool is_gradient(const Node& node);

/// As tables of mistakes write them.
constexpr auto error = Mistake::Kind::error, convention = Mistake::Kind::convention;

// What the tables of mistakes in attention ask of nodes. A node is known by its role, its operation and its
// scope.

/// What is made in the place of a node; nothing: it stays as it is.
using Made = std::optional<Value>;

/// Whether the node has this role and is the result of an operation, and not another name of one.
bool makes(const Node& node, const Role& role);

/// Whether it is a softmax whose rows are weights: of attention, or, unless only that is meant, of the words
/// of a vocabulary as well.
bool is_softmax_of_attention(const Node& node);
bool is_any_softmax(const Node& node);

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
/// Which of the heads it belongs to, from 0; nothing where there is one head without a scope.
std::optional<std::size_t> head_of(const Node& node);

/// For an operation on a node that has another name of this role: the operation on what that name now stands
/// for. So a mistake can put something in the place of a step that was none, such as a scale.
Made on_named(const Node& node, const Role& role, Rewriting& again);

/// The scores that a softmax is taken of, with a number in place of each that is masked.
Value scores_with(double fill, const Node& softmax, Rewriting& again);
/// The same before the mask, and the mask once more on something of their shape.
Value scores_before_mask(const Node& softmax, Rewriting& again);
Value masked_like(const Node& softmax, const Value& scores, Rewriting& again);
/// Weights with 0 in place of each that is masked.
Value zero_where_masked(const Node& softmax, const Value& weights, Rewriting& again);

/// √n.
Scalar root_of(std::size_t n);

}  // namespace attn
