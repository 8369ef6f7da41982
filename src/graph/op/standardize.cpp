#include <fmt/format.h>

#include <cmath>

#include "graph/op/operations.hpp"

namespace attn {
namespace {

class Standardize final : public Operation {
 public:
  explicit Standardize(double epsilon) : epsilon_(epsilon) {}

  std::string_view name() const override { return "standardize"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    const Matrix &means = operands[1].matrix(), &variances = operands[2].matrix();
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      const double mean = means(i, 0), deviation = std::sqrt(variances(i, 0) + epsilon_);
      for (double& value : row(result, i)) value = (value - mean) / deviation;
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const std::string epsilon = fmt::format("{}", epsilon_);
    const Formula x = within(Binding::sum, operands[0]), mean = within(Binding::product, operands[1]),
                  variance = within(Binding::sum, operands[2]);
    return {
        fmt::format("({} − {}) / √({} + {})", x.plain, mean.plain, variance.plain, epsilon),
        fmt::format("\\frac{{{} - {}}}{{\\sqrt{{{} + {}}}}}", x.latex, mean.latex, variance.latex, epsilon),
        Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Expression distance = cell(*operands[0], row, column) - cell(*operands[1], row, 0);
    const Expression variance = sum({cell(*operands[2], row, 0), number(epsilon_)});
    return {distance / call(square_root, variance), fmt::format("{} avoids a division by 0", epsilon_)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    constexpr std::uint64_t passes = 2;  // distance, division
    return {.element_operations = passes * operands[0].cells()};
  }

 private:
  double epsilon_;
};

}  // namespace

Value standardize(Value x, Value means, Value variances, double epsilon) {
  return apply(Standardize(epsilon), std::move(x), std::move(means), std::move(variances));
}

}  // namespace attn
