#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "math/distance.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// What is computed for every pair of a row of one matrix and a row of another.

namespace attn {
namespace {

// The rows of a matrix that has `size` numbers for every pair: pair (i, j) is row i·n + j, where n is the
// number of rows of b. Labelled "a, b" where either has labels. Refused, before there are labels, when it
// would be too large.
Axis axis_of_pairs(Operation::Operands operands, std::size_t size) {
  const Frame &a = operands[0]->frame, &b = operands[1]->frame;
  const std::size_t m = a.shape.rows, n = b.shape.rows;
  if (!fits({m, n}) || !fits({m * n, size})) {
    fail(
        "the pairs of {} rows of {} and {} rows of {}, with {} numbers each, are more than the {} cells that "
        "a "
        "matrix may have: give fewer rows",
        m, operands[0]->title(), n, operands[1]->title(), size, most_cells);
  }
  if (!a.rows.labels && !b.rows.labels) return axis("pairs");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) labels.push_back(a.rows.label(i) + ", " + b.rows.label(j));
  }
  return axis("pairs", std::move(labels));
}

// The rows of the first operand, and all of the second, that some pairs consist of.
RowRange rows_behind_pairs(std::size_t operand, RowRange made, std::span<const Shape> operands) {
  const std::size_t n = operands[1].rows;
  if (operand == 1 || made.count == 0) return {0, operands[operand].rows};
  const std::size_t first = made.first / n, last = (made.first + made.count - 1) / n;
  return {first, last - first + 1};
}

class MinusHalfSquaredDistances final : public RowByMatrix {
 public:
  std::string_view name() const override { return "minus_half_squared_distances"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to have a distance",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, b.shape.rows}, a.rows, b.rows};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    squared_distances(operands[0], operands[1], result);
    for (double& cell : result.all()) cell = 0.0 - cell / 2.0;  // so that a distance of 0 is not −0
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {"−½‖" + a.plain + "ᵢ − " + b.plain + "ⱼ‖²",
            "-\\tfrac{1}{2} \\lVert {" + a.latex + "}_{i} - {" + b.latex + "}_{j} \\rVert^{2}",
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> squares;
    for (std::size_t c = 0; c < operands[0]->frame.shape.columns; ++c) {
      squares.push_back(squared(cell(*operands[0], row, c) - cell(*operands[1], column, c)));
    }
    Expression distance = squares.size() == 1 ? std::move(squares.front()) : sum(std::move(squares));
    return {product({number(-0.5, {"−½", "-\\tfrac{1}{2}"}), std::move(distance)})};
  }

  // A difference for each term, and −½ for each pair.
  Cost cost(std::span<const Shape> operands) const override {
    const std::size_t pairs = operands[0].rows * operands[1].rows, terms = pairs * operands[0].columns;
    return {.multiply_adds = terms, .element_operations = terms + pairs};
  }
};

class PairwiseSum final : public Operation {
 public:
  std::string_view name() const override { return "pairwise_sum"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to be added pair by pair",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {
        {a.shape.rows * b.shape.rows, a.shape.columns}, axis_of_pairs(operands, a.shape.columns), a.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows &a = operands[0], &b = operands[1];
    const std::size_t n = b.shape.rows;
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const std::span<double> sums = result.row(pair);
      const std::span<const double> one = a.row(pair / n), other = b.row(pair % n);
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = one[c] + other[c];
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + "ᵢ + " + b.plain + "ⱼ for every pair i, j",
            "{" + a.latex + "}_{i} + {" + b.latex + "}_{j}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t n = operands[1]->frame.shape.rows;
    return {sum({cell(*operands[0], row / n, column), cell(*operands[1], row % n, column)})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].cells()};
  }
};

