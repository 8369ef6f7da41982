#include <fmt/format.h>

#include <algorithm>

#include "graph/op/operations.hpp"

namespace attn {
namespace {

std::size_t place_of_largest(std::span<const double> row) {
  return static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
}

class Largest final : public Operation {
 public:
  std::string_view name() const override { return "largest"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      const std::size_t place = place_of_largest(row(result, i));
      std::ranges::fill(row(result, i), 0.0);
      result(i, place) = 1.0;
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {"1 at the row's largest of " + scores.plain + ", else 0",
            "\\operatorname{onehot}\\left(\\arg\\max_{j} {" + scores.latex + "}_{ij}\\right)",
            Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t place = place_of_largest(attn::row(operands[0]->matrix(), row));
    return {number(place == column ? 1.0 : 0.0), fmt::format("the largest of row {} is {}[{},{}]", row + 1,
                                                             operands[0]->title(), row + 1, place + 1)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }
};

}  // namespace

Value largest(Value scores) {
  return apply(Largest(), std::move(scores));
}

}  // namespace attn
