#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/math/rows.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

// What is computed for every pair of a row of one matrix and a row of another.

namespace attn {
namespace {

// The rows of a matrix that has `size` numbers for every pair: pair (i, j) is row i·n + j, where n is the
// number of rows of b in a sentence. Labelled "a, b" where either has labels. Refused, before there are
// labels, when it would be too large.
Axis axis_of_pairs(Operation::Operands operands, std::size_t size, const Sentences& sentences) {
  const Frame &a = operands[0]->frame, &b = operands[1]->frame;
  const std::size_t m = a.shape.rows, n = sentences.other;
  if (!fits({m, n}) || !fits({m * n, size})) {
    fail(
        "the pairs of {} rows of {} and {} rows of {}, with {} numbers each, are more than the {} cells that a matrix may have: give fewer rows",
        m, operands[0]->title(), n, operands[1]->title(), size, most_cells);
  }
  if (sentences.count > 1 || (!a.rows.labels && !b.rows.labels)) return in_batch_of(a.rows, axis("pairs"));
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) labels.push_back(a.rows.label(i) + ", " + b.rows.label(j));
  }
  return axis("pairs", std::move(labels));
}

// The rows of the first operand, and all of the second, that some pairs consist of.
RowRange rows_behind_pairs(std::size_t operand, RowRange made, std::span<const Shape> operands, std::size_t n) {
  if (operand == 1 || made.count == 0) return {0, operands[operand].rows};
  const std::size_t first = made.first / n, last = (made.first + made.count - 1) / n;
  return {first, last - first + 1};
}

// Where the two rows of a pair stand: pair (i, j) of the sentence s.
struct PlaceOfPair {
  PlaceOfPair(std::size_t pair, const Sentences& sentences)
      : first(pair / sentences.other), second(sentences.of(first) * sentences.other + pair % sentences.other) {}
  std::size_t first, second;
};

class MinusHalfSquaredDistances final : public RowByMatrix {
 public:
  explicit MinusHalfSquaredDistances(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::minus_half_squared_distances; }
  Bounds bounds() const override {
    return {.most = 0.0, .says = "This is minus half of a squared distance, so it is never positive."};
  }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to have a distance", operands[0]->title(),
           to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, sentences_.other}, a.rows, sentences_.count == 1 ? b.rows : rows_of_one(b.rows)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    sentence_by_sentence(sentences_, operands[0], operands[1], result, squared_distances);
    for (double& cell : result.all()) cell = 0.0 - cell / 2.0;  // so that a distance of 0 is not −0
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {"−½‖" + a.plain + "ᵢ − " + b.plain + "ⱼ‖²",
            "-\\tfrac{1}{2} \\lVert {" + a.latex + "}_{i} - {" + b.latex + "}_{j} \\rVert^{2}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> squares;
    const std::size_t beside = sentences_.of(row) * sentences_.other + column;
    for (std::size_t c = 0; c < operands[0]->frame.shape.columns; ++c) {
      squares.push_back(squared(cell(*operands[0], row, c) - cell(*operands[1], beside, c)));
    }
    Expression distance = squares.size() == 1 ? std::move(squares.front()) : sum(std::move(squares));
    return {product({number(-0.5, {"−½", "-\\tfrac{1}{2}"}), std::move(distance)})};
  }

  // A difference for each term, and −½ for each pair.
  Cost cost(std::span<const Shape> operands) const override {
    const std::size_t pairs = operands[0].rows * sentences_.other, terms = pairs * operands[0].columns;
    return {.multiply_adds = terms, .element_operations = terms + pairs};
  }

  // By a_i it is Σ_j d_ij (b_j − a_i), and by b_j Σ_i d_ij (a_i − b_j).
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Value &a = operands[0], &b = operands[1];
    const Value by_a = subtract(matmul(d, b), multiply(a, row_sums(d)));
    if (sentences_.count > 1) {
      const Value turned = transpose(d);
      return {by_a, subtract(matmul(turned, a), multiply(b, row_sums(turned)))};
    }
    const Value sums = transpose(sum_rows(d, {}, axis("sum")));
    return {by_a, subtract(transposed_matmul(d, a), multiply(b, sums))};
  }

 private:
  Sentences sentences_;
};

// What flows from all pairs of a row to that row.
Value to_first(const Value& d, const Value& a) {
  return sum_rows(d, {.parts = a.shape().rows, .apart = 1}, a.node().frame.rows);
}
Value to_second(const Value& d, const Value& b, const Sentences& sentences) {
  return sum_rows(d, {.parts = sentences.count, .apart = sentences.other}, b.node().frame.rows);
}

class PairwiseSum final : public Operation {
 public:
  explicit PairwiseSum(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::pairwise_sum; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to be added pair by pair",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    const std::size_t size = a.shape.columns;
    return {{a.shape.rows * sentences_.other, size}, axis_of_pairs(operands, size, sentences_), a.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const PlaceOfPair place(pair, sentences_);
      const std::span<double> sums = result.row(pair);
      const std::span<const double> one = operands[0].row(place.first), other = operands[1].row(place.second);
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = one[c] + other[c];
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands, sentences_.other);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + "ᵢ + " + b.plain + "ⱼ for every pair i, j", "{" + a.latex + "}_{i} + {" + b.latex + "}_{j}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const PlaceOfPair place(row, sentences_);
    return {sum({cell(*operands[0], place.first, column), cell(*operands[1], place.second, column)})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * sentences_.other * operands[1].columns};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {to_first(d, operands[0]), to_second(d, operands[1], sentences_)};
  }