class Pairs final : public Operation {
 public:
  std::string_view name() const override { return "pairs"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    const std::size_t size = a.shape.columns + b.shape.columns;
    return {{a.shape.rows * b.shape.rows, size}, axis_of_pairs(operands, size), axis(a.columns.name)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows &a = operands[0], &b = operands[1];
    const std::size_t n = b.shape.rows;
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const auto rest = std::ranges::copy(a.row(pair / n), result.row(pair).begin()).out;
      std::ranges::copy(b.row(pair % n), rest);
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::whole, operands[0]), b = within(Binding::whole, operands[1]);
    return {"[" + a.plain + "ᵢ; " + b.plain + "ⱼ] for every pair i, j",
            "\\left[{" + a.latex + "}_{i} ; {" + b.latex + "}_{j}\\right]", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t n = operands[1]->frame.shape.rows, of_a = operands[0]->frame.shape.columns;
    if (column < of_a) return {cell(*operands[0], row / n, column)};
    return {cell(*operands[1], row % n, column - of_a)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    const Shape a = operands[0], b = operands[1];
    return {.element_operations = a.rows * b.rows * (a.columns + b.columns)};
  }
};

class Unpair final : public Operation {
 public:
  explicit Unpair(Frame result) : result_(std::move(result)) {}

  std::string_view name() const override { return "unpair"; }
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
    return {
        within(Binding::sum, operands[0]).plain + fmt::format(", as a {} matrix", to_string(result_.shape)),
        "\\operatorname{rows}\\left(" + operands[0].latex + "\\right)", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row * result_.shape.columns + column, 0)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  Frame result_;
};

class ByDistance final : public RowByRow {
 public:
  explicit ByDistance(Frame result) : result_(std::move(result)) {}

  std::string_view name() const override { return "by_distance"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Shape table = operands[0]->frame.shape;
    const bool rows_fit = table.rows == 1 || table.rows == result_.shape.rows;
    if (!rows_fit || table.columns % 2 == 0) {
      fail(
          "{} is {}: it must have an odd number of columns, one for each distance from −c to c, and one row "
          "or {}",
          operands[0]->title(), to_string(table), result_.shape.rows);
    }
    return result_;
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows& table = operands[0];
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<const double> distances = table.beside(i);
      for (std::size_t j = 0; j < result.shape.columns; ++j) {
        result.row(i)[j] = distances[column_of(table.shape, i, j)];
      }
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula table = within(Binding::whole, operands[0]);
    return {table.plain + " at the distance j − i", "{" + table.latex + "}_{\\operatorname{clip}(j - i)}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Shape table = operands[0]->frame.shape;
    const auto distance = static_cast<long>(column) - static_cast<long>(row);
    const long most = most_distance(table);
    const std::string clipped =
        std::abs(distance) > most ? fmt::format(", and counts as {}", std::clamp(distance, -most, most)) : "";
    return {cell(*operands[0], row_of(table, row), column_of(table, row, column)),
            fmt::format("the distance from position {} to position {} is {}{}", row + 1, column + 1, distance,
                        clipped)};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

 private:
  static long most_distance(Shape table) { return static_cast<long>(table.columns / 2); }
  static std::size_t row_of(Shape table, std::size_t row) { return table.rows == 1 ? 0 : row; }
  static std::size_t column_of(Shape table, std::size_t row, std::size_t column) {
    const long most = most_distance(table), distance = static_cast<long>(column) - static_cast<long>(row);
    return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
  }

  Frame result_;
};

}  // namespace

Value minus_half_squared_distances(const Value& a, const Value& b) {
  return apply(MinusHalfSquaredDistances(), a, b);
}

Value pairwise_sum(const Value& a, const Value& b) {
  return apply(PairwiseSum(), a, b);
}

Value pairs(const Value& a, const Value& b) {
  return apply(Pairs(), a, b);
}

Value unpair(const Value& pairs, const Value& a, const Value& b) {
  const Frame &first = a.node().frame, &second = b.node().frame;
  return apply(Unpair({{first.shape.rows, second.shape.rows}, first.rows, second.rows}), pairs);
}

Value by_distance(const Value& table, const Value& a, const Value& b) {
  const Frame &first = a.node().frame, &second = b.node().frame;
  return apply(ByDistance({{first.shape.rows, second.shape.rows}, first.rows, second.rows}), table);
}

}  // namespace attn
