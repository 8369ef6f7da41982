#include <algorithm>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// The labels of all parts one after another, where every part has them.
Axis joined_rows(Operation::Operands parts) {
  std::vector<std::string> labels;
  for (const Node* part : parts) {
    const Axis& rows = part->frame.rows;
    if (!rows.labels) return axis(rows.name);
    labels.insert(labels.end(), rows.labels->begin(), rows.labels->end());
  }
  return axis(parts[0]->frame.rows.name, std::move(labels));
}

class Stack final : public Operation {
 public:
  std::string_view name() const override { return "stack"; }

  Frame frame(Operands operands) const override {
    const Frame& first = operands[0]->frame;
    std::size_t count = 0;
    for (const Node* part : operands) {
      if (part->frame.shape.columns != first.shape.columns) {
        fail("{} has {} columns but {} has {}: matrices below each other need the same number of columns",
             operands[0]->title(), first.shape.columns, part->title(), part->frame.shape.columns);
      }
      count += part->frame.shape.rows;
    }
    return {{count, first.shape.columns}, joined_rows(operands), first.columns};
  }

  Matrix compute(std::span<Value> operands) const override {
    Shape shape{0, operands[0].shape().columns};
    for (const Value& part : operands) shape.rows += part.shape().rows;
    Matrix result = make_matrix(shape);
    auto place = cells(result).begin();
    for (const Value& part : operands) place = std::ranges::copy(cells(part.matrix()), place).out;
    return result;
  }

  Formula formula(std::span<const Formula> operands) const override {
    Formula result = operands[0];
    for (const Formula& part : operands.subspan(1)) {
      result.plain += ", " + part.plain;
      result.latex += " \\\\ " + part.latex;
    }
    return {"rows(" + result.plain + ")", "\\begin{bmatrix}" + result.latex + "\\end{bmatrix}"};
  }

  Explanation explain(Operands operands, std::size_t row, std::size_t column) const override {
    for (const Node* part : operands) {
      if (row < part->frame.shape.rows) return {cell(*part, row, column)};
      row -= part->frame.shape.rows;
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

Value stack(std::vector<Value> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  Graph& graph = parts.front().graph();
  return graph.apply(std::make_unique<const Stack>(), std::move(parts));
}

}  // namespace attn
