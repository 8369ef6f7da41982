#include "graph/op/join.hpp"
#include "graph/op/operations.hpp"

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

Formula formula(std::span<const Formula> operands) {
  const Formula all = listed(operands, ", ", " \\\\ ");
  return {"rows(" + all.plain + ")", "\\begin{bmatrix}" + all.latex + "\\end{bmatrix}"};
}

constexpr Join kind = {"stack", Along::rows, "below each other", joined_rows, formula};

}  // namespace

Value stack(std::vector<Value> parts) {
  return join(kind, std::move(parts));
}

}  // namespace attn
