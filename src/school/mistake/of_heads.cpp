#include <array>

#include "core/op/operations.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- heads
// Mistakes with heads: how q, k and v are split, and how the heads are put together.

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
Made words_split_first(const Node& node, Rewriting& again) { return words_split(node, again, false); }
Made words_split_with_shared_parameters(const Node& node, Rewriting& again) { return words_split(node, again, true); }

// --- how they are put together

Made heads_summed(const Node& node, Rewriting& again) {
  if (!makes(node, role::concat)) return std::nullopt;
  Value sum = again.of(*node.operands[0]);
  for (std::size_t i = 1; i < node.operands.size(); ++i) sum = add(sum, again.of(*node.operands[i]));
  return sum;
}

Made averaged(const Node& node, Rewriting& again) {
  const Made sum = heads_summed(node, again);
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

constexpr std::array mistakes_in_heads = {
    Mistake{
        "heads-split-by-reshape", error, "heads split by a reshape without a transpose",
        "This is what a reshape to heads × words × d_k gives: a head gets only some of the words, with columns of several heads. "
        "Reshape to words × heads × d_k, then exchange the first two axes.",
        split_by_reshape},
    Mistake{
        "heads-merged-by-reshape", error, "heads merged by a reshape without a transpose",
        "This is what a reshape of the stacked heads gives: it mixes words. "
        "Exchange the axes of heads and words before the reshape, so that the heads of one word stand beside each other.",
        merged_by_reshape},
    Mistake{
        "heads-reshaped", error, "heads split and merged by reshapes without a transpose",
        "This is what reshapes without a transpose give, before and after the heads: a head gets only some of the words, with columns of several heads. "
        "Exchange the axes of heads and words.",
        split_and_merged_by_reshape},
    Mistake{"heads-in-strides", error, "every h-th column for a head instead of neighboring ones",
            "This is what every h-th column gives, with h heads. "
            "A head has neighboring columns: the first d_k, then the next d_k.",
            split_in_strides},
    Mistake{"first-head-for-all", error, "columns of the first head for all heads",
            "This is what the columns of the first head give in every head. Each head has columns of its own.",
            first_part_for_all},
    Mistake{"heads-not-split", error, "all columns for each head",
            "This is what heads give that have all columns of q, k and v. "
            "With h heads, each has one h-th of them.",
            not_split},
    Mistake{"one-head", error, "one head instead of several",
            "This is what one head with all columns gives. "
            "Split the columns of q, k and v among the heads, and take a softmax in each.",
            one_head},
    Mistake{"words-split-first", error, "inputs split before the projection",
            "This is what the inputs give when they are split among the heads before they are projected. "
            "Project first: each head sees all numbers of an input.",
            words_split_first},
    Mistake{
        "words-split-shared-parameters", error,
        "inputs split before a projection with the same parameters for all heads",
        "This is what the inputs give when they are split among the heads and all parts are projected by the parameters of the first head. "
        "Project first, then split.",
        words_split_with_shared_parameters},
    Mistake{"heads-summed", error, "heads added up instead of concatenated",
            "This is what the heads give when they are added up. Concatenate them.", heads_summed},
    Mistake{"heads-averaged", error, "heads averaged instead of concatenated",
            "This is what the mean of the heads gives. Concatenate them.", averaged},
    Mistake{"heads-below-each-other", error, "heads below each other instead of side by side",
            "This is what the heads give below each other. "
            "Concatenate the columns: the heads of a word stand in one row.",
            below_each_other},
    Mistake{"weights-averaged", error, "mean of the weights of all heads in each head",
            "This is what the mean of the weights of all heads gives. "
            "Each head sums up its values with its own weights. "
            "PyTorch returns the mean by default, but does not compute with it.",
            weights_averaged},
};

}  // namespace

std::span<const Mistake> mistakes_of_heads() { return mistakes_in_heads; }

// --- sides
// Mistakes with which words look at which: two sides of cross-attention, groups of heads, examples of a
// batch.

