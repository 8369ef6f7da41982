#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "core/support/error.hpp"

namespace attn {

// --- norms
// What normalization divides the numbers of a row by.

namespace {

class Standardize final : public InPlace {
 public:
  explicit Standardize(double epsilon) : epsilon_(epsilon) {}

  const Op& op() const override { return op::standardize; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }
  double epsilon() const { return epsilon_; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::sum, operands[0]), mean = within(Binding::product, operands[1]),
                  root = root_of(within(Binding::sum, operands[2]), epsilon_);
    return {fmt::format("({} − {}) / {}", x.plain, mean.plain, root.plain),
            fmt::format("\\frac{{{} - {}}}{{{}}}", x.latex, mean.latex, root.latex), Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Expression distance = cell(*operands[0], row, column) - cell(*operands[1], row, 0);
    return {distance / root_of(cell(*operands[2], row, 0), epsilon_), reason_for(epsilon_)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // distance, division
    return {.element_operations = passes * operands[0].cells()};
  }

  // y = (x − m) / s with s = √(v + ε): by x it is 1/s, by m −1/s, and by v −½ y / s².
  Gradients gradients(const Value& result, const Value& d, std::span<const Value> operands) const override {
    const Value by_x = divide_by_deviation(d, operands[2], epsilon_);
    const Value sums = times(row_sums(multiply(by_x, result)), {-0.5, {"(−½)", "\\left(-\\tfrac{1}{2}\\right)"}});
    return {by_x, times(row_sums(by_x), minus_one()), divide_by_deviation(sums, operands[2], epsilon_)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double mean = others[0](i, 0), deviation = divisor_of(others[1](i, 0), epsilon_, i);
      const double rest = mean_distance(rows.row(i), mean);
      center_row(rows.row(i), mean, rest);
      attn::divide(rows.row(i), deviation);
    }
  }

  double epsilon_;
};

class DivideByRootMeanSquare final : public InPlace {
 public:
  explicit DivideByRootMeanSquare(double epsilon) : epsilon_(epsilon) {}

  const Op& op() const override { return op::divide_by_root_mean_square; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }
  double epsilon() const { return epsilon_; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::product, operands[0]);
    const Formula mean = {"mean of each row of " + within(Binding::whole, operands[0]).plain + "²",
                          "\\tfrac{1}{d} \\sum_{j} {" + within(Binding::whole, operands[0]).latex + "}_{ij}^{2}"};
    const Formula root = root_of(mean, epsilon_);
    return {x.plain + " / " + root.plain, "\\frac{" + x.latex + "}{" + root.latex + "}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t size = operands[0]->frame.shape.columns;
    std::vector<Expression> squares;
    for (std::size_t j = 0; j < size; ++j) squares.push_back(squared(cell(*operands[0], row, j)));
    Expression mean = sum(std::move(squares)) / number(static_cast<double>(size));
    return {cell(*operands[0], row, column) / root_of(std::move(mean), epsilon_), reason_for(epsilon_)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // square and sum, division
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    return {root_mean_square_gradient(d, operands[0], epsilon_)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double mean = sum_of_squares(rows.row(i)) / static_cast<double>(rows.shape.columns);
      attn::divide(rows.row(i), divisor_of(mean, epsilon_, i));
    }
  }

  double epsilon_;
};

}  // namespace

std::optional<double> epsilon_of(const Operation& operation) {
  if (const auto* layer = dynamic_cast<const Standardize*>(&operation)) return layer->epsilon();
  const auto* root = dynamic_cast<const DivideByRootMeanSquare*>(&operation);
  return root ? std::optional(root->epsilon()) : std::nullopt;
}

Value standardize(const Value& x, const Value& means, const Value& variances, double epsilon) {
  return apply(Standardize(epsilon), x, means, variances);
}
Value divide_by_root_mean_square(const Value& x, double epsilon) { return apply(DivideByRootMeanSquare(epsilon), x); }

// --- norm gradients
// How a gradient flows back through what normalization divides the numbers of a row by, and through lengths.

namespace {

Expression count_of_columns(const Node& x) { return number(static_cast<double>(x.frame.shape.columns)); }

// Operands: x, the means and d.
class RowVariancesGradient final : public InPlace {
 public:
  const Op& op() const override { return op::row_variances_gradient; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::sum, operands[0]), mean = within(Binding::product, operands[1]),
                  d = within(Binding::product, operands[2]);
    return {d.plain + " ⊙ 2 / (its number of columns) ⋅ (" + x.plain + " − " + mean.plain + ")",
            "\\tfrac{2}{d} \\left(" + x.latex + " - " + mean.latex + "\\right) \\odot " + d.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    Expression distance = cell(*operands[0], row, column) - cell(*operands[1], row, 0);
    return {product({cell(*operands[2], row, 0), number(2.0), std::move(distance)}) / count_of_columns(*operands[0]),
            "the mean changes with the number as well; but the distances from it add up to 0, so that changes nothing"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // distance, product
    return {.element_operations = passes * operands[0].cells()};
  }

  // g = 2/n (x − mean) d.
  Gradients gradients(const Value&, const Value& u, std::span<const Value> operands) const override {
    const Value &x = operands[0], &means = operands[1], &d = operands[2];
    const auto columns = static_cast<double>(x.shape().columns);
    const std::string written = fmt::format("{}", columns);
    const Scalar factor{2.0 / columns, {"(2/" + written + ")", "\\tfrac{2}{" + written + "}"}};
    const Value by_distance = times(multiply(u, d), factor);
    return {by_distance, times(row_sums(by_distance), minus_one()),
            times(row_sums(multiply(u, subtract(x, means))), factor)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double mean = others[0](i, 0), rest = mean_distance(rows.row(i), mean);
      const double factor = 2.0 * others[1](i, 0) / static_cast<double>(rows.shape.columns);
      center_row(rows.row(i), mean, rest);
      attn::multiply(rows.row(i), factor);
    }
  }
};

class DivideByDeviation final : public InPlace {
 public:
  explicit DivideByDeviation(double epsilon) : epsilon_(epsilon) {}