 private:
  Sentences sentences_;
};

class Pairs final : public Operation {
 public:
  explicit Pairs(Sentences sentences) : sentences_(sentences) {}

  const Op& op() const override { return op::pairs; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    const std::size_t size = a.shape.columns + b.shape.columns;
    return {{a.shape.rows * sentences_.other, size}, axis_of_pairs(operands, size, sentences_), axis(a.columns.name)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const PlaceOfPair place(pair, sentences_);
      const auto rest = std::ranges::copy(operands[0].row(place.first), result.row(pair).begin()).out;
      std::ranges::copy(operands[1].row(place.second), rest);
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands, sentences_.other);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {"[" + a.plain + "ᵢ; " + b.plain + "ⱼ] for every pair i, j",
            "\\left[{" + a.latex + "}_{i} ; {" + b.latex + "}_{j}\\right]", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t of_a = operands[0]->frame.shape.columns;
    const PlaceOfPair place(row, sentences_);
    if (column < of_a) return {cell(*operands[0], place.first, column)};
    return {cell(*operands[1], place.second, column - of_a)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    const Shape a = operands[0], b = operands[1];
    return {.element_operations = a.rows * sentences_.other * (a.columns + b.columns)};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Value &a = operands[0], &b = operands[1];
    const std::size_t of_a = a.shape().columns;
    return {to_first(columns(d, 0, of_a), a), to_second(columns(d, of_a, b.shape().columns), b, sentences_)};
  }

 private:
  Sentences sentences_;
};

class Unpair final : public Operation {
 public:
  explicit Unpair(Frame result) : result_(std::move(result)) {}

  const Op& op() const override { return op::unpair; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Shape pairs = operands[0]->frame.shape;
    if (pairs != Shape{result_.shape.cells(), 1}) {
      fail("{} is {}: it must have one column and a row for each of the {} pairs", operands[0]->title(),
           to_string(pairs), result_.shape.cells());
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const std::size_t columns = result.shape.columns;
    for (std::size_t i = result.first; i < result.end(); ++i) {
      for (std::size_t j = 0; j < columns; ++j) result.row(i)[j] = operands[0](i * columns + j, 0);
    }
  }
  RowRange needed(std::size_t, RowRange made, std::span<const Shape>) const override {
    return {made.first * result_.shape.columns, made.count * result_.shape.columns};
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {within(Binding::sum, operands[0]).plain + fmt::format(", as a matrix of {}", to_string(result_.shape)),
            "\\operatorname{rows}\\left(" + operands[0].latex + "\\right)", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row * result_.shape.columns + column, 0)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {pairs_of(d, operands[0].node().frame.rows)};
  }

 private:
  Frame result_;
};

class PairsOf final : public Operation {
 public:
  explicit PairsOf(Axis rows) : rows_(std::move(rows)) {}

  const Op& op() const override { return op::pairs_of; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override { return {{operands[0]->frame.shape.cells(), 1}, rows_, axis("pair")}; }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const std::size_t columns = operands[0].shape.columns;
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      result.row(pair)[0] = operands[0](pair / columns, pair % columns);
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    const std::size_t columns = operands[operand].columns;
    if (made.count == 0) return {0, 0};
    const std::size_t first = made.first / columns, last = (made.first + made.count - 1) / columns;
    return {first, last - first + 1};
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {within(Binding::sum, operands[0]).plain + ", a row for each cell",
            "\\operatorname{pairs}\\left(" + operands[0].latex + "\\right)", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    const std::size_t columns = operands[0]->frame.shape.columns;
    return {cell(*operands[0], row / columns, row % columns)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {apply(Unpair(operands[0].node().frame), d)};
  }

 private:
  Axis rows_;
};

// Which column of a table of distances the distance from one position to another has.
long most_distance(Shape table) { return static_cast<long>(table.columns / 2); }
std::size_t column_of_distance(Shape table, std::size_t row, std::size_t column) {
  const long most = most_distance(table), distance = static_cast<long>(column) - static_cast<long>(row);
  return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
}

class ByDistance final : public RowByRow {
 public:
  ByDistance(Frame result, Sentences sentences) : result_(std::move(result)), sentences_(sentences) {}

  const Op& op() const override { return op::by_distance; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Shape table = operands[0]->frame.shape;
    const bool rows_fit = table.rows == 1 || table.rows == result_.shape.rows;
    if (!rows_fit || table.columns % 2 == 0) {
      fail("{} is {}: it must have an odd number of columns, one for each distance from −c to c, and one row or {}",
           operands[0]->title(), to_string(table), result_.shape.rows);
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows& table = operands[0];
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<const double> distances = table.beside(i);
      for (std::size_t j = 0; j < result.shape.columns; ++j) {
        result.row(i)[j] = distances[column_of_distance(table.shape, sentences_.place(i), j)];
      }
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula table = within(Binding::whole, operands[0]);
    return {table.plain + " at the distance j − i", "{" + table.latex + "}_{\\operatorname{clip}(j - i)}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row_of_all, std::size_t column) const override {
    const Shape table = operands[0]->frame.shape;
    const std::size_t row = sentences_.place(row_of_all);
    const auto distance = static_cast<long>(column) - static_cast<long>(row);
    const long most = most_distance(table);
    const std::string clipped =
        std::abs(distance) > most ? fmt::format(", and counts as {}", std::clamp(distance, -most, most)) : "";
    return {
        cell(*operands[0], row_of(table, row_of_all), column_of_distance(table, row, column)),
        fmt::format("the distance from position {} to position {} is {}{}", row + 1, column + 1, distance, clipped)};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override;

 private:
  static std::size_t row_of(Shape table, std::size_t row) { return table.rows == 1 ? 0 : row; }

  Frame result_;
  Sentences sentences_;
};

// Every row of a table of one row, or of a table that has as many rows as there are, gets what is at each
// distance.
class SumByDistance final : public Operation {
 public:
  SumByDistance(Frame table, Sentences sentences) : result_(std::move(table)), sentences_(sentences) {}

  const Op& op() const override { return op::sum_by_distance; }

  Frame frame(Operands operands) const override {
    const Shape table = result_.shape, d = operands[0]->frame.shape;
    if (table.columns % 2 == 0 || (table.rows != 1 && table.rows != d.rows)) {
      fail("{} is {}: it cannot be added up by distance into a {} table", operands[0]->title(), to_string(d),
           to_string(table));
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows& d = operands[0];
    std::ranges::fill(result.all(), 0.0);
    const bool for_all = result_.shape.rows == 1;
    for (std::size_t i = for_all ? 0 : result.first; i < (for_all ? d.end() : result.end()); ++i) {
      const std::span<double> sums = result.row(for_all ? 0 : i);
      for (std::size_t j = 0; j < d.shape.columns; ++j) sums[column_of(i, j)] += d(i, j);
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return result_.shape.rows == 1 ? Operation::needed(operand, made, operands) : made;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::whole, operands[0]);
    return {d.plain + " added up by the distance j − i",
            "\\sum_{\\operatorname{clip}(j - i) = c} {" + d.latex + "}_{ij}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape d = operands[0]->frame.shape;
    const bool for_all = result_.shape.rows == 1;
    std::vector<Expression> terms;
    for (std::size_t i = for_all ? 0 : row; i < (for_all ? d.rows : row + 1); ++i) {
      for (std::size_t j = 0; j < d.columns; ++j) {
        if (column_of(i, j) == column) terms.push_back(cell(*operands[0], i, j));
      }
    }
    const long most = most_distance(result_.shape), distance = static_cast<long>(column) - most;
    if (terms.empty()) return {number(0.0), fmt::format("nothing has the distance {}", distance)};
    const bool is_last = std::abs(distance) == most;
    return {sum(std::move(terms)),
            fmt::format("these have the distance {}{}", distance, is_last ? ", or a longer one" : "")};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {apply(ByDistance(operands[0].node().frame, sentences_), d)};
  }

 private:
  std::size_t column_of(std::size_t row, std::size_t column) const {
    return column_of_distance(result_.shape, sentences_.place(row), column);
  }

  Frame result_;
  Sentences sentences_;  // of what is added up
};

Gradients ByDistance::gradients(const Value&, const Value& d, std::span<const Value> operands) const {
  return {apply(SumByDistance(operands[0].node().frame, sentences_), d)};
}

// A cell for every row of one matrix and every row of another, of the same sentence.
Frame frame_of_pairs(const Value& a, const Value& b) {
  const Frame &first = a.node().frame, &second = b.node().frame;
  const Sentences sentences = sentences_of(a, b);
  return {
      {first.shape.rows, sentences.other}, first.rows, sentences.count == 1 ? second.rows : rows_of_one(second.rows)};
}

}  // namespace

Value minus_half_squared_distances(const Value& a, const Value& b) {
  return apply(MinusHalfSquaredDistances(sentences_of(a, b)), a, b);
}

Value pairwise_sum(const Value& a, const Value& b) { return apply(PairwiseSum(sentences_of(a, b)), a, b); }

Value pairs(const Value& a, const Value& b) { return apply(Pairs(sentences_of(a, b)), a, b); }

Value unpair(const Value& pairs, const Value& a, const Value& b) { return apply(Unpair(frame_of_pairs(a, b)), pairs); }

Value pairs_of(const Value& x, Axis rows) { return apply(PairsOf(std::move(rows)), x); }

Value sum_by_distance(const Value& d, const Value& table) {
  return apply(SumByDistance(table.node().frame, sentences_of(d)), d);
}

Value by_distance(const Value& table, const Value& a, const Value& b) {
  return apply(ByDistance(frame_of_pairs(a, b), sentences_of(a, b)), table);
}

}  // namespace attn
