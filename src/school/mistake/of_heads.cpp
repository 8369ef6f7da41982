#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- heads
// Mistakes with heads: how q, k and v are split, and how the heads are put together.

namespace {

// --- how they are split

// A head's columns of q, k or v: of which matrix, which part of it, and how many there are. Heads that share
// keys have the same part.
struct Part {
  const Node* whole;
  std::size_t number, count;
};

std::optional<Part> part_of_head(const Node& node) {
  if (!makes<role::q, role::k, role::v>(node)) return std::nullopt;
  const std::optional<std::size_t> first = first_of_slice(node);
  const std::size_t size = node.frame.shape.columns;
  if (!head_of(node) || !first || size == 0) return std::nullopt;
  const Node& whole = *node.operands[0];
  if (whole.frame.shape.rows != node.frame.shape.rows) return std::nullopt;  // a slice of rows
  return Part{&whole, *first / size, whole.frame.shape.columns / size};
}
constexpr auto is_part = has<part_of_head>;

// Row after row cut into as many parts as there are heads.
Made split_by_reshape(At at) {
  const std::size_t words = at[0].shape().rows / at[0].node().frame.rows.batch;
  return rows(reshape(at[0], at.node.frame.shape.columns), part_of_head(at.node)->number * words, words);
}

Made merged_by_reshape(At at) { return reshape(stack(at.operands()), at.node.frame.shape.columns); }

// Every h-th column, from the number of the head on.
Made split_in_strides(At at) {
  const Part part = *part_of_head(at.node);
  return reshape(columns(reshape(at[0], part.count), part.number, 1), at.node.frame.shape.columns);
}

// A head's part of the words times a block of the parameters, the one of this head or of the first.
bool is_projected_part(const Node& node) {
  const std::optional<Part> part = part_of_head(node);
  const std::optional<LinearNodes> map = part ? linear_nodes(*part->whole) : std::nullopt;
  return map && map->x->frame.shape.columns % part->count == 0;
}
template <bool is_shared>
Made words_split(At at) {
  const Part part = *part_of_head(at.node);
  const LinearNodes map = *linear_nodes(*part.whole);
  const std::size_t width = map.x->frame.shape.columns / part.count, size = at.node.frame.shape.columns;
  const std::size_t block = is_shared ? 0 : part.number;
  const Value w = columns(rows(at.of(*map.w), block * width, width), block * size, size);
  const Value product = matmul(columns(at.of(*map.x), part.number * width, width), w);
  return map.b ? add(product, columns(at.of(*map.b), block * size, size)) : product;
}

// --- how they are put together

// The mean of the weights of all heads in the weighted sum of each.
bool sums_values_of_head(const Node& node) { return sums_values(node) && head_of(node); }
Made weights_averaged(At at) {
  std::vector<Value> heads;
  for (const Node* weights : of_all_heads(at.node, role::weights)) heads.push_back(at.of(*weights));
  return matmul(mean_of_all(heads), at[1]);
}

// What one head with all columns gives, whose key is as large as all keys together.
bool is_divided_by_root_in_head(const Node& node) {
  if (!makes(node, role::scaled) || !head_of(node)) return false;
  const Node* const own = node.beside(role::k);
  const Scalar* const scale = node.find(setting::number);
  const bool is_root = own && scale && scale->value == root_of(own->frame.shape.columns).value;
  return shared_by_heads(node, role::k) && is_root && (node.op == &op::divide);
}
bool differs_in_one_head(const Node& node) {
  return makes(node, role::concat) || is_part(node) || is_divided_by_root_in_head(node);
}
Made one_head(At at) {
  if (!makes(at.node, role::scaled)) return at[0];
  return divide(at[0], root_of(shared_by_heads(at.node, role::k)->frame.shape.columns));
}

constexpr Mistake mistakes_in_heads[] = {
    {"heads-split-by-reshape", error, "heads split by a reshape without a transpose",
     "This is what a reshape to heads × words × d_k gives: a head gets only some of the words, with columns of several heads. "
     "Reshape to words × heads × d_k, then exchange the first two axes.",
     is_part, split_by_reshape},
    {"heads-merged-by-reshape", error, "heads merged by a reshape without a transpose",
     "This is what a reshape of the stacked heads gives: it mixes words. "
     "Exchange the axes of heads and words before the reshape, so that the heads of one word stand beside each other.",
     makes<role::concat>, merged_by_reshape},
    {"heads-reshaped", error, "heads split and merged by reshapes without a transpose",
     "This is what reshapes without a transpose give, before and after the heads: a head gets only some of the words, with columns of several heads. "
     "Exchange the axes of heads and words.",
     [](const Node& node) { return is_part(node) || makes(node, role::concat); },
     [](At at) { return is_part(at.node) ? split_by_reshape(at) : merged_by_reshape(at); }},
    {"heads-in-strides", error, "every h-th column for a head instead of neighboring ones",
     "This is what every h-th column gives, with h heads. "
     "A head has neighboring columns: the first d_k, then the next d_k.",
     is_part, split_in_strides},
    {"first-head-for-all", error, "columns of the first head for all heads",
     "This is what the columns of the first head give in every head. Each head has columns of its own.", is_part,
     [](At at) -> Made { return columns(at[0], 0, at.node.frame.shape.columns); }},
    {"heads-not-split", error, "all columns for each head",
     "This is what heads give that have all columns of q, k and v. "
     "With h heads, each has one h-th of them.",
     is_part, left_out},
    {"one-head", error, "one head instead of several",
     "This is what one head with all columns gives. "
     "Split the columns of q, k and v among the heads, and take a softmax in each.",
     differs_in_one_head, one_head},
    {"words-split-first", error, "inputs split before the projection",
     "This is what the inputs give when they are split among the heads before they are projected. "
     "Project first: each head sees all numbers of an input.",
     is_projected_part, words_split<false>},
    {"words-split-shared-parameters", error, "inputs split before a projection with the same parameters for all heads",
     "This is what the inputs give when they are split among the heads and all parts are projected by the parameters of the first head. "
     "Project first, then split.",
     is_projected_part, words_split<true>},
    {"heads-summed", error, "heads added up instead of concatenated",
     "This is what the heads give when they are added up. Concatenate them.", makes<role::concat>,
     [](At at) -> Made { return sum_of_all(at.operands()); }},
    {"heads-averaged", error, "heads averaged instead of concatenated",
     "This is what the mean of the heads gives. Concatenate them.", makes<role::concat>,
     [](At at) -> Made { return mean_of_all(at.operands()); }},
    {"heads-below-each-other", error, "heads below each other instead of side by side",
     "This is what the heads give below each other. "
     "Concatenate the columns: the heads of a word stand in one row.",
     makes<role::concat>, [](At at) -> Made { return stack(at.operands()); }},
    {"weights-averaged", error, "mean of the weights of all heads in each head",
     "This is what the mean of the weights of all heads gives. "
     "Each head sums up its values with its own weights. "
     "PyTorch returns the mean by default, but does not compute with it.",
     sums_values_of_head, weights_averaged},
};

}  // namespace

