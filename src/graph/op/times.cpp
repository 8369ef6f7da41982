#include "graph/op/by_number.hpp"
#include "graph/op/operations.hpp"

namespace attn {
namespace {

void multiply_cells(std::span<double> cells, double factor) {
  for (double& cell : cells) cell *= factor;
}

Formula formula(const Formula& x, const Formula& factor) {
  const Formula left = within(Binding::product, x);
  return {left.plain + " ⋅ " + factor.plain, left.latex + " \\cdot " + factor.latex, Binding::product};
}

constexpr ByNumber kind = {"times", multiply_cells, formula, [](Expression x, Expression factor) {
                             return product({std::move(x), std::move(factor)});
                           }};

}  // namespace

Value times(Value x, Scalar factor) {
  return by_number(kind, std::move(x), std::move(factor));
}

}  // namespace attn
