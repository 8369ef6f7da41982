#include <array>
#include <cmath>

#include "mistake/parts.hpp"

// Mistakes with the embeddings of words, and how positions are added to them.

namespace attn {
namespace {

// The number that embeddings are multiplied by, √d.
const Scalar* root_of(const Node& scaled) {
  return scaled.is(role::scaled_x) && scaled.operation ? number_of(*scaled.operation) : nullptr;
}

// The rows of the table below or above the right ones, as where one side counts words from 0 and the
// other from 1. Above the first row is the last one, as for an index of −1 in Python.
Made neighboring_rows(bool one_below, const Node& node, Rewriting& again) {
  const Node* const looked_up = node.is(role::ids) && !node.operation ? node.beside(role::x) : nullptr;
  const Node* const table = looked_up ? operand(*looked_up, 1) : nullptr;
  if (!table || !table->is(role::e) || looked_up->operands[0] != &node) return std::nullopt;
  const double count = static_cast<double>(table->frame.shape.rows);
  Matrix ids = node.matrix();
  for (double& id : cells(ids)) {
    if (one_below) {
      id = id == count ? 1.0 : id + 1.0;
    } else {
      id = id == 1.0 ? count : id - 1.0;
    }
  }
  return again.input_like(node, std::move(ids));
}
Made next_rows(const Node& node, Rewriting& again) {
  return neighboring_rows(true, node, again);
}
Made rows_before(const Node& node, Rewriting& again) {
  return neighboring_rows(false, node, again);
}

Made not_scaled(const Node& node, Rewriting& again) {
  return root_of(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made divided(const Node& node, Rewriting& again) {
  const Scalar* const root = root_of(node);
  return root ? Made(divide(again.of(*node.operands[0]), *root)) : std::nullopt;
}

Made scaled_by_size(const Node& node, Rewriting& again) {
  const Scalar* const root = root_of(node);
  return root ? Made(times(again.unchanged(node), *root)) : std::nullopt;
}

// Embeddings that are looked up and stay as they are.
Made scaled_all_the_same(const Node& node, Rewriting& again) {
  const Node* const table = operand(node, 1);
  const bool is_embedding = node.is(role::x) && table && table->is(role::e);
  const bool enters_a_model = node.within(scope::source) || node.within(scope::target);
  if (!is_embedding || !enters_a_model || node.beside(role::scaled_x)) return std::nullopt;
  const double d = static_cast<double>(node.frame.shape.columns);
  return times(again.unchanged(node), plain_number(std::sqrt(d)));
}

Made positions_scaled_too(const Node& node, Rewriting& again) {
  const Node* const scaled = node.is(role::positioned) ? operand(node, 0) : nullptr;
  const Scalar* const root = scaled ? root_of(*scaled) : nullptr;
  if (!root) return std::nullopt;
  return times(add(again.of(*scaled->operands[0]), again.of(*node.operands[1])), *root);
}

Made positions_missing(const Node& node, Rewriting& again) {
  return node.is(role::positioned) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made positions_alone(const Node& node, Rewriting& again) {
  if (!node.is(role::positioned)) return std::nullopt;
  const Value positions = again.of(*node.operands[1]);
  const std::size_t words = positions.shape().rows, sentences = node.frame.rows.batch;
  if (sentences == 1) return positions;
  return repeat_rows(positions, {.parts = 1, .apart = words}, sentences, node.frame.rows);
}

Made positions_multiplied(const Node& node, Rewriting& again) {
  if (!node.is(role::positioned)) return std::nullopt;
  return multiply(again.of(*node.operands[0]), again.of(*node.operands[1]));
}

// Which sentence of a batch a word is in, as its position.
Made by_sentence(const Node& node, Rewriting& again) {
  const Node* const positioned = node.is(role::positions) ? node.beside(role::positioned) : nullptr;
  const bool is_one = !positioned || positioned->frame.rows.batch == 1;
  if (node.is(role::positions) && is_one) {
    const Value first = rows(again.unchanged(node), 0, 1);
    return repeat_rows(first, {}, node.frame.shape.rows, node.frame.rows);
  }
  const std::size_t sentences = node.frame.rows.batch;
  if (!node.is(role::positioned) || sentences == 1) return std::nullopt;
  const Value some = rows(again.of(*node.operands[1]), 0, sentences);
  const std::size_t words = node.frame.shape.rows / sentences;
  return add(again.of(*node.operands[0]),
             repeat_rows(some, {.parts = sentences, .apart = 1}, words, node.frame.rows));
}

constexpr std::array table = {
    Mistake{"next-embeddings", error, "each embedding taken one row too low",
            "This is what the rows of the embedding table give that stand below the right ones. A table's "
            "first row belongs to the first word.",
            next_rows},
    Mistake{"embeddings-before", error, "each embedding taken one row too high",
            "This is what the rows of the embedding table give that stand above the right ones. Words are "
            "counted from 1 here, and many programs count from 0.",
            rows_before},
    Mistake{"embeddings-not-scaled", error, "embeddings without the factor √d",
            "This is what the embeddings give without the factor √d. Multiply them by √d before positions "
            "are added.",
            not_scaled},
    Mistake{"embeddings-divided", error, "embeddings divided by √d",
            "This is what embeddings divided by √d give. Multiply them by √d.", divided},
    Mistake{"embeddings-times-d", error, "embeddings multiplied by d instead of √d",
            "This is what embeddings multiplied by d give. Multiply them by its root, √d.", scaled_by_size},
    Mistake{"embeddings-scaled", convention, "embeddings multiplied by √d",
            "This is what embeddings multiplied by √d give, as in the first Transformer. This model takes "
            "them as they are.",
            scaled_all_the_same},
    Mistake{"positions-scaled-too", error, "positions multiplied by √d as well",
            "This is what comes out when embeddings and positions are multiplied by √d together. Multiply "
            "the embeddings alone, and then add the positions.",
            positions_scaled_too},
    Mistake{"positions-missing", error, "no positions",
            "This is what comes out without positions. Add the vector of each position to the vector of its "
            "word.",
            positions_missing},
    Mistake{"positions-alone", error, "positions without the words",
            "This is what the positions give alone. Add them to the vectors of the words.", positions_alone},
    Mistake{"positions-multiplied", error, "positions multiplied instead of added",
            "This is what the vectors give when they are multiplied by the positions. Add the positions.",
            positions_multiplied},
    Mistake{"positions-by-sentence", error, "the number of the sentence taken as the position",
            "This is what comes out when all words of a sentence have the same position, because rows are "
            "counted along the batch. Give each word the position that it has in its sentence.",
            by_sentence},
};

}  // namespace

std::span<const Mistake> mistakes_of_embeddings() {
  return table;
}

}  // namespace attn