std::span<const Mistake> mistakes_of_heads() { return mistakes_in_heads; }

// --- sides
// Mistakes with which words look at which: two sides of cross-attention, groups of heads, examples of a
// batch.

namespace {

// What a projection is made of, or null.
const Node* source_of(const Node& projected) {
  if (!projected.op) return nullptr;
  const std::vector<const Node*> named = projected.named_operands();
  return named.empty() ? nullptr : &named.front()->original();
}

// The words that queries, keys or values are made of, and those of the other side, which are as long.
struct Sides {
  const Node *own, *other;
};
std::optional<Sides> sides_of(const Node& node) {
  if (!has_role<role::q, role::k, role::v>(node) || node.within(scope::head)) return std::nullopt;
  const Node *const q = node.beside(role::q), *const k = node.beside(role::k);
  const Node *const words = q ? source_of(*q) : nullptr, *const memory = k ? source_of(*k) : nullptr;
  if (!words || !memory || words == memory || words->frame.shape.columns != memory->frame.shape.columns)
    return std::nullopt;
  const Sides sides = node.is(role::q) ? Sides{words, memory} : Sides{memory, words};
  return source_of(node) == sides.own ? std::optional(sides) : std::nullopt;
}

// Queries of the words that are looked at, keys and values of those that look.
Made of_other_side(At at) {
  const Sides sides = *sides_of(at.node);
  return put(at.node, *sides.own, at.of(*sides.other), at.again);
}

// How many groups of heads have keys and values of their own; 0 where it is all or one, or for another node than
// the keys or values of a head.
std::size_t groups_of_heads(const Node& node) {
  const Node *const q = node.beside(role::q), *const all_q = q ? operand(*q, 0) : nullptr;
  const Node* const all = operand(node, 0);
  if (!has_role<role::k, role::v>(node) || !node.within(scope::head) || !all_q || !all || node.is_alias()) return 0;
  const std::size_t groups = all->frame.shape.columns / node.frame.shape.columns;
  return groups < 2 || groups == all_q->frame.shape.columns / q->frame.shape.columns ? 0 : groups;
}

// Head i with group i mod G in the place of ⌊i G / h⌋.
Made groups_in_turn(At at) {
  const std::size_t size = at.node.frame.shape.columns;
  return columns(at[0], *head_of(at.node) % groups_of_heads(at.node) * size, size);
}

// With rows taken for examples, each word is a sentence of its own, and sees itself alone.
bool can_see_itself_alone(const Node& node) {
  const Shape shape = node.frame.shape;
  if (!makes(node, role::weights) || shape.rows != shape.columns || node.frame.rows.batch != 1) return false;
  const Node *const masked = node.beside(role::masked), *const q = node.beside(role::q);
  return masked && masked->is_alias() && (!q || q->op);
}
Made examples_mixed(At at) {
  Matrix itself(at.node.frame.shape, 0.0);
  for (std::size_t i = 0; i < itself.shape().rows; ++i) itself(i, i) = 1.0;
  return at.like(std::move(itself));
}

constexpr Mistake mistakes_in_sides[] = {
    {"sides-exchanged", error, "queries of the encoder, and keys and values of the decoder",
     "This is what comes out when the two sides are exchanged. "
     "The words that attend give the queries; the words that are attended to give keys and values.",
     has<sides_of>, of_other_side},
    {"cross-attention-to-itself", error, "keys and values of the words that attend",
     "This is what comes out when keys and values are made of the words that attend. "
     "Make them of the words that are attended to, such as the encoder's output.",
     [](const Node& node) { return !node.is(role::q) && sides_of(node); }, of_other_side},
    {"groups-in-turn", error, "heads dealt out to the groups in turn",
     "This is what comes out when heads take the groups of keys and values in turn, 1 2 1 2. "
     "Neighboring heads share a group: 1 1 2 2.",
     has<groups_of_heads>, groups_in_turn},
    {"words-taken-for-examples", error, "words taken for the examples of a batch",
     "This is what comes out when words count as the examples of a batch, as with batch_first forgotten: each attends to itself alone, with weight 1. "
     "Attend over the words of the sentence.",
     can_see_itself_alone, examples_mixed},
};

}  // namespace