namespace {

// What a projection is made of, or null.
const Node* source_of(const Node& projected) {
  if (!projected.operation) return nullptr;
  const std::vector<const Node*> named = projected.named_operands();
  return named.empty() ? nullptr : &named.front()->original();
}

// Queries of the words that are looked at, keys and values of those that look.
Made sides_exchanged(const Node& node, Rewriting& again) {
  const bool is_k_or_v = node.is(role::k) || node.is(role::v);
  if ((!is_k_or_v && !node.is(role::q)) || node.within(scope::head)) return std::nullopt;
  const Node *const q = node.beside(role::q), *const k = node.beside(role::k);
  const Node *const words = q ? source_of(*q) : nullptr, *const memory = k ? source_of(*k) : nullptr;
  if (!words || !memory || words == memory || words->frame.shape.columns != memory->frame.shape.columns)
    return std::nullopt;
  const Node& own = is_k_or_v ? *memory : *words;
  const Node& other = is_k_or_v ? *words : *memory;
  return source_of(node) == &own ? Made(put(node, own, again.of(other), again)) : std::nullopt;
}

// Self-attention where there are words to look at.
Made looks_at_itself(const Node& node, Rewriting& again) {
  if ((!node.is(role::k) && !node.is(role::v)) || node.within(scope::head)) return std::nullopt;
  const Node* const q = node.beside(role::q);
  const Node *const words = q ? source_of(*q) : nullptr, *const memory = source_of(node);
  if (!words || !memory || words == memory || words->frame.shape.columns != memory->frame.shape.columns)
    return std::nullopt;
  return put(node, *memory, again.of(*words), again);
}

// Head i with group i mod G in the place of ⌊i G / h⌋.
Made groups_in_turn(const Node& node, Rewriting& again) {
  const NamedScope* const head = node.within(scope::head);
  const Node *const q = node.beside(role::q), *const all_q = q ? operand(*q, 0) : nullptr;
  const Node* const all = operand(node, 0);
  if ((!node.is(role::k) && !node.is(role::v)) || !head || !all_q || !all || node.is_alias()) return std::nullopt;
  const std::size_t size = node.frame.shape.columns, groups = all->frame.shape.columns / size;
  const std::size_t heads = all_q->frame.shape.columns / q->frame.shape.columns;
  if (groups == heads || groups < 2) return std::nullopt;
  return columns(again.of(*all), (*head->number - 1) % groups * size, size);
}

// With rows taken for examples, each word is a sentence of its own, and sees itself alone.
Made examples_mixed(const Node& node, Rewriting& again) {
  const Shape shape = node.frame.shape;
  const bool is_square = shape.rows == shape.columns && node.frame.rows.batch == 1;
  if (!node.is(role::weights) || node.is_alias() || !node.operation || !is_square) return std::nullopt;
  const Node *const masked = node.beside(role::masked), *const q = node.beside(role::q);
  if (!masked || !masked->is_alias() || (q && !q->operation)) return std::nullopt;
  Matrix itself(shape, 0.0);
  for (std::size_t i = 0; i < shape.rows; ++i) itself(i, i) = 1.0;
  return again.input_like(node, std::move(itself));
}

constexpr std::array mistakes_in_sides = {
    Mistake{"sides-exchanged", error, "queries of the encoder, and keys and values of the decoder",
            "This is what comes out when the two sides are exchanged. "
            "The words that attend give the queries; the words that are attended to give keys and values.",
            sides_exchanged},
    Mistake{"cross-attention-to-itself", error, "keys and values of the words that attend",
            "This is what comes out when keys and values are made of the words that attend. "
            "Make them of the words that are attended to, such as the encoder's output.",
            looks_at_itself},
    Mistake{"groups-in-turn", error, "heads dealt out to the groups in turn",
            "This is what comes out when heads take the groups of keys and values in turn, 1 2 1 2. "
            "Neighboring heads share a group: 1 1 2 2.",
            groups_in_turn},
    Mistake{
        "words-taken-for-examples", error, "words taken for the examples of a batch",
        "This is what comes out when words count as the examples of a batch, as with batch_first forgotten: each attends to itself alone, with weight 1. "
        "Attend over the words of the sentence.",
        examples_mixed},
};

}  // namespace

std::span<const Mistake> mistakes_of_sides() { return mistakes_in_sides; }

// --- values
// Mistakes with linear layers of an attention, and with what its weights sum up.

