#include <array>
#include <limits>
#include <numbers>

#include "mistake/attention_nodes.hpp"
#include "mistake/parts.hpp"

// Mistakes with the softmax: over what it is taken, and how.

namespace attn {
namespace {

using enum Mistake::Kind;

// --- over what it is taken

Made over_queries(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  return transpose(softmax(transpose(again.of(*node.operands[0]))));
}

Made over_all_cells(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  const std::size_t keys = scores.shape().columns, sentences = scores.node().frame.rows.batch;
  return reshape(softmax(reshape(scores, scores.shape().cells() / sentences)), keys);
}

Made over_heads(const Node& node, Rewriting& again) {
  const std::optional<std::size_t> head = head_of(node);
  if (!head || !is_softmax_of_attention(node)) return std::nullopt;
  std::vector<Value> scores;
  for (const Node* weights : of_all_heads(node, role::weights))
    scores.push_back(again.of(*weights->operands[0]));
  const std::size_t keys = node.frame.shape.columns;
  return columns(softmax(concatenate(scores)), *head * keys, keys);
}

Made over_all_cells_of_all_heads(const Node& node, Rewriting& again) {
  const std::optional<std::size_t> head = head_of(node);
  if (!head || !is_softmax_of_attention(node)) return std::nullopt;
  std::vector<Value> scores;
  for (const Node* weights : of_all_heads(node, role::weights))
    scores.push_back(again.of(*weights->operands[0]));
  const Value all = concatenate(scores);
  const std::size_t keys = node.frame.shape.columns, sentences = node.frame.rows.batch;
  const Value together = softmax(reshape(all, all.shape().cells() / sentences));
  return columns(reshape(together, all.shape().columns), *head * keys, keys);
}

// What a softmax over one number at a time gives: over the batch, or over an axis of length 1.
Made over_one_number(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  return times(uniform(scores), plain_number(static_cast<double>(scores.shape().columns)));
}

// --- how it is taken

Made shares_of_scores(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return normalize(scores_with(0.0, node, again));
}

Made no_softmax(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return scores_with(0.0, node, again);
}

Made not_divided(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return attn::exp(again.of(*node.operands[0]));
}

// exp(x − max x): what a softmax divides, where the largest score is subtracted first.
Made subtracted_and_not_divided(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  const Value largest_of_row = row_sums(replace(scores, largest(scores), 0.0));
  return attn::exp(subtract(scores, largest_of_row));
}

// The largest of the row, but the sum of the column: two axes in one softmax.
Made divided_by_columns(const Node& node, Rewriting& again) {
  if (!is_softmax_of_attention(node)) return std::nullopt;
  const Made exponentials = subtracted_and_not_divided(node, again);
  return transpose(normalize(transpose(*exponentials)));
}

// 1 where the score is not the largest of its row.
Value others_than_largest(const Value& scores) {
  const Value ones = times(uniform(scores), plain_number(static_cast<double>(scores.shape().columns)));
  return subtract(ones, largest(scores));
}

Made largest_left_out(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = again.of(*node.operands[0]);
  return softmax(mask(scores, others_than_largest(scores), -std::numeric_limits<double>::infinity()));
}

Made powers_of_two(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return softmax(times(again.of(*node.operands[0]), {std::numbers::ln2, {"ln 2", "\\ln 2"}}));
}

Made largest_alone(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return zero_where_masked(node, largest(again.of(*node.operands[0])), again);
}

Made negated(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  const Value scores = times(scores_before_mask(node, again), plain_number(-1.0));
  return softmax(masked_like(node, scores, again));
}

// Weights may be given.
bool are_given_weights(const Node& node) {
  return node.is(role::weights) && !node.operation;
}

Made taken_twice(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node) && !are_given_weights(node)) return std::nullopt;
  return softmax(again.unchanged(node));
}

Made sigmoids(const Node& node, Rewriting& again) {
  if (!is_any_softmax(node)) return std::nullopt;
  return sigmoid(again.of(*node.operands[0]));
}