std::span<const Mistake> mistakes_of_sides() { return mistakes_in_sides; }

// --- values
// Mistakes with linear layers of an attention, and with what its weights sum up.

namespace {

// --- linear layers: queries, keys, values and the output

bool has_role_of_projection(const Node& node) {
  return makes<role::q, role::k, role::v>(node) || (makes(node, role::output) && node.beside(role::concat));
}
bool is_projection(const Node& node) { return has_role_of_projection(node) && linear_nodes(node); }
bool is_projection_with_bias(const Node& node) { return is_projection(node) && linear_nodes(node)->b; }
template <const Role& role>
bool is_projection_to(const Node& node) {
  return node.is(role) && is_projection(node);
}

Value with_bias(const Value& product, const LinearNodes& map, At at) {
  return map.b ? add(product, at.of(*map.b)) : product;
}

Made parameters_transposed(At at) {
  const LinearNodes map = *linear_nodes(at.node);
  return with_bias(matmul_transposed(at.of(*map.x), at.of(*map.w)), map, at);
}

// The other one of two linear layers; null where one of the two is none.
template <const Role& one, const Role& other>
const Node* partner(const Node& node) {
  const Node* const beside = makes<one, other>(node) ? node.beside(node.is(one) ? other : one) : nullptr;
  return beside && linear_nodes(node) && linear_nodes(*beside) ? beside : nullptr;
}
template <const Role& one, const Role& other>
Made with_parameters_of_partner(At at) {
  const LinearNodes used = *linear_nodes(*partner<one, other>(at.node));
  return with_bias(matmul(at.of(*linear_nodes(at.node)->x), at.of(*used.w)), used, at);
}

// --- the weighted sum

// What was compared for the weights of a sum; null where they were made otherwise.
const Node* comparison_for(const Node& node) {
  const Node* const scores = sums_values(node) ? node.operands[0]->beside(role::scores) : nullptr;
  return scores ? comparison_of(*scores) : nullptr;
}

constexpr Mistake mistakes_in_values[] = {
    {"parameters-transposed", error, "matrices of the linear layers transposed",
     "This is what the transposed matrices of parameters give, x Wᵀ. Multiply by the matrices as they are, x W. PyTorch's Linear stores the transposed matrix.",
     is_projection, parameters_transposed},
    {"query-parameters-transposed", error, "w_q transposed",
     "This is what the transposed w_q gives, x w_qᵀ. Multiply by the matrix as it is.", is_projection_to<role::q>,
     parameters_transposed},
    {"key-parameters-transposed", error, "w_k transposed",
     "This is what the transposed w_k gives, x w_kᵀ. Multiply by the matrix as it is.", is_projection_to<role::k>,
     parameters_transposed},
    {"value-parameters-transposed", error, "w_v transposed",
     "This is what the transposed w_v gives, x w_vᵀ. Multiply by the matrix as it is.", is_projection_to<role::v>,
     parameters_transposed},
    {"output-parameters-transposed", error, "w_o transposed",
     "This is what the transposed w_o gives. Multiply the concatenated heads by the matrix as it is.",
     is_projection_to<role::output>, parameters_transposed},
    {"biases-left-out", error, "linear layers of attention without their biases",
     "This is what the linear layers of the attention give without their biases. Add the bias to each row.",
     is_projection_with_bias, left_out},
    {"queries-keys-exchanged", error, "parameters of queries and keys exchanged",
     "This is what the parameters of queries and keys give when they are exchanged. "
     "Use w_q for the queries and w_k for the keys.",
     has<partner<role::q, role::k>>, with_parameters_of_partner<role::q, role::k>},
    {"keys-values-exchanged", error, "parameters of keys and values exchanged",
     "This is what the parameters of keys and values give when they are exchanged. "
     "Use w_k for the keys and w_v for the values.",
     has<partner<role::k, role::v>>, with_parameters_of_partner<role::k, role::v>},
    {"queries-values-exchanged", error, "parameters of queries and values exchanged",
     "This is what the parameters of queries and values give when they are exchanged. "
     "Use w_q for the queries and w_v for the values.",
     has<partner<role::q, role::v>>, with_parameters_of_partner<role::q, role::v>},
    {"values-not-projected", error, "inputs instead of values",
     "This is what the inputs of the attention give in place of the values. Multiply them by w_v first.",
     [](const Node& node) { return makes(node, role::v) && linear_nodes(node); },
     [](At at) -> Made { return at.of(*linear_nodes(at.node)->x); }},
    {"output-not-projected", error, "attention without its output projection",
     "This is what attention gives without its output projection. Multiply the concatenated heads by w_o.",
     [](const Node& node) { return makes(node, role::output) && node.beside(role::concat); },
     [](At at) -> Made { return at.beside(role::concat); }},
    {"weights-transposed", error, "weights transposed in the weighted sum",
     "This is what the transposed weights give. A row of the output is a row of weights times the values.", sums_values,
     [](At at) -> Made { return matmul(transpose(at[0]), at[1]); }},
    {"sum-of-queries", error, "weighted sum of the queries instead of the values",
     "This is the weighted sum of the queries. Sum up the values.", has<comparison_for>,
     [](At at) -> Made { return matmul(at[0], at.of(*comparison_for(at.node)->operands[0])); }},
    {"sum-of-keys", error, "weighted sum of the keys instead of the values",
     "This is the weighted sum of the keys. Sum up the values.", has<comparison_for>,
     [](At at) -> Made { return matmul(at[0], at.of(*comparison_for(at.node)->operands[1])); }},
    {"sum-divided", error, "weighted sum divided by the number of keys",
     "This is the weighted sum divided by the number of keys. "
     "The sum is weighted already, so nothing more is divided.",
     sums_values,
     [](At at) -> Made { return divide(at.itself(), plain_number(at.node.operands[0]->frame.shape.columns)); }},
};

}  // namespace

