#pragma once

#include <algorithm>

#include "graph/graph.hpp"

namespace attn {

/// The sentences of a batch, as they follow each other in the rows of two matrices that are related to each
/// other: how many, and how many rows of each matrix are one sentence. One alone is all rows.
struct Sentences {
  std::size_t count = 1;
  std::size_t rows = 0;   // of the first matrix, in one sentence
  std::size_t other = 0;  // of the second

  /// The sentence that a row of the first matrix belongs to, and its place there.
  std::size_t of(std::size_t row) const { return count == 1 ? 0 : row / rows; }
  std::size_t place(std::size_t row) const { return count == 1 ? row : row % rows; }
};

/// The sentences of one matrix; and of two, where both hold as many, or else all rows of both as one.
inline Sentences sentences_of(const Value& x) {
  const std::size_t batch = x.node().frame.rows.batch;
  return {batch, x.shape().rows / batch, x.shape().rows / batch};
}
inline Sentences sentences_of(const Value& a, const Value& b) {
  const std::size_t batch = b.node().frame.rows.batch;
  if (a.node().frame.rows.batch != batch) return {1, a.shape().rows, b.shape().rows};
  return {batch, a.shape().rows / batch, b.shape().rows / batch};
}

/// The axis of the rows of one sentence. A batch has no labels.
inline Axis rows_of_one(const Axis& rows) {
  return rows.batch == 1 ? rows : axis(rows.name);
}
/// An axis of as many sentences as another.
inline Axis in_batch_of(const Axis& other, Axis rows) {
  rows.batch = other.batch;
  return rows;
}

/// For every sentence that some rows belong to, the rows of the operands and of the result in that sentence,
/// counted from its beginning.
template <class Make>
void sentence_by_sentence(const Sentences& sentences, Rows a, Rows b, RowsToMake result, const Make& make) {
  if (sentences.count == 1) return make(a, b, result);
  for (std::size_t i = result.first; i < result.end();) {
    const std::size_t s = sentences.of(i), begin = s * sentences.rows;
    const std::size_t end = std::min(begin + sentences.rows, result.end());
    make(Rows{a.row(i).data(), i - begin, {end - i, a.shape.columns}},
         Rows{b.row(s * sentences.other).data(), 0, {sentences.other, b.shape.columns}},
         RowsToMake{result.row(i).data(), i - begin, {end - i, result.shape.columns}});
    i = end;
  }
}

}  // namespace attn
