#include <algorithm>

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
struct HeadPart {
  const Node* whole;
  std::size_t number, count;
};

std::optional<HeadPart> part_of_head(const Node& node) {
  if (!makes<role::q, role::k, role::v>(node)) return std::nullopt;
  const std::optional<std::size_t> first = first_of_slice(node);
  const std::size_t size = node.frame.shape.columns;
  if (!head_of(node) || !first || size == 0) return std::nullopt;
  const Node& whole = *node.operands[0];
  if (whole.frame.shape.rows != node.frame.shape.rows) return std::nullopt;  // a slice of rows
  return HeadPart{&whole, *first / size, whole.frame.shape.columns / size};
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
  const HeadPart part = *part_of_head(at.node);
  return reshape(columns(reshape(at[0], part.count), part.number, 1), at.node.frame.shape.columns);
}

// A head's part of the words times a block of the parameters, the one of this head or of the first.
bool is_projected_part(const Node& node) {
  const std::optional<HeadPart> part = part_of_head(node);
  const std::optional<LinearNodes> map = part ? linear_nodes(*part->whole) : std::nullopt;
  return map && map->x->frame.shape.columns % part->count == 0;
}
template <bool is_shared>
Made words_split(At at) {
  const HeadPart part = *part_of_head(at.node);
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

// The first column of each head, then the second ones.
Made heads_interleaved(At at) {
  const std::vector<Value> heads = at.operands();
  std::vector<Value> all;
  for (std::size_t j = 0; j < heads.front().shape().columns; ++j) {
    for (const Value& head : heads) all.push_back(columns(head, j, 1));
  }
  return concatenate(all);
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
    {"first-keys-and-values-for-all", error, "keys and values of the first head for all heads",
     "This is what the keys and values of the first head give in every head, as in multi-query attention. "
     "Each head has keys and values of its own.",
     [](const Node& node) { return !node.is(role::q) && is_part(node); },
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
    {"heads-summed-in-each", error, "the sum of the heads in the place of each",
     "This is what the heads give when each is replaced by their sum. Concatenate them as they are.",
     makes<role::concat>,
     [](At at) -> Made { return concatenate(std::vector<Value>(at.operands().size(), sum_of_all(at.operands()))); }},
    {"heads-averaged-in-each", error, "the mean of the heads in the place of each",
     "This is what the heads give when each is replaced by their mean. Concatenate them as they are.",
     makes<role::concat>,
     [](At at) -> Made { return concatenate(std::vector<Value>(at.operands().size(), mean_of_all(at.operands()))); }},
    {"heads-reversed", error, "heads concatenated in the opposite order",
     "This is what the heads give in the opposite order. The first head stands first.", makes<role::concat>,
     [](At at) -> Made {
       std::vector<Value> heads = at.operands();
       std::ranges::reverse(heads);
       return concatenate(heads);
     }},
    {"heads-interleaved", error, "columns of the heads in turn when they are concatenated",
     "This is what the heads give when their columns take turns. Concatenate them: all columns of a head stand together.",
     makes<role::concat>, heads_interleaved},
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

// The parameter of the self-attention in the same layer, which has the same shape; else null.
const Node* same_in_self_attention(const Node& node) {
  if (!has_role<role::w_q, role::w_k, role::w_v, role::w_o, role::b_q, role::b_k, role::b_v, role::b_o>(node) ||
      node.op || !node.within(scope::cross_attention))
    return nullptr;
  const NamedScope* const layer = around(node.place, scope::cross_attention);
  const Node* const other = node.graph->find(layer, Name({{scope::self_attention}}, *node.role));
  return other && other->frame.shape == node.frame.shape ? other : nullptr;
}

// The sums of values of all sentences of a batch, which are as long and have no mask; else none.
std::vector<const Node*> sums_of_sentences(const Node& node) {
  if (!sums_values(node)) return {};
  std::vector<const Node*> all = of_all_sentences(node);
  const auto is_alike = [&](const Node* one) {
    const Node *const masked = one->beside(role::masked), *const scaled = one->beside(role::scaled);
    return sums_values(*one) && one->frame.shape == node.frame.shape && masked && masked->is_alias() && scaled &&
           one->beside(role::q) && one->beside(role::k) && one->beside(role::v);
  };
  return all.size() > 1 && std::ranges::all_of(all, is_alike) ? all : std::vector<const Node*>();
}
const Node* sentences_beside(const Node& node) {
  const std::vector<const Node*> all = sums_of_sentences(node);
  return all.empty() ? nullptr : all.front();
}
// Of each word the words of all sentences.
Made sentences_as_one(At at) {
  const auto of_all = [&](const Role& role) {
    std::vector<Value> found;
    for (const Node* one : sums_of_sentences(at.node)) found.push_back(at.of(*one->beside(role)));
    return stack(found);
  };
  const Node& scaled = at.node.beside(role::scaled)->original();
  const Value scores = matmul_transposed(at.beside(role::q), of_all(role::k));
  const bool is_scaled = scaled.op && scaled.find(setting::number);
  return matmul(softmax(is_scaled ? at.redo(scaled, {scores}) : scores), of_all(role::v));
}

// Keys and values of the first sentence, for all.
Made of_first_sentence(At at) {
  const std::vector<const Node*> all = of_all_sentences(at.node);
  return all.size() > 1 && all.front() != &at.node && all.front()->frame.shape == at.node.frame.shape
             ? Made(at.of(*all.front()))
             : std::nullopt;
}

// Of each word the words at its place in all sentences.
Made sentences_as_words(At at) {
  const std::vector<const Node*> all = sums_of_sentences(at.node);
  const auto at_place = [&](const Role& role, std::size_t word) {
    std::vector<Value> found;
    for (const Node* one : all) found.push_back(rows(at.of(*one->beside(role)), word, 1));
    return stack(found);
  };
  const Node& scaled = at.node.beside(role::scaled)->original();
  std::vector<Value> words;
  for (std::size_t word = 0; word < at.node.frame.shape.rows; ++word) {
    const Value q = rows(at.beside(role::q), word, 1);
    const Value scores = matmul_transposed(q, at_place(role::k, word));
    const bool is_scaled = scaled.op && scaled.find(setting::number);
    words.push_back(matmul(softmax(is_scaled ? at.redo(scaled, {scores}) : scores), at_place(role::v, word)));
  }
  return stack(words);
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
    {"keys-of-the-wrong-side", error, "keys of the words that attend",
     "This is what comes out when the keys alone are made of the words that attend. "
     "Make keys and values of the words that are attended to, such as the encoder's output.",
     [](const Node& node) { return node.is(role::k) && sides_of(node); }, of_other_side},
    {"values-of-the-wrong-side", error, "values of the words that attend",
     "This is what comes out when the values alone are made of the words that attend. "
     "Make keys and values of the words that are attended to, such as the encoder's output.",
     [](const Node& node) { return node.is(role::v) && sides_of(node); }, of_other_side},
    {"queries-of-the-wrong-side", error, "queries of the words that are attended to",
     "This is what comes out when the queries are made of the words that are attended to. "
     "Make them of the words that attend.",
     [](const Node& node) { return node.is(role::q) && sides_of(node); }, of_other_side},
    {"parameters-of-self-attention", error, "the parameters of the self-attention in the cross-attention",
     "This is what the cross-attention gives with the parameters of the self-attention. Each has its own.",
     has<same_in_self_attention>, [](At at) -> Made { return at.like(same_in_self_attention(at.node)->matrix()); }},
    {"batch-taken-for-words", error, "sentences of the batch taken for words",
     "This is what comes out when the sentences of a batch count as words, as with batch_first forgotten: "
     "each word attends to the words at its place in all sentences. Attend over the words of its sentence.",
     has<sentences_beside>, sentences_as_words},
    {"batch-as-one-sentence", error, "all sentences of the batch taken for one",
     "This is what comes out when each word attends to the words of all sentences. "
     "Attend over the words of its own sentence.",
     has<sentences_beside>, sentences_as_one},
    {"first-sentence-for-all", error, "keys and values of the first sentence for all",
     "This is what comes out when all sentences attend to the keys and values of the first one. "
     "Each sentence has its own.",
     [](const Node& node) { return makes<role::k, role::v>(node) && of_all_sentences(node).size() > 1; },
     of_first_sentence},
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

}  // namespace attn
