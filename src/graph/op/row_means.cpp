#include <numeric>

#include "graph/op/operations.hpp"

namespace attn {
namespace {

class RowMeans final : public Operation {
 public:
  std::string_view name() const override { return "row_means"; }

  Frame frame(Operands operands) const override {
    const Frame& x = operands[0]->frame;
    return {{x.shape.rows, 1}, x.rows, axis("mean")};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix& x = operands[0].matrix();
    Matrix result({x.shape().rows, 1});
    for (std::size_t i = 0; i < x.shape().rows; ++i) {
      const std::span<const double> cells = row(x, i);
      result(i, 0) = std::accumulate(cells.begin(), cells.end(), 0.0) / static_cast<double>(cells.size());
    }
    return result;
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

}  // namespace

Value row_means(Value x) {
  return apply(RowMeans(), std::move(x));
}

}  // namespace attn
