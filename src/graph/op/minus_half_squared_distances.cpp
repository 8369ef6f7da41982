#include "graph/op/operations.hpp"
#include "math/distance.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class MinusHalfSquaredDistances final : public Operation {
 public:
  std::string_view name() const override { return "minus_half_squared_distances"; }

  Frame frame(Operands operands) const override {
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    if (q.shape.columns != k.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to have a distance",
           operands[0]->title(), to_string(q.shape), operands[1]->title(), to_string(k.shape));
    }
    return {{q.shape.rows, k.shape.rows}, q.rows, k.rows};
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result = squared_distances(operands[0].matrix(), operands[1].matrix());
    for (double& cell : cells(result)) cell = 0.0 - cell / 2.0;  // so that a distance of 0 is not −0
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {"−½‖" + q.plain + "ᵢ − " + k.plain + "ⱼ‖²",
            "-\\tfrac{1}{2} \\lVert {" + q.latex + "}_{i} - {" + k.latex + "}_{j} \\rVert^{2}",
            Binding::product};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    std::vector<Expression> squares;
    for (std::size_t c = 0; c < operands[0]->frame.shape.columns; ++c) {
      squares.push_back(squared(cell(*operands[0], row, c) - cell(*operands[1], column, c)));
    }
    Expression distance = squares.size() == 1 ? std::move(squares.front()) : sum(std::move(squares));
    return {product({number(-0.5, {"−½", "-\\tfrac{1}{2}"}), std::move(distance)})};
  }

  // A difference for each term, and −½ for each pair.
  Cost cost(std::span<const Shape> operands) const override {
    const std::size_t pairs = operands[0].rows * operands[1].rows, terms = pairs * operands[0].columns;
    return {.multiply_adds = terms, .element_operations = terms + pairs};
  }
};

}  // namespace

Value minus_half_squared_distances(Value q, Value k) {
  return apply(MinusHalfSquaredDistances(), std::move(q), std::move(k));
}

}  // namespace attn