namespace {

using enum Mistake::Kind;

// --- linear layers: queries, keys, values and the output

// The parameters of one of them; nothing for any other node.
std::optional<LinearNodes> projection_of_attention(const Node& node) {
  const bool has_role = makes(node, role::q) || makes(node, role::k) || makes(node, role::v) ||
                        (makes(node, role::output) && node.beside(role::concat));
  return has_role ? linear_nodes(node) : std::nullopt;
}

Value with_bias(const Value& product, const LinearNodes& map, Rewriting& again) {
  return map.b ? add(product, again.of(*map.b)) : product;
}

Made parameters_transposed(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = projection_of_attention(node);
  if (!map) return std::nullopt;
  return with_bias(matmul_transposed(again.of(*map->x), again.of(*map->w)), *map, again);
}

// The same of one of them alone.
template <const Role& of>
Made one_transposed(const Node& node, Rewriting& again) {
  return node.is(of) ? parameters_transposed(node, again) : std::nullopt;
}

Made biases_left_out(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = projection_of_attention(node);
  if (!map || !map->b) return std::nullopt;
  return matmul(again.of(*map->x), again.of(*map->w));
}

// One of two roles made with the parameters of the other one.
template <const Role& one, const Role& other>
Made values_exchanged(const Node& node, Rewriting& again) {
  if (!makes(node, one) && !makes(node, other)) return std::nullopt;
  const Node* const partner = node.beside(node.is(one) ? other : one);
  const std::optional<LinearNodes> own = linear_nodes(node);
  const std::optional<LinearNodes> used = partner ? linear_nodes(*partner) : std::nullopt;
  if (!own || !used) return std::nullopt;
  return with_bias(matmul(again.of(*own->x), again.of(*used->w)), *used, again);
}

Made values_not_projected(const Node& node, Rewriting& again) {
  const std::optional<LinearNodes> map = makes(node, role::v) ? linear_nodes(node) : std::nullopt;
  if (!map) return std::nullopt;
  return again.of(*map->x);
}

Made output_not_projected(const Node& node, Rewriting& again) {
  if (!makes(node, role::output)) return std::nullopt;
  const Node* const concat = node.beside(role::concat);
  if (!concat) return std::nullopt;
  return again.of(*concat);
}

// --- the weighted sum

Made weights_transposed(const Node& node, Rewriting& again) {
  if (!sums_values(node)) return std::nullopt;
  return matmul(transpose(again.of(*node.operands[0])), again.of(*node.operands[1]));
}

// Keys or queries in the place of the values, as the scores had them.
Made sum_of(std::size_t side, const Node& node, Rewriting& again) {
  const Node* const scores = sums_values(node) ? node.operands[0]->beside(role::scores) : nullptr;
  const Node* const comparison = scores ? comparison_of(*scores) : nullptr;
  if (!comparison) return std::nullopt;
  return matmul(again.of(*node.operands[0]), again.of(*comparison->operands[side]));
}
Made sum_of_queries(const Node& node, Rewriting& again) { return sum_of(0, node, again); }
Made sum_of_keys(const Node& node, Rewriting& again) { return sum_of(1, node, again); }

Made sum_divided(const Node& node, Rewriting& again) {
  if (!sums_values(node)) return std::nullopt;
  const std::size_t keys = node.operands[0]->frame.shape.columns;
  return divide(again.unchanged(node), plain_number(static_cast<double>(keys)));
}

constexpr std::array mistakes_in_values = {
    Mistake{
        "parameters-transposed", error, "matrices of the linear layers transposed",
        "This is what the transposed matrices of parameters give, x Wᵀ. Multiply by the matrices as they are, x W. PyTorch's Linear stores the transposed matrix.",
        parameters_transposed},
    Mistake{"query-parameters-transposed", error, "w_q transposed",
            "This is what the transposed w_q gives, x w_qᵀ. Multiply by the matrix as it is.", one_transposed<role::q>},
    Mistake{"key-parameters-transposed", error, "w_k transposed",
            "This is what the transposed w_k gives, x w_kᵀ. Multiply by the matrix as it is.", one_transposed<role::k>},
    Mistake{"value-parameters-transposed", error, "w_v transposed",
            "This is what the transposed w_v gives, x w_vᵀ. Multiply by the matrix as it is.", one_transposed<role::v>},
    Mistake{"output-parameters-transposed", error, "w_o transposed",
            "This is what the transposed w_o gives. Multiply the concatenated heads by the matrix as it is.",
            one_transposed<role::output>},
    Mistake{"biases-left-out", error, "linear layers of attention without their biases",
            "This is what the linear layers of the attention give without their biases. Add the bias to each row.",
            biases_left_out},
    Mistake{"queries-keys-exchanged", error, "parameters of queries and keys exchanged",
            "This is what the parameters of queries and keys give when they are exchanged. "
            "Use w_q for the queries and w_k for the keys.",
            values_exchanged<role::q, role::k>},
    Mistake{"keys-values-exchanged", error, "parameters of keys and values exchanged",
            "This is what the parameters of keys and values give when they are exchanged. "
            "Use w_k for the keys and w_v for the values.",
            values_exchanged<role::k, role::v>},
    Mistake{"queries-values-exchanged", error, "parameters of queries and values exchanged",
            "This is what the parameters of queries and values give when they are exchanged. "
            "Use w_q for the queries and w_v for the values.",
            values_exchanged<role::q, role::v>},
    Mistake{"values-not-projected", error, "inputs instead of values",
            "This is what the inputs of the attention give in place of the values. Multiply them by w_v first.",
            values_not_projected},
    Mistake{"output-not-projected", error, "attention without its output projection",
            "This is what attention gives without its output projection. Multiply the concatenated heads by w_o.",
            output_not_projected},
    Mistake{"weights-transposed", error, "weights transposed in the weighted sum",
            "This is what the transposed weights give. A row of the output is a row of weights times the values.",
            weights_transposed},
    Mistake{"sum-of-queries", error, "weighted sum of the queries instead of the values",
            "This is the weighted sum of the queries. Sum up the values.", sum_of_queries},
    Mistake{"sum-of-keys", error, "weighted sum of the keys instead of the values",
            "This is the weighted sum of the keys. Sum up the values.", sum_of_keys},
    Mistake{"sum-divided", error, "weighted sum divided by the number of keys",
            "This is the weighted sum divided by the number of keys. "
            "The sum is weighted already, so nothing more is divided.",
            sum_divided},
};

}  // namespace

std::span<const Mistake> mistakes_of_values() { return mistakes_in_values; }

}  // namespace attn
