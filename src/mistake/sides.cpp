#include <array>

#include "mistake/parts.hpp"

// Mistakes with which words look at which: two sides of cross-attention, groups of heads, examples of a
// batch.

namespace attn {
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
  if ((!node.is(role::k) && !node.is(role::v)) || !head || !all_q || !all || node.is_alias())
    return std::nullopt;
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

constexpr std::array table = {
    Mistake{"sides-exchanged", error, "queries of the encoder, and keys and values of the decoder",
            "This is what comes out when the two sides are exchanged. The words that look give the queries; "
            "the words that are looked at give keys and values.",
            sides_exchanged},
    Mistake{"cross-attention-to-itself", error, "keys and values of the words that look",
            "This is what comes out when keys and values are made of the words that look. Make them of the "
            "words that are looked at, such as the encoder's output.",
            looks_at_itself},
    Mistake{"groups-in-turn", error, "heads dealt out to the groups in turn",
            "This is what comes out when heads take the groups of keys and values in turn, 1 2 1 2. "
            "Neighboring heads share a group: 1 1 2 2.",
            groups_in_turn},
    Mistake{"words-taken-for-examples", error, "words taken for the examples of a batch",
            "This is what comes out when words count as the examples of a batch, as with batch_first "
            "forgotten: each attends to itself alone, with weight 1. Attend over the words of the sentence.",
            examples_mixed},
};

}  // namespace

std::span<const Mistake> mistakes_of_sides() {
  return table;
}

}  // namespace attn