std::span<const Mistake> mistakes_of_values() { return mistakes_in_values; }

namespace {

template <const Role& role>
bool is_projection_with(const Node& node) {
  return node.is(role) && is_projection_with_bias(node);
}
Made bias_times(At at, double number) {
  const LinearNodes map = *linear_nodes(at.node);
  const Value product = matmul(at.of(*map.x), at.of(*map.w));
  return number == 0.0 ? product : add(product, times(at.of(*map.b), plain_number(number)));
}

}  // namespace

namespace {

constexpr MistakeWithNumber numbers_of_values[] = {
    {{"another-multiple-of-query-bias", error, "b_q not added once",
      "This is what another multiple of b_q gives. Add it once.", is_projection_with<role::q>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-multiple-of-key-bias", error, "b_k not added once",
      "This is what another multiple of b_k gives. Add it once.", is_projection_with<role::k>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-multiple-of-value-bias", error, "b_v not added once",
      "This is what another multiple of b_v gives. Add it once.", is_projection_with<role::v>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-multiple-of-output-bias", error, "b_o not added once",
      "This is what another multiple of b_o gives. Add it once.", is_projection_with<role::output>, nullptr},
     bias_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-sum-of-values", error, "weighted sum of the values multiplied",
      "This is a multiple of the weighted sum. The weights of a row sum to 1, so that nothing more is multiplied.",
      sums_values, nullptr},
     [](At at, double number) -> Made { return multiplied(at, number); },
     amount_as_factor,
     MistakeWithNumber::Scale::linear,
     {0.5, 2.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
};

}  // namespace

std::span<const MistakeWithNumber> numbers_in_values() { return numbers_of_values; }

}  // namespace attn