Made equal_weights(const Node& node, Rewriting& again) {
  if (are_given_weights(node)) return uniform(again.unchanged(node));
  if (!is_softmax_of_attention(node)) return std::nullopt;
  return normalize(zero_where_masked(node, uniform(again.of(*node.operands[0])), again));
}

constexpr std::array table = {
    Mistake{"shares-of-scores", error, "division by the sum without the exponential",
            "This is what division by the sum of the row gives, without the exponential. Take e to the power "
            "of each number first.",
            shares_of_scores},
    Mistake{"softmax-not-divided", error, "exponentials that are not divided by their sum",
            "This is what the exponentials give when they are not divided. Divide each by the sum of its "
            "row.",
            not_divided},
    Mistake{"no-softmax", error, "no softmax",
            "This is what the numbers give without a softmax. Take e to the power of each, and divide by the "
            "sum of the row.",
            no_softmax},
    Mistake{"powers-of-two", error, "powers of 2 instead of e",
            "This is what powers of 2 give. Softmax takes powers of e ≈ 2.718.", powers_of_two},
    Mistake{"softmax-over-queries", error, "softmax over the queries instead of the keys",
            "This is what softmax over the queries gives: each column sums to 1. Take it over the keys, so "
            "that each row does.",
            over_queries},
    Mistake{"equal-weights", error, "equal weights for all keys",
            "This is what equal weights give, a plain mean over the keys. Give each key its own weight.",
            equal_weights},
    Mistake{"largest-alone", error, "all weight on the largest number",
            "This is what the maximum gives: the largest number of a row gets the weight 1, and all others "
            "0. Softmax gives others a part as well.",
            largest_alone},
    Mistake{"softmax-over-all", error, "softmax over the whole matrix",
            "This is what softmax over the whole matrix gives: all weights together sum to 1. Take it row by "
            "row, over the keys of each query.",
            over_all_cells},
    Mistake{"softmax-over-heads", error, "softmax over the keys of all heads together",
            "This is what softmax over the keys of all heads together gives. Take it in each head by itself, "
            "so that each row sums to 1 there.",
            over_heads},
    Mistake{"softmax-over-all-heads", error, "softmax over all numbers of all heads together",
            "This is what softmax over all numbers of all heads gives: the weights of all heads together sum "
            "to 1. Take it row by row, over the keys of each query.",
            over_all_cells_of_all_heads},
    Mistake{"softmax-over-one", error, "weights that are all 1",
            "This is what a softmax over single numbers gives, as along an axis of length 1: every weight is "
            "1. Take it over the keys.",
            over_one_number},
    Mistake{"largest-subtracted-not-divided", error,
            "exponentials of the distances from the largest number that are not divided by their sum",
            "This is what the exponentials give after the largest number of the row is subtracted, and "
            "before they are divided. Divide each by the sum of its row.",
            subtracted_and_not_divided},
    Mistake{"divided-by-column-sums", error,
            "exponentials of the distances from the largest number of a row that are divided by the sums of "
            "the columns",
            "This is what the exponentials give when the largest number of each row is subtracted, but each "
            "is divided by the sum of its column. Divide by the sum of the row.",
            divided_by_columns},
    Mistake{"softmax-without-largest", error, "softmax in which the largest number does not count",
            "This is what softmax gives when the largest number of each row does not count. After the "
            "largest is subtracted, its exponential is e⁰ = 1, not 0.",
            largest_left_out},
    Mistake{"softmax-of-negated", error, "softmax with the sign reversed",
            "This is what softmax gives with the sign of every number reversed. The largest number gets the "
            "largest weight.",
            negated},
    Mistake{"softmax-twice", error, "softmax taken twice",
            "This is what softmax gives when it is taken twice. Take it once: its result is weights, not "
            "scores.",
            taken_twice},
    Mistake{"sigmoid", error, "sigmoid instead of softmax",
            "This is what the sigmoid gives, number by number. Softmax divides by the sum of the row, so "
            "that each row sums to 1.",
            sigmoids},
};

}  // namespace

std::span<const Mistake> mistakes_of_softmax() {
  return table;
}

}  // namespace attn
