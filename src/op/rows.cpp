#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/definitions.hpp"
#include "math/rows.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "support/error.hpp"

// Operations that look at whole rows: weights from scores, and what layer normalization consists of.

namespace attn {
namespace {

// --- weights from scores

bool is_masked(double score) {
  return std::isinf(score) && score < 0.0;
}

class Softmax final : public InPlace {
 public:
  std::string_view name() const override { return "softmax"; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"softmax(" + operands[0].plain + ")",
            "\\operatorname{softmax}\\left(" + operands[0].latex + "\\right)"};
  }

  // The terms of −∞ are exp(−∞) = 0 and are left out.
  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& scores = *operands[0];
    const std::vector<double> values = scores.row(row);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    if (is_masked(values[largest])) {
      return {number(0.0), fmt::format("every number of row {} is −∞, so its weights are 0",
                                       scores.frame.rows.label(row))};
    }
    if (is_masked(values[column])) {
      return {number(0.0), fmt::format("its score is −∞, and exp(−∞) = 0")};
    }
    const auto term = [&](std::size_t j) {
      return call(exponential, cell(scores, row, j) - cell(scores, row, largest));
    };
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (!is_masked(values[j])) terms.push_back(term(j));
    }
    return {
        term(column) / sum(std::move(terms)),
        fmt::format(
            "{}[{},{}], the largest score of the row, is subtracted first: the weights stay the same, and "
            "exp cannot overflow",
            scores.title(), row + 1, largest + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 3;  // largest, exponential and sum, division
    return {.element_operations = passes * operands[0].cells()};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) softmax_row(rows.row(i));
  }
};

