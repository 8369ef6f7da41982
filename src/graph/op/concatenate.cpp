#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

class Concatenate final : public Operation {
 public:
  std::string_view name() const override { return "concatenate"; }

  Frame frame(Operands operands) const override {
    Frame result = operands[0]->frame;
    result.columns = axis(result.columns.name);
    result.shape.columns = 0;
    for (const Node* part : operands) {
      if (part->frame.shape.rows != result.shape.rows) {
        fail("{} has {} rows but {} has {}: matrices side by side need the same number of rows",
             operands[0]->title(), result.shape.rows, part->title(), part->frame.shape.rows);
      }
      result.shape.columns += part->frame.shape.columns;
    }
    return result;
  }

  Matrix compute(std::span<Value> operands) const override {
    Shape shape = operands[0].shape();
    shape.columns = 0;
    for (const Value& part : operands) shape.columns += part.shape().columns;
    Matrix result = make_matrix(shape);
    for (std::size_t i = 0; i < shape.rows; ++i) {
      auto place = row(result, i).begin();
      for (const Value& part : operands) place = std::ranges::copy(row(part.matrix(), i), place).out;
    }
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    Formula result = operands[0];
    for (const Formula& part : operands.subspan(1)) {
      result.plain += "; " + part.plain;
      result.latex += " ; " + part.latex;
    }
    return {"[" + result.plain + "]", "\\left[" + result.latex + "\\right]"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    for (const Node* part : operands) {
      if (column < part->frame.shape.columns) return {cell(*part, row, column)};
      column -= part->frame.shape.columns;
    }
    return {};
  }

  Cost cost(std::span<const Shape> operands) const override {
    Cost total;
    for (const Shape& part : operands) total.element_operations += part.cells();
    return total;
  }
};

}  // namespace

Value concatenate(std::vector<Value> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Graph& graph = parts.front().graph();
  return graph.apply(std::make_unique<const Concatenate>(), std::move(parts));
}

}  // namespace attn
