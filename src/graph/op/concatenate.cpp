#include "graph/op/join.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

// The columns of the parts are numbered anew.
Axis numbered_columns(Operation::Operands parts) {
  return axis(parts[0]->frame.columns.name);
}

Formula formula(std::span<const Formula> operands) {
  const Formula all = listed(operands, "; ", " ; ");
  return {"[" + all.plain + "]", "\\left[" + all.latex + "\\right]"};
}

constexpr Join kind = {"concatenate", Along::columns, "side by side", numbered_columns, formula};

}  // namespace

Value concatenate(std::vector<Value> parts) {
  return join(kind, std::move(parts));
}

}  // namespace attn
