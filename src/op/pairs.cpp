#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "math/distance.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// What is computed for every pair of a query and a key.

namespace attn {
namespace {

// The rows of a matrix that has `size` numbers for every query and key: pair (i, j) of n_k keys is row i·n_k
// + j. Labelled "query, key" where either has words. Refused, before there are labels, when it would be too
// large.
Axis axis_of_pairs(const Frame& queries, const Frame& keys, std::size_t size) {
  const std::size_t n_q = queries.shape.rows, n_k = keys.shape.rows;
  if (!fits({n_q, n_k}) || !fits({n_q * n_k, size})) {
    fail(
        "{} queries and {} keys, pair by pair with {} numbers each, are more than the {} cells a matrix may "
        "have; give fewer queries or keys",
        n_q, n_k, size, most_cells);
  }
  if (!queries.rows.labels && !keys.rows.labels) return axis("pairs");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < n_q; ++i) {
    for (std::size_t j = 0; j < n_k; ++j) labels.push_back(queries.rows.label(i) + ", " + keys.rows.label(j));
  }
  return axis("pairs", std::move(labels));
}

// The queries, and all keys, that some pairs consist of.
RowRange rows_behind_pairs(std::size_t operand, RowRange made, std::span<const Shape> operands) {
  const std::size_t keys = operands[1].rows;
  if (operand == 1 || made.count == 0) return {0, operands[operand].rows};
  const std::size_t first = made.first / keys, last = (made.first + made.count - 1) / keys;
  return {first, last - first + 1};
}

class MinusHalfSquaredDistances final : public RowByMatrix {
 public:
  std::string_view name() const override { return "minus_half_squared_distances"; }

  Frame frame(Operands operands) const override {
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    if (q.shape.columns != k.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to have a distance",
           operands[0]->title(), to_string(q.shape), operands[1]->title(), to_string(k.shape));
    }
    return {{q.shape.rows, k.shape.rows}, q.rows, k.rows};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    squared_distances(operands[0], operands[1], result);
    for (double& cell : result.all()) cell = 0.0 - cell / 2.0;  // so that a distance of 0 is not −0
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {"−½‖" + q.plain + "ᵢ − " + k.plain + "ⱼ‖²",
            "-\\tfrac{1}{2} \\lVert {" + q.latex + "}_{i} - {" + k.latex + "}_{j} \\rVert^{2}",
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
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    if (q.shape.columns != k.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to be added pair by pair",
           operands[0]->title(), to_string(q.shape), operands[1]->title(), to_string(k.shape));
    }
    return {{q.shape.rows * k.shape.rows, q.shape.columns}, axis_of_pairs(q, k, q.shape.columns), q.columns};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows &q = operands[0], &k = operands[1];
    const std::size_t keys = k.shape.rows;
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const std::span<double> sums = result.row(pair);
      const std::span<const double> query = q.row(pair / keys), key = k.row(pair % keys);
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] = query[c] + key[c];
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {q.plain + "ᵢ + " + k.plain + "ⱼ for every pair i, j",
            "{" + q.latex + "}_{i} + {" + k.latex + "}_{j}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t keys = operands[1]->frame.shape.rows;
    return {sum({cell(*operands[0], row / keys, column), cell(*operands[1], row % keys, column)})};
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
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    const std::size_t size = q.shape.columns + k.shape.columns;
    return {{q.shape.rows * k.shape.rows, size}, axis_of_pairs(q, k, size), axis(q.columns.name)};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const Rows &q = operands[0], &k = operands[1];
    const std::size_t keys = k.shape.rows;
    for (std::size_t pair = result.first; pair < result.end(); ++pair) {
      const auto rest = std::ranges::copy(q.row(pair / keys), result.row(pair).begin()).out;
      std::ranges::copy(k.row(pair % keys), rest);
    }
  }
  RowRange needed(std::size_t operand, RowRange made, std::span<const Shape> operands) const override {
    return rows_behind_pairs(operand, made, operands);
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {"[" + q.plain + "ᵢ; " + k.plain + "ⱼ] for every pair i, j",
            "\\left[{" + q.latex + "}_{i} ; {" + k.latex + "}_{j}\\right]", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t keys = operands[1]->frame.shape.rows, of_query = operands[0]->frame.shape.columns;
    if (column < of_query) return {cell(*operands[0], row / keys, column)};
    return {cell(*operands[1], row % keys, column - of_query)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    const Shape q = operands[0], k = operands[1];
    return {.element_operations = q.rows * k.rows * (q.columns + k.columns)};
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
    const std::size_t keys = result.shape.columns;
    for (std::size_t i = result.first; i < result.end(); ++i) {
      for (std::size_t j = 0; j < keys; ++j) result.row(i)[j] = operands[0](i * keys + j, 0);
    }
  }
  RowRange needed(std::size_t, RowRange made, std::span<const Shape>) const override {
    return {made.first * result_.shape.columns, made.count * result_.shape.columns};
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {within(Binding::sum, operands[0]).plain + ", a row for each query",
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
          "{} is {}: it must have an odd number of columns, one for each distance from −c to c, in one row "
          "or in one for each of the {} queries",
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
    return {
        cell(*operands[0], row_of(table, row), column_of(table, row, column)),
        fmt::format("the distance from query {} to key {} is {}{}", row + 1, column + 1, distance, clipped)};
  }

  Cost cost(std::span<const Shape>) const override { return {.element_operations = result_.shape.cells()}; }

 private:
  static long most_distance(Shape table) { return static_cast<long>(table.columns / 2); }
  static std::size_t row_of(Shape table, std::size_t query) { return table.rows == 1 ? 0 : query; }
  static std::size_t column_of(Shape table, std::size_t query, std::size_t key) {
    const long most = most_distance(table), distance = static_cast<long>(key) - static_cast<long>(query);
    return static_cast<std::size_t>(std::clamp(distance, -most, most) + most);
  }

  Frame result_;
};

}  // namespace

Value minus_half_squared_distances(const Value& q, const Value& k) {
  return apply(MinusHalfSquaredDistances(), q, k);
}

Value pairwise_sum(const Value& q, const Value& k) {
  return apply(PairwiseSum(), q, k);
}

Value pairs(const Value& q, const Value& k) {
  return apply(Pairs(), q, k);
}

Value unpair(const Value& pairs, const Value& q, const Value& k) {
  const Frame &queries = q.node().frame, &keys = k.node().frame;
  return apply(Unpair({{queries.shape.rows, keys.shape.rows}, queries.rows, keys.rows}), pairs);
}

Value by_distance(const Value& table, const Value& q, const Value& k) {
  const Frame &queries = q.node().frame, &keys = k.node().frame;
  return apply(ByDistance({{queries.shape.rows, keys.shape.rows}, queries.rows, keys.rows}), table);
}

}  // namespace attn
