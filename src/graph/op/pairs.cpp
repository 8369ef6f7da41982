#include "graph/op/axis_of_pairs.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

class Pairs final : public Operation {
 public:
  std::string_view name() const override { return "pairs"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Frame &q = operands[0]->frame, &k = operands[1]->frame;
    const std::size_t size = q.shape.columns + k.shape.columns;
    return {{q.shape.rows * k.shape.rows, size}, axis_of_pairs(q, k, size), axis(q.columns.name)};
  }

  Matrix compute(std::span<Value> operands) const override {
    const Matrix &q = operands[0].matrix(), &k = operands[1].matrix();
    const std::size_t keys = k.shape().rows, of_query = q.shape().columns, of_key = k.shape().columns;
    Matrix result({q.shape().rows * keys, of_query + of_key});
    for (std::size_t pair = 0; pair < result.shape().rows; ++pair) {
      for (std::size_t c = 0; c < of_query; ++c) result(pair, c) = q(pair / keys, c);
      for (std::size_t c = 0; c < of_key; ++c) result(pair, of_query + c) = k(pair % keys, c);
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    const Formula q = within(Binding::whole, operands[0]), k = within(Binding::whole, operands[1]);
    return {"[" + q.plain + "ᵢ; " + k.plain + "ⱼ] for every pair i, j",
            "\\left[{" + q.latex + "}_{i} ; {" + k.latex + "}_{j}\\right]", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    const std::size_t keys = operands[1]->frame.shape.rows, of_query = operands[0]->frame.shape.columns;
    if (column < of_query) return {cell(*operands[0], row / keys, column)};
    return {cell(*operands[1], row % keys, column - of_query)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    const Shape q = operands[0], k = operands[1];
    return {.element_operations = q.rows * k.rows * (q.columns + k.columns)};
  }
};

}  // namespace

Value pairs(Value q, Value k) {
  return apply(Pairs(), std::move(q), std::move(k));
}

}  // namespace attn