  const Op& op() const override { return op::divide_by_deviation; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula root = root_of(within(Binding::sum, operands[1]), epsilon_);
    return {within(Binding::product, operands[0]).plain + " / " + root.plain,
            "\\frac{" + operands[0].latex + "}{" + root.latex + "}", Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row, column) / root_of(cell(*operands[1], row, 0), epsilon_), reason_for(epsilon_)};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  // g = d / s with s = √(v + ε): by v it is −½ g / s².
  Gradients gradients(const Value& result, const Value& u, std::span<const Value> operands) const override {
    const Value by_d = divide_by_deviation(u, operands[1], epsilon_);
    const Value sums = times(row_sums(multiply(by_d, result)), {-0.5, {"(−½)", "\\left(-\\tfrac{1}{2}\\right)"}});
    return {by_d, divide_by_deviation(sums, operands[1], epsilon_)};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      attn::divide(rows.row(i), divisor_of(others[0](i, 0), epsilon_, i));
    }
  }

  double epsilon_;
};

// Operands: d and x.
class RootMeanSquareGradient final : public InPlace {
 public:
  explicit RootMeanSquareGradient(double epsilon) : epsilon_(epsilon) {}

  const Op& op() const override { return op::root_mean_square_gradient; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), x = within(Binding::product, operands[1]);
    const std::string d_latex = "{" + within(Binding::whole, operands[0]).latex + "}",
                      x_latex = "{" + within(Binding::whole, operands[1]).latex + "}";
    const Formula mean = {"mean of each row of " + within(Binding::whole, operands[1]).plain + "²",
                          "\\tfrac{1}{d} \\sum_{k} " + x_latex + "_{ik}^{2}"};
    const std::string more = epsilon_ == 0.0 ? "" : fmt::format(" + {}", epsilon_);
    const Formula root = root_of(mean, epsilon_);
    return {"(" + d.plain + " − " + x.plain + " ⊙ mean of each row of " + d.plain + " ⊙ " + x.plain + " / (" +
                mean.plain + more + ")) / " + root.plain,
            "\\frac{1}{" + root.latex + "} \\left(" + d_latex + "_{ij} - " + x_latex + "_{ij} \\frac{\\sum_{k} " +
                d_latex + "_{ik} " + x_latex + "_{ik}}{\\sum_{k} " + x_latex + "_{ik}^{2}" +
                (epsilon_ == 0.0 ? "" : " + d \\cdot " + fmt::format("{}", epsilon_)) + "}\\right)",
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node &d = *operands[0], &x = *operands[1];
    std::vector<Expression> squares, products;
    for (std::size_t k = 0; k < x.frame.shape.columns; ++k) {
      squares.push_back(squared(cell(x, row, k)));
      products.push_back(product({cell(d, row, k), cell(x, row, k)}));
    }
    const Expression mean = sum(std::move(squares)) / count_of_columns(x);
    const Expression square = epsilon_ == 0.0 ? mean : sum({mean, number(epsilon_)});
    const Expression mean_product = sum(std::move(products)) / count_of_columns(x);
    return {(cell(d, row, column) - product({cell(x, row, column), mean_product}) / square) / root_of(mean, epsilon_),
            reason_for(epsilon_)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 4;  // square and sum, product and sum, distance, division
    return {.element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { no_second_gradient(*this); }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    const auto size = static_cast<double>(rows.shape.columns);
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> d = rows.row(i);
      const std::span<const double> x = others[0].row(i);
      const double root = divisor_of(sum_of_squares(x) / size, epsilon_, i);
      const double share = dot_product(d, x) / size / (root * root);
      add_multiple(d, -share, x);
      attn::divide(d, root);
    }
  }

  double epsilon_;
};

// Operands: d, y and x.
class UnitRowsGradient final : public InPlace {
 public:
  const Op& op() const override { return op::unit_rows_gradient; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula d = within(Binding::product, operands[0]), y = within(Binding::product, operands[1]);
    const std::string d_latex = "{" + within(Binding::whole, operands[0]).latex + "}",
                      y_latex = "{" + within(Binding::whole, operands[1]).latex + "}";
    return {"(" + d.plain + " − " + y.plain + " ⊙ row sums of " + y.plain + " ⊙ " + d.plain + ") / ‖" +
                operands[2].plain + "‖, row by row",
            "\\frac{" + d_latex + "_{ij} - " + y_latex + "_{ij} \\sum_{k} " + y_latex + "_{ik} " + d_latex +
                "_{ik}}{\\lVert {" + operands[2].latex + "}_{i} \\rVert}",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node &d = *operands[0], &y = *operands[1], &x = *operands[2];
    const std::vector<double> values = x.row(row);
    if (std::ranges::all_of(values, [](double value) { return value == 0.0; })) {
      return {number(0.0), "the row has length 0 and no direction"};
    }
    const int exponent = exponent_of(values);
    std::vector<Expression> squares, products;
    for (std::size_t k = 0; k < values.size(); ++k) {
      Expression part = cell(x, row, k);
      if (exponent != 0) part = std::move(part) / number(std::ldexp(1.0, exponent));
      squares.push_back(squared(std::move(part)));
      products.push_back(product({cell(y, row, k), cell(d, row, k)}));
    }
    Expression length = call(square_root, sum(std::move(squares)));
    if (exponent != 0) length = product({number(std::ldexp(1.0, exponent)), std::move(length)});
    return {(cell(d, row, column) - product({cell(y, row, column), sum(std::move(products))})) / std::move(length),
            "what a gradient has in the direction of the row changes only its length, and is taken out"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // distance, division
    return {.multiply_adds = 2 * operands[0].cells(), .element_operations = passes * operands[0].cells()};
  }

  Gradients gradients(const Value&, const Value&, std::span<const Value>) const override { no_second_gradient(*this); }

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const std::span<double> d = rows.row(i);
      const std::span<const double> y = others[0].row(i), x = others[1].row(i);
      const int exponent = exponent_of(x);
      double squares = 0.0, along = 0.0;
      for (std::size_t k = 0; k < d.size(); ++k) {
        const double part = std::ldexp(x[k], -exponent);
        squares += part * part;
        along += y[k] * d[k];
      }
      const double length = std::ldexp(std::sqrt(squares), exponent);
      for (std::size_t k = 0; k < d.size(); ++k) d[k] = length == 0.0 ? 0.0 : (d[k] - y[k] * along) / length;
    }
  }
};

}  // namespace

Value row_variances_gradient(const Value& x, const Value& means, const Value& d) {
  return apply(RowVariancesGradient(), x, means, d);
}
Value divide_by_deviation(const Value& d, const Value& variances, double epsilon) {
  return apply(DivideByDeviation(epsilon), d, variances);
}
Value root_mean_square_gradient(const Value& d, const Value& x, double epsilon) {
  return apply(RootMeanSquareGradient(epsilon), d, x);
}
Value unit_rows_gradient(const Value& d, const Value& y, const Value& x) { return apply(UnitRowsGradient(), d, y, x); }

// --- rows
// One number for each row, and rows of length 1.

namespace {

class RowMeans final : public RowByRow {
 public:
  const Op& op() const override { return op::row_means; }

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
    return {"mean of each row of " + x.plain, "\\tfrac{1}{d} \\sum_{j} {" + x.latex + "}_{ij}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t) const override {
    const std::size_t size = operands[0]->frame.shape.columns;
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < size; ++j) terms.push_back(cell(*operands[0], row, j));
    return {sum(std::move(terms)) / number(static_cast<double>(size))};
  }

