#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Unpair final : public Operation {
 public:
  explicit Unpair(Frame result) : result_(std::move(result)) {}

  std::string_view name() const override { return "unpair"; }
  bool moves() const override { return true; }

  Frame frame(Operands operands) const override {
    const Shape pairs = operands[0]->frame.shape;
    if (pairs != Shape{result_.shape.cells(), 1}) {
      fail("{} is {}: it must have one column and a row for each of the {} pairs", operands[0]->title(),
           to_string(pairs), result_.shape.cells());
    }
    return result_;
  }

  Matrix compute(std::span<Value> operands) const override {
    Matrix result(result_.shape);
    std::ranges::copy(cells(operands[0].matrix()), cells(result).begin());
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    return {within(Binding::sum, operands[0]).plain + ", a row for each query",
            "\\operatorname{rows}\\left(" + operands[0].latex + "\\right)", Binding::words};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    return {cell(*operands[0], row * result_.shape.columns + column, 0)};
  }

  Cost cost(std::span<const Shape> operands) const override {
    return {.element_operations = operands[0].cells()};
  }

 private:
  Frame result_;
};

}  // namespace

Value unpair(Value pairs, const Value& q, const Value& k) {
  const Frame &queries = q.node().frame, &keys = k.node().frame;
  return apply(Unpair({{queries.shape.rows, keys.shape.rows}, queries.rows, keys.rows}), std::move(pairs));
}

}  // namespace attn
