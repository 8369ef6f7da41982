#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class RowVariances final : public Operation {
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

  Matrix compute(std::span<Value> operands) const override {
    const Matrix &x = operands[0].matrix(), &means = operands[1].matrix();
    Matrix result({x.shape().rows, 1}, 0.0);
    for (std::size_t i = 0; i < x.shape().rows; ++i) {
      const double mean = means(i, 0);
      for (const double value : row(x, i)) result(i, 0) += (value - mean) * (value - mean);
      result(i, 0) /= static_cast<double>(x.shape().columns);
    }
    return result;
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

}  // namespace

Value row_variances(Value x, Value means) {
  return apply(RowVariances(), std::move(x), std::move(means));
}

}  // namespace attn
