#include "mistake/other_sizes.hpp"

#include "op/known.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

bool have_their_shapes(const Node& original, const std::vector<Value>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Frame &now = operands[i].node().frame, &before = original.operands[i]->frame;
    if (now.shape != before.shape || now.rows.batch != before.rows.batch) return false;
  }
  return true;
}

// Operations that know nothing of the shapes of their operands.
bool fits_all_shapes(const Operation& operation) {
  return is_softmax(operation) || number_of(operation) || function_of(operation) || is_join(operation) ||
         first_of_slice(operation) || epsilon_of(operation);
}

}  // namespace

Value operation_on(const Node& original, const std::vector<Value>& operands, Graph& graph) {
  const Operation& operation = *original.operation;
  if (have_their_shapes(original, operands) || fits_all_shapes(operation))
    return graph.apply(original.operation, operands);
  if (is_matmul(operation)) return matmul(operands[0], operands[1]);
  if (is_matmul_transposed(operation)) return matmul_transposed(operands[0], operands[1]);
  if (is_transposed_matmul(operation)) return transposed_matmul(operands[0], operands[1]);
  if (is_transpose(operation)) return transpose(operands[0]);
  if (const std::optional<Value> same = same_cell_by_cell(operation, operands)) return *same;
  fail("{}: the matrices that it is made of have other shapes now", original.title());
}

}  // namespace attn
