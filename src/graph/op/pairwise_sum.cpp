#include "graph/op/axis_of_pairs.hpp"
#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class PairwiseSum final : public Operation {
 public:
  std::string_view name() const override { return "pairwise_sum"; }

  Frame frame(Operands operands) const override {
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    if (q.shape.columns != k.shape.columns) {
      fail("{} is {} but {} is {}: both must have the same number of columns to be added pair by pair",
           operands[0]->title(), to_string(q.shape), operands[1]->title(), to_string(k.shape));
    }
    return {{q.shape.rows * k.shape.rows, q.shape.columns}, axis_of_pairs(q, k, q.shape.columns), q.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix &q = operands[0].matrix(), &k = operands[1].matrix();
    const std::size_t keys = k.shape().rows, size = q.shape().columns;
    Matrix result({q.shape().rows * keys, size});
    for (std::size_t pair = 0; pair < result.shape().rows; ++pair) {
      for (std::size_t c = 0; c < size; ++c) result(pair, c) = q(pair / keys, c) + k(pair % keys, c);
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {q.plain + "ᵢ + " + k.plain + "ⱼ for every pair i, j",
            "{" + q.latex + "}_{i} + {" + k.latex + "}_{j}", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t keys = operands[1]->frame.shape.rows;
    return {sum({cell(*operands[0], row / keys, column), cell(*operands[1], row % keys, column)})};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].rows * operands[1].cells()};
  }
};

}  // namespace

Value pairwise_sum(Value q, Value k) {
  return apply(PairwiseSum(), std::move(q), std::move(k));
}

}  // namespace attn
