#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/row_gradients.hpp"
#include "op/gradients.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "op/row_numbers.hpp"
#include "support/error.hpp"

// One number for each row, and rows of length 1.

namespace attn {
namespace {

class RowMeans final : public RowByRow {
 public:
  std::string_view name() const override { return "row_means"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("mean")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    const auto columns = static_cast<double>(operands[0].shape.columns);
    for (std::size_t i = result.first; i < result.end(); ++i) {
      result.row(i)[0] = sum_of_cells(operands[0].row(i)) / columns;
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]);
    return {"mean of each row of " + x.plain, "\\tfrac{1}{d} \\sum_{j} {" + x.latex + "}_{ij}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    const std::size_t size = operands[0]->frame.shape.columns;
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < size; ++j) terms.push_back(cell(*operands[0], row, j));
    return {sum(std::move(terms)) / number(static_cast<double>(size))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Frame& x = operands[0].node().frame;
    const auto size = static_cast<double>(x.shape.columns);
    const std::string written = fmt::format("{}", size);
    return {repeat_columns(divide(d, {size, {written, written}}), x.shape.columns, x.columns)};
  }
};

class RowVariances final : public RowByRow {
 public:
  std::string_view name() const override { return "row_variances"; }
  Bounds bounds() const override {
    return {.least = 0.0, .says = "A variance is never negative: it is a mean of squares."};
  }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    if (operands[1]->frame.shape != Shape{x.shape.rows, 1}) {
      fail("{} is {}: it must hold one mean for each of the {} rows", operands[1]->title(),
           to_string(operands[1]->frame.shape), x.shape.rows);
    }
    return {{x.shape.rows, 1}, x.rows, axis("variance")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<const double> x = operands[0].row(i);
      const double mean = operands[1](i, 0), rest = mean_distance(x, mean);
      const double sum = sum_of_squared_distances(x, mean);
      result.row(i)[0] = std::max(0.0, sum / static_cast<double>(x.size()) - rest * rest);
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::whole, operands[0]), mean = within(Binding::whole, operands[1]);
    return {"mean of (" + x.plain + " − " + mean.plain + ")² over each row",
            "\\tfrac{1}{d} \\sum_{j} \\left({" + x.latex + "}_{ij} - {" + mean.latex + "}_{i}\\right)^{2}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    const std::size_t size = operands[0]->frame.shape.columns;
    std::vector<Expression> squares;
    for (std::size_t j = 0; j < size; ++j) {
      squares.push_back(squared(cell(*operands[0], row, j) - cell(*operands[1], row, 0)));
    }
    return {sum(std::move(squares)) / number(static_cast<double>(size))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // distance, square and sum
    return {.element_operations = passes * operands[0].cells()};
  }

  // The distances from the mean add up to 0, so that nothing flows back to it.
  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {row_variances_gradient(operands[0], operands[1], d), std::nullopt};
  }
};

class HalfSquaredNorms final : public RowByRow {
 public:
  std::string_view name() const override { return "half_squared_norms"; }
  Bounds bounds() const override { return {.least = 0.0, .says = "A sum of squares is never negative."}; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("norm")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      result.row(i)[0] = sum_of_squares(operands[0].row(i)) / 2.0;
    }
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"½‖" + operands[0].plain + "‖²", "\\tfrac{1}{2} \\lVert " + operands[0].latex + " \\rVert^{2}"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    std::vector<Expression> squares;
    for (std::size_t k = 0; k < operands[0]->frame.shape.columns; ++k) {
      squares.push_back(squared(cell(*operands[0], row, k)));
    }
    return {sum(std::move(squares)) / number(2.0)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].cells(), .element_operations = operands[0].rows};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {multiply(operands[0], d)};
  }
};

class UnitRows final : public InPlace {
 public:
  std::string_view name() const override { return "unit_rows"; }
  Bounds bounds() const override {
    return {-1.0, 1.0, "A number of a vector of length 1 lies between −1 and 1."};
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::product, operands[0]);
    return {x.plain + " / ‖" + operands[0].plain + "‖, row by row",
            "\\frac{{" + operands[0].latex + "}_{i}}{\\lVert {" + operands[0].latex + "}_{i} \\rVert}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::vector<double> values = operands[0]->row(row);
    const bool is_zero = std::ranges::all_of(values, [](double value) { return value == 0.0; });
    if (is_zero) return {cell(*operands[0], row, column), "the row has length 0 and stays"};
    const int exponent = exponent_of(values);
    const auto scaled = [&](std::size_t k) {
      Expression x = cell(*operands[0], row, k);
      return exponent == 0 ? x : std::move(x) / number(std::ldexp(1.0, exponent));
    };
    std::vector<Expression> squares;
    for (std::size_t k = 0; k < values.size(); ++k) squares.push_back(squared(scaled(k)));
    return {scaled(column) / call(square_root, sum(std::move(squares))),
            exponent == 0
                ? "the divisor is the length of the row"
                : fmt::format("every number of the row is divided by 2^{} first, which changes no direction: "
                              "the squares would be too {} for double precision",
                              exponent, exponent > 0 ? "large" : "small")};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].cells(), .element_operations = operands[0].cells()};
  }

  Gradients gradients(const Value& result, const Value& d, std::span<const Value> operands) const override {
    return {unit_rows_gradient(d, result, operands[0])};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const int exponent = exponent_of(rows.row(i));
      if (exponent != 0) {
        for (double& value : rows.row(i)) value = std::ldexp(value, -exponent);
      }
      const double length = std::sqrt(sum_of_squares(rows.row(i)));
      for (double& value : rows.row(i)) value = length == 0.0 ? value : value / length;
    }
  }
};

}  // namespace

Value row_means(const Value& x) {
  return apply(RowMeans(), x);
}
Value row_variances(const Value& x, const Value& means) {
  return apply(RowVariances(), x, means);
}
Value half_squared_norms(const Value& x) {
  return apply(HalfSquaredNorms(), x);
}
Value unit_rows(const Value& x) {
  return apply(UnitRows(), x);
}

}  // namespace attn
