#include <fmt/format.h>

#include "math/row_gradients.hpp"
#include "math/rows.hpp"
#include "op/gradients.hpp"
#include "op/known.hpp"
#include "op/operations.hpp"
#include "op/row_by_row.hpp"
#include "op/row_numbers.hpp"

// What normalization divides the numbers of a row by.

namespace attn {
namespace {

class Standardize final : public InPlace {
 public:
  explicit Standardize(double epsilon) : epsilon_(epsilon) {}

  std::string_view name() const override { return "standardize"; }
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
    const Value sums =
        times(row_sums(multiply(by_x, result)), {-0.5, {"(−½)", "\\left(-\\tfrac{1}{2}\\right)"}});
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

  std::string_view name() const override { return "divide_by_root_mean_square"; }
  std::vector<Attribute> attributes() const override { return {{"epsilon", epsilon_}}; }
  double epsilon() const { return epsilon_; }

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
Value divide_by_root_mean_square(const Value& x, double epsilon) {
  return apply(DivideByRootMeanSquare(epsilon), x);
}

}  // namespace attn
