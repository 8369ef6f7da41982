#include <array>

#include "mistake/attention_nodes.hpp"
#include "mistake/parts.hpp"
#include "op/known.hpp"

// Mistakes with heads: how q, k and v are split, and how the heads are put together.

namespace attn {
namespace {

using enum Mistake::Kind;

// --- how they are split

// A head's columns of q, k or v: of which matrix, which part of it, and how many there are. Heads that share
// keys have the same part.
struct Part {
  const Node* whole;
  std::size_t number, count;
};

std::optional<Part> part_of_head(const Node& node) {
  if (!makes(node, role::q) && !makes(node, role::k) && !makes(node, role::v)) return std::nullopt;
  const std::optional<std::size_t> first = first_of_slice(*node.operation);
  const std::size_t size = node.frame.shape.columns;
  if (!head_of(node) || !first || size == 0) return std::nullopt;
  const Node& whole = *node.operands[0];
  if (whole.frame.shape.rows != node.frame.shape.rows) return std::nullopt;  // a slice of rows
  return Part{&whole, *first / size, whole.frame.shape.columns / size};
}

// Row after row cut into as many parts as there are heads.
Made split_by_reshape(const Node& node, Rewriting& again) {
  const std::optional<Part> part = part_of_head(node);
  if (!part) return std::nullopt;
  const Value whole = again.of(*part->whole);
  const std::size_t words = whole.shape().rows / whole.node().frame.rows.batch;
  return rows(reshape(whole, node.frame.shape.columns), part->number * words, words);
}

Made merged_by_reshape(const Node& node, Rewriting& again) {
  if (!makes(node, role::concat)) return std::nullopt;
  std::vector<Value> heads;
  for (const Node* head : node.operands) heads.push_back(again.of(*head));
  return reshape(stack(heads), node.frame.shape.columns);
}

Made split_and_merged_by_reshape(const Node& node, Rewriting& again) {
  const Made part = split_by_reshape(node, again);
  return part ? part : merged_by_reshape(node, again);
}

// Every h-th column, from the number of the head on.
Made split_in_strides(const Node& node, Rewriting& again) {
  const std::optional<Part> part = part_of_head(node);
  if (!part) return std::nullopt;
  const Value by_part = reshape(again.of(*part->whole), part->count);
  return reshape(columns(by_part, part->number, 1), node.frame.shape.columns);
}

Made first_part_for_all(const Node& node, Rewriting& again) {
  const std::optional<Part> part = part_of_head(node);
  if (!part) return std::nullopt;
  return columns(again.of(*part->whole), 0, node.frame.shape.columns);
}

Made not_split(const Node& node, Rewriting& again) {
  const std::optional<Part> part = part_of_head(node);
  if (!part) return std::nullopt;
  return again.of(*part->whole);
}

// A head's part of the words times a block of the parameters, the one of this head or of the first.
Made words_split(const Node& node, Rewriting& again, bool is_shared) {
  const std::optional<Part> part = part_of_head(node);
  const std::optional<LinearNodes> map = part ? linear_nodes(*part->whole) : std::nullopt;
  if (!map || map->x->frame.shape.columns % part->count != 0) return std::nullopt;
  const std::size_t width = map->x->frame.shape.columns / part->count, size = node.frame.shape.columns;
  const std::size_t block = is_shared ? 0 : part->number;
  const Value w = columns(rows(again.of(*map->w), block * width, width), block * size, size);
  const Value product = matmul(columns(again.of(*map->x), part->number * width, width), w);
  return map->b ? add(product, columns(again.of(*map->b), block * size, size)) : product;
}
Made words_split_first(const Node& node, Rewriting& again) {
  return words_split(node, again, false);
}
Made words_split_with_shared_parameters(const Node& node, Rewriting& again) {
  return words_split(node, again, true);
}

// --- how they are put together

Made summed(const Node& node, Rewriting& again) {
  if (!makes(node, role::concat)) return std::nullopt;
  Value sum = again.of(*node.operands[0]);
  for (std::size_t i = 1; i < node.operands.size(); ++i) sum = add(sum, again.of(*node.operands[i]));
  return sum;
}

Made averaged(const Node& node, Rewriting& again) {
  const Made sum = summed(node, again);
  if (!sum) return std::nullopt;
  return divide(*sum, plain_number(static_cast<double>(node.operands.size())));
}

Made below_each_other(const Node& node, Rewriting& again) {
  if (!makes(node, role::concat)) return std::nullopt;
  std::vector<Value> heads;
  for (const Node* head : node.operands) heads.push_back(again.of(*head));
  return stack(heads);
}

// The mean of the weights of all heads in the weighted sum of each.
Made weights_averaged(const Node& node, Rewriting& again) {
  if (!sums_values(node) || !head_of(node)) return std::nullopt;
  const std::vector<const Node*> heads = of_all_heads(node, role::weights);
  Value sum = again.of(*heads.front());
  for (std::size_t i = 1; i < heads.size(); ++i) sum = add(sum, again.of(*heads[i]));
  const Value mean = divide(sum, plain_number(static_cast<double>(heads.size())));
  return matmul(mean, again.of(*node.operands[1]));
}

// What one head with all columns gives, whose key is as large as all keys together.
Made one_head(const Node& node, Rewriting& again) {
  if (makes(node, role::concat)) return again.of(*node.operands[0]);
  if (!makes(node, role::scaled) || !head_of(node)) return not_split(node, again);
  const Node *const all = shared_by_heads(node, role::k), *const own = node.beside(role::k);
  const Scalar* const scale = number_of(*node.operation);
  const bool is_root = own && scale && scale->value == root_of(own->frame.shape.columns).value;
  if (!all || !is_root || !is_division(*node.operation)) return std::nullopt;
  return divide(again.of(*node.operands[0]), root_of(all->frame.shape.columns));
}

constexpr std::array table = {
    Mistake{"heads-split-by-reshape", error, "heads split by a reshape without a transpose",
            "This is what a reshape to heads × words × d_k gives: a head gets only some of the words, with "
            "columns of several heads. Reshape to words × heads × d_k, then exchange the first two axes.",
            split_by_reshape},
    Mistake{"heads-merged-by-reshape", error, "heads merged by a reshape without a transpose",
            "This is what a reshape of the stacked heads gives: it mixes words. Exchange the axes of heads "
            "and words before the reshape, so that the heads of one word stand beside each other.",
            merged_by_reshape},
    Mistake{"heads-reshaped", error, "heads split and merged by reshapes without a transpose",
            "This is what reshapes without a transpose give, before and after the heads: a head gets only "
            "some of the words, with columns of several heads. Exchange the axes of heads and words.",
            split_and_merged_by_reshape},
    Mistake{"heads-in-strides", error, "every h-th column for a head instead of neighboring ones",
            "This is what every h-th column gives, with h heads. A head has neighboring columns: the first "
            "d_k, then the next d_k.",
            split_in_strides},
    Mistake{"first-head-for-all", error, "columns of the first head for all heads",
            "This is what the columns of the first head give in every head. Each head has columns of its "
            "own.",
            first_part_for_all},
    Mistake{"heads-not-split", error, "all columns for each head",
            "This is what heads give that have all columns of q, k and v. With h heads, each has one h-th of "
            "them.",
            not_split},
    Mistake{"one-head", error, "one head instead of several",
            "This is what one head with all columns gives. Split the columns of q, k and v among the heads, "
            "and take a softmax in each.",
            one_head},
    Mistake{"words-split-first", error, "inputs split before the projection",
            "This is what the inputs give when they are split among the heads before they are projected. "
            "Project first: each head sees all numbers of an input.",
            words_split_first},
    Mistake{"words-split-shared-parameters", error,
            "inputs split before a projection with the same parameters for all heads",
            "This is what the inputs give when they are split among the heads and all parts are projected by "
            "the parameters of the first head. Project first, then split.",
            words_split_with_shared_parameters},
    Mistake{"heads-summed", error, "heads added up instead of concatenated",
            "This is what the heads give when they are added up. Concatenate them.", summed},
    Mistake{"heads-averaged", error, "heads averaged instead of concatenated",
            "This is what the mean of the heads gives. Concatenate them.", averaged},
    Mistake{"heads-below-each-other", error, "heads below each other instead of side by side",
            "This is what the heads give below each other. Concatenate the columns: the heads of a word "
            "stand in one row.",
            below_each_other},
    Mistake{"weights-averaged", error, "mean of the weights of all heads in each head",
            "This is what the mean of the weights of all heads gives. Each head sums up its values with its "
            "own weights. PyTorch returns the mean by default, but does not compute with it.",
            weights_averaged},
};

}  // namespace

std::span<const Mistake> mistakes_of_heads() {
  return table;
}

}  // namespace attn
