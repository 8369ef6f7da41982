#include "graph/op/by_number.hpp"
#include "graph/op/operations.hpp"
#include "math/rows.hpp"

namespace attn {
namespace {

Formula formula(const Formula& x, const Formula& divisor) {
  return {within(Binding::product, x).plain + " / " + divisor.plain,
          "\\frac{" + x.latex + "}{" + divisor.latex + "}", Binding::product};
}

constexpr ByNumber kind = {"divide", attn::divide, formula, [](Expression x, Expression divisor) {
                             return std::move(x) / std::move(divisor);
                           }};

}  // namespace

Value divide(Value x, Scalar divisor) {
  return by_number(kind, std::move(x), std::move(divisor));
}

}  // namespace attn
