#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "core/graph/graph.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"

namespace attn {

// The operations that gradients are made of, beside those of operations.hpp. `d` is the gradient of what an
// operation has made.

/// −1, by which a gradient is multiplied.
Scalar minus_one();

/// The rows and columns of `d` added up to those of an operand of which one row, one column or one sentence
/// served for all.  [m, n] -> the operand's shape.
Value unbroadcast(const Value& d, const Value& operand);

/// The sum of what flows back to one node. Parts of a matrix that are all of it together, such as what flows
/// back to the columns of each head, are joined and not added to each other's zeros.
Value sum_of_flows(const std::vector<Value>& flows);

/// d ⊙ f′, cell by cell, for the function that an operation applies to every cell. `z` is what its
/// derivative is worked out from: the result or the argument.  [m, n] [m, n] -> [m, n].
Value tanh_gradient(const Value& d, const Value& result);
Value sigmoid_gradient(const Value& d, const Value& result);
Value relu_gradient(const Value& d, const Value& result);
Value gelu_gradient(const Value& d, const Value& x);
Value gelu_by_tanh_gradient(const Value& d, const Value& x);
Value silu_gradient(const Value& d, const Value& x);

/// α ⊙ (d − row sums of α ⊙ d): every row of d times the Jacobian diag(α) − ααᵀ of softmax.
/// [m, n] [m, n] -> [m, n].
Value softmax_gradient(const Value& weights, const Value& d);

/// (d − row sums of y ⊙ d) / row sums of x, where y is x divided by its row sums; 0 where such a sum is 0.
/// [m, n] [m, n] [m, n] -> [m, n].
Value normalize_gradient(const Value& d, const Value& y, const Value& x);

/// 2/n (x − mean) d, row by row: of a variance that is known by its row.  [m, n] [m, 1] [m, 1] -> [m, n].
Value row_variances_gradient(const Value& x, const Value& means, const Value& d);

/// d / √(variance + ε), row by row.  [m, n] [m, 1] -> [m, n].
Value divide_by_deviation(const Value& d, const Value& variances, double epsilon);

/// (d − x · mean of d ⊙ x / r²) / r with r = √(mean of x² + ε), row by row.  [m, n] [m, n] -> [m, n].
Value root_mean_square_gradient(const Value& d, const Value& x, double epsilon);

/// (d − y (y · d)) / ‖x‖, row by row, where y is x / ‖x‖; 0 where x is 0.  [m, n] [m, n] [m, n] -> [m, n].
Value unit_rows_gradient(const Value& d, const Value& y, const Value& x);

/// Rows of `d` added up by their ids, a row for each of the table.  [n, 1] [n, d] -> [vocabulary, d].
Value add_rows_by_id(const Value& ids, const Value& d, const Value& table);

/// The cells of a matrix below each other, of which the rows are named: the opposite of unpair().
/// [m, n] -> [m·n, 1].
Value pairs_of(const Value& x, Axis rows);

/// What `d` has at each distance, added up as the table has them, in one row for all or in one for each.
/// [m, n] -> the shape of `table`.
Value sum_by_distance(const Value& d, const Value& table, const QueryKeyPositions& apart = {});

/// rotate() by the opposite angles.  [n, d] -> [n, d].
Value rotate_back(const Value& x, Waves waves = {});

/// `x` in the columns, or rows, from `first` on of a matrix like `whole`, among zeros: the opposite of
/// columns() and rows().  [m, n] -> the shape of `whole`.
Value columns_among_zeros(const Value& x, std::size_t first, const Value& whole);
Value rows_among_zeros(const Value& x, std::size_t first, const Value& whole);

/// (softmax(logits) − target) ⊙ d, where the target is 1 at the id, or what smoothing leaves of it there and
/// gives to all.  [n, V] [n, 1] [n, 1] -> [n, V].
Value cross_entropy_gradient(const Value& logits, const Value& ids, const Value& d, double smoothing);

/// The place that an id stands for, from 0; ids count from 1.
inline std::size_t place_of(double id) { return static_cast<std::size_t>(id) - 1; }

/// Reads ids of words, which are the rows or the columns of a matrix, and refuses the first that is none of
/// them.
struct IdsOf {
  const Node& ids;
  const Use& use;
  std::string (*title)(const Use& use);  // of that matrix
  std::string_view are;                  // "rows"
  std::size_t count;

  std::size_t place(Rows rows, std::size_t row) const {
    const double id = rows(row, 0);
    if (!(id >= 1.0 && id <= static_cast<double>(count) && id == std::floor(id)))
      fail("{}[{},1] is {}: {} has {} 1 to {}", ids.title(), row + 1, id, title(use), are, count);
    return place_of(id);
  }
};

/// The rows of the first operand in the memory of the result, where a kernel changes them.
inline void take_first(Operands operands, RowsToMake result) {
  const double* const from = operands.front().row(result.first).data();
  if (from != result.cells) std::copy_n(from, result.shape.cells(), result.cells);
}

// What the operations on rows and their gradients have in common: distances from a mean, lengths, roots.

/// What rounding has left of the distances from the mean, of which the mean is 0 in exact arithmetic: it is
/// nothing unless the numbers lie much closer together than to 0 (Chan, Golub and LeVeque 1983, Algorithms
/// for Computing the Sample Variance: the corrected two-pass algorithm).
inline double mean_distance(std::span<const double> x, double mean) {
  return sum_of_distances(x, mean) / static_cast<double>(x.size());
}

inline double sum_of_squares(std::span<const double> row) { return dot_product(row, row); }

/// √(x + ε); ε is not written where it is 0.
inline Formula root_of(const Formula& x, double epsilon) {
  const std::string more = epsilon == 0.0 ? "" : fmt::format(" + {}", epsilon);
  return {fmt::format("√({}{})", x.plain, more), fmt::format("\\sqrt{{{}{}}}", x.latex, more)};
}

/// The root of a row, by which its numbers are divided.
inline double divisor_of(double square, double epsilon, std::size_t row) {
  const double root = std::sqrt(square + epsilon);
  if (root == 0.0) fail("row {} cannot be normalized: it would be divided by 0; give an ε above 0", row + 1);
  return root;
}

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

/// Those of the operands of an operation.
inline Sentences sentences_of(const Use& use, std::size_t count) {
  const std::size_t other = use.operands.size() < 2 ? 0 : use.frame(1).shape.rows;
  return {count, use.frame(0).shape.rows / count, other / count};
}
inline Sentences sentences_of(const Use& use) {
  const std::size_t batch = use.frame(0).rows.batch;
  const bool all_alike = use.operands.size() < 2 || use.frame(1).rows.batch == batch;
  return sentences_of(use, all_alike ? batch : 1);
}

/// Those of one matrix; and of two, where both hold as many, or else all rows of both as one.
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
inline Axis rows_of_one(const Axis& rows) { return rows.batch == 1 ? rows : axis(rows.name); }
/// An axis of as many sentences as another.
inline Axis in_batch_of(const Axis& other, Axis rows) {
  rows.batch = other.batch;
  return rows;
}

/// A cell for every row of the first operand and every row of the second, of the same sentence.
inline Frame frame_of_pairs(const Frame& a, const Frame& b, std::size_t sentences) {
  return {{a.shape.rows, b.shape.rows / sentences}, a.rows, sentences == 1 ? b.rows : rows_of_one(b.rows)};
}
inline Frame frame_of_pairs(const Use& use) {
  return frame_of_pairs(use.frame(0), use.frame(1), sentences_of(use).count);
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
