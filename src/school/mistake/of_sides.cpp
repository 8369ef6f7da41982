#include <algorithm>

#include "school/mistake/parts.hpp"

namespace attn {

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
Made of_other_side(RewriteSite at) {
  const Sides sides = *sides_of(at.node);
  return put(at.node, *sides.own, at.of(*sides.other), at.rewriting);
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
Made groups_in_turn(RewriteSite at) {
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
Made examples_mixed(RewriteSite at) {
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
Made sentences_as_one(RewriteSite at) {
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
Made of_first_sentence(RewriteSite at) {
  const std::vector<const Node*> all = of_all_sentences(at.node);
  return all.size() > 1 && all.front() != &at.node && all.front()->frame.shape == at.node.frame.shape
             ? Made(at.of(*all.front()))
             : std::nullopt;
}

// Of each word the words at its place in all sentences.
Made sentences_as_words(RewriteSite at) {
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
     has<same_in_self_attention>,
     [](RewriteSite at) -> Made { return at.like(same_in_self_attention(at.node)->matrix()); }},
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
