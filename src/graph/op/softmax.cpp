#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

bool is_masked(double score) {
  return std::isinf(score) && score < 0.0;
}

class Softmax final : public Operation {
 public:
  std::string_view name() const override { return "softmax"; }

  Frame frame(Operands operands) const override { return operands[0]->frame; }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = std::move(operands[0]).take();
    for (std::size_t i = 0; i < result.shape().rows; ++i) softmax_row(row(result, i));
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {"softmax(" + operands[0].plain + ")",
            "\\operatorname{softmax}\\left(" + operands[0].latex + "\\right)"};
  }

  // The terms of masked keys are exp(−∞) = 0 and are left out.
  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const Node& scores = *operands[0];
    const std::span<const double> values = attn::row(scores.matrix(), row);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    if (is_masked(values[largest])) {
      return {number(0.0), fmt::format("all keys are masked for query {}, so its weights are 0",
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
};

}  // namespace

Value softmax(Value scores) {
  return apply(Softmax(), std::move(scores));
}

}  // namespace attn
