#include "graph/op/operations.hpp"
#include "math/product.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Matmul final : public Operation {
 public:
  std::string_view name() const override { return "matmul"; }

  Frame frame(Operands operands) const override {
    const Frame &a = operands[0]->frame, &b = operands[1]->frame;
    if (a.shape.columns != b.shape.rows) {
      fail("{} is {} but {} is {}: the first must have as many columns as the second has rows",
           operands[0]->title(), to_string(a.shape), operands[1]->title(), to_string(b.shape));
    }
    return {{a.shape.rows, b.shape.columns}, a.rows, b.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    return product(operands[0].matrix(), operands[1].matrix());
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula a = within(Binding::product, operands[0]), b = within(Binding::whole, operands[1]);
    return {a.plain + " ⋅ " + b.plain, a.latex + " \\, " + b.latex, Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> terms;
    for (std::size_t k = 0; k < operands[1]->frame.shape.rows; ++k) {
      terms.push_back(attn::product({cell(*operands[0], row, k), cell(*operands[1], k, column)}));
    }
    return {sum(std::move(terms))};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.multiply_adds = operands[0].rows * operands[0].columns * operands[1].columns};
  }
};

}  // namespace

Value matmul(Value a, Value b) {
  return apply(Matmul(), std::move(a), std::move(b));
}

}  // namespace attn
