#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

class Normalize final : public Operation {
 public:
  std::string_view name() const override { return "normalize"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    for (std::size_t i = 0; i < result.shape().rows; ++i) {
      const double sum = sum_of(row(result, i));
      for (double& value : row(result, i)) value = sum == 0.0 ? 0.0 : value / sum;
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula scores = within(Binding::whole, operands[0]);
    return {scores.plain + " / its row's sum",
            "\\frac{{" + scores.latex + "}_{ij}}{\\sum_{j'} {" + scores.latex + "}_{ij'}}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& x = *operands[0];
    if (sum_of(attn::row(x.matrix(), row)) == 0.0) {
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
};

}  // namespace

Value normalize(Value x) {
  return apply(Normalize(), std::move(x));
}

}  // namespace attn