  Cost cost(std::span<const Shape> operands) const override { return {.element_operations = operands[0].cells()}; }

  Gradients gradients(const Value&, const Value& d, std::span<const Value> operands) const override {
    const Frame& x = operands[0].node().frame;
    const auto size = static_cast<double>(x.shape.columns);
    const std::string written = fmt::format("{}", size);
    return {repeat_columns(divide(d, {size, {written, written}}), x.shape.columns, x.columns)};
  }
};

class RowVariances final : public RowByRow {
 public:
  const Op& op() const override { return op::row_variances; }
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
  const Op& op() const override { return op::half_squared_norms; }
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
  const Op& op() const override { return op::unit_rows; }
  Bounds bounds() const override { return {-1.0, 1.0, "A number of a vector of length 1 lies between −1 and 1."}; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::product, operands[0]);
    return {x.plain + " / ‖" + operands[0].plain + "‖, row by row",
            "\\frac{{" + operands[0].latex + "}_{i}}{\\lVert {" + operands[0].latex + "}_{i} \\rVert}", Binding::words};
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
            exponent == 0 ? "the divisor is the length of the row"
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

Value row_means(const Value& x) { return apply(RowMeans(), x); }
Value row_variances(const Value& x, const Value& means) { return apply(RowVariances(), x, means); }
Value half_squared_norms(const Value& x) { return apply(HalfSquaredNorms(), x); }
Value unit_rows(const Value& x) { return apply(UnitRows(), x); }

}  // namespace attn