class Normalize final : public InPlace {
 public:
  std::string_view name() const override { return "normalize"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {scores.plain + " / its row's sum",
            "\\frac{{" + scores.latex + "}_{ij}}{\\sum_{j'} {" + scores.latex + "}_{ij'}}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& x = *operands[0];
    if (sum_of(x.row(row)) == 0.0) {
      return {number(0.0), "the row's sum is 0, and nothing can be divided by 0"};
    }
    std::vector<Expression> terms;
    for (std::size_t j = 0; j < x.frame.shape.columns; ++j) terms.push_back(cell(x, row, j));
    return {cell(x, row, column) / sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // sum, division
    return {.element_operations = passes * operands[0].cells()};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double sum = sum_of(rows.row(i));
      for (double& value : rows.row(i)) value = sum == 0.0 ? 0.0 : value / sum;
    }
  }
};

// The scores count for nothing but their number.
class Uniform final : public Operation {
 public:
  std::string_view name() const override { return "uniform"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  void compute(std::span<const Rows>, RowsToMake result) const override { definition::uniform(result); }
  RowRange needed(std::size_t, RowRange, std::span<const Shape>) const override { return {0, 0}; }

  Formula formula(std::span<const Formula> operands) const override {
    return {"1 / the number of columns of " + within(Binding::whole, operands[0]).plain,
            "\\frac{1}{\\operatorname{columns}\\left(" + operands[0].latex + "\\right)}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t, std::size_t) const override {
    return {number(1.0) / number(static_cast<double>(operands[0]->frame.shape.columns)),
            "every column counts the same, whatever the scores are"};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

std::size_t place_of_largest(std::span<const double> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

class Largest final : public InPlace {
 public:
  std::string_view name() const override { return "largest"; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {"1 at the row's largest of " + scores.plain + ", else 0",
            "\\operatorname{onehot}\\left(\\arg\\max_{j} {" + scores.latex + "}_{ij}\\right)",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_largest(operands[0]->row(row));
    return {number(place == column ? 1.0 : 0.0), fmt::format("the largest of row {} is {}[{},{}]", row + 1,
                                                             operands[0]->title(), row + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override { definition::largest(rows, rows); }
};

// --- one number for each row

class RowMeans final : public RowByRow {
 public:
  std::string_view name() const override { return "row_means"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("mean")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    definition::row_means(operands[0], result);
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
};

// What rounding has left of the distances from the mean, of which the mean is 0 in exact arithmetic: it is
// nothing unless the numbers lie much closer together than to 0 (Chan, Golub and LeVeque 1983, Algorithms for
// Computing the Sample Variance: the corrected two-pass algorithm).
double mean_distance(std::span<const double> x, double mean) {
  double sum = 0.0;
  for (const double value : x) sum += value - mean;
  return sum / static_cast<double>(x.size());
}

class RowVariances final : public RowByRow {
 public:
  std::string_view name() const override { return "row_variances"; }

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
      double sum = 0.0;
      for (const double value : x) sum += (value - mean) * (value - mean);
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
};

class HalfSquaredNorms final : public RowByRow {
 public:
  std::string_view name() const override { return "half_squared_norms"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("norm")};
  }

  void compute(std::span<const Rows> operands, RowsToMake result) const override {
    for (std::size_t i = result.first; i < result.end(); ++i) {
      double sum = 0.0;
      for (const double value : operands[0].row(i)) sum += value * value;
      result.row(i)[0] = sum / 2.0;
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
};

double sum_of_squares(std::span<const double> row) {
  double squares = 0.0;
  for (const double value : row) squares += value * value;
  return squares;
}

// The power of two by which a row is divided so that the sum of its squares can be told in full: 2^0, but
// where its numbers are very large or very small. A division by a power of two rounds nothing.
int exponent_of(std::span<const double> row) {
  if (std::isnormal(sum_of_squares(row))) return 0;
  double largest = 0.0;
  for (const double value : row) largest = std::max(largest, std::fabs(value));
  return largest == 0.0 || std::isinf(largest) ? 0 : std::ilogb(largest);
}

class UnitRows final : public InPlace {
 public:
  std::string_view name() const override { return "unit_rows"; }

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

// --- normalization

// √(x + ε); ε is not written where it is 0.
Formula root_of(const Formula& x, double epsilon) {
  const std::string more = epsilon == 0.0 ? "" : fmt::format(" + {}", epsilon);
  return {fmt::format("√({}{})", x.plain, more), fmt::format("\\sqrt{{{}{}}}", x.latex, more)};
}

Expression root_of(Expression x, double epsilon) {
  return call(square_root, epsilon == 0.0 ? std::move(x) : sum({std::move(x), number(epsilon)}));
}

// The root of a row, by which its numbers are divided.
double divisor_of(double square, double epsilon, std::size_t row) {
  const double root = std::sqrt(square + epsilon);
  if (root == 0.0) fail("row {} cannot be normalized: it would be divided by 0; give an ε above 0", row + 1);
  return root;
}

std::string reason_for(double epsilon) {
  return epsilon == 0.0 ? "" : fmt::format("{} avoids a division by 0", epsilon);
}

class Standardize final : public InPlace {
 public:
  explicit Standardize(double epsilon) : epsilon_(epsilon) {}

  std::string_view name() const override { return "standardize"; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }

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

 private:
  void change(RowsToMake rows, std::span<const Rows> others) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      const double mean = others[0](i, 0), deviation = divisor_of(others[1](i, 0), epsilon_, i);
      const double rest = mean_distance(rows.row(i), mean);
      for (double& value : rows.row(i)) value = ((value - mean) - rest) / deviation;
    }
  }

  double epsilon_;
};

class DivideByRootMeanSquare final : public InPlace {
 public:
  explicit DivideByRootMeanSquare(double epsilon) : epsilon_(epsilon) {}

  std::string_view name() const override { return "divide_by_root_mean_square"; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula x = within(Binding::product, operands[0]);
    const Formula mean = {
        "mean of each row of " + within(Binding::whole, operands[0]).plain + "²",
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

 private:
  void change(RowsToMake rows, std::span<const Rows>) const override {
    for (std::size_t i = rows.first; i < rows.end(); ++i) {
      double sum = 0.0;
      for (const double value : rows.row(i)) sum += value * value;
      const double root = divisor_of(sum / static_cast<double>(rows.shape.columns), epsilon_, i);
      for (double& value : rows.row(i)) value /= root;
    }
  }

  double epsilon_;
};

}  // namespace

Value softmax(const Value& scores) {
  return apply(Softmax(), scores);
}
bool is_softmax(const Operation& operation) {
  return dynamic_cast<const Softmax*>(&operation);
}
Value normalize(const Value& x) {
  return apply(Normalize(), x);
}
Value uniform(const Value& scores) {
  return apply(Uniform(), scores);
}
Value largest(const Value& scores) {
  return apply(Largest(), scores);
}

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
Value standardize(const Value& x, const Value& means, const Value& variances, double epsilon) {
  return apply(Standardize(epsilon), x, means, variances);
}
Value divide_by_root_mean_square(const Value& x, double epsilon) {
  return apply(DivideByRootMeanSquare(epsilon), x);
}

}  // namespace attn
