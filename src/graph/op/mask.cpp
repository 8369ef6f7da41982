#include <limits>

#include "graph/op/operations.hpp"
#include "graph/op/replacement.hpp"

namespace attn {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// A finite fill in a whole row would come out of the softmax as equal weights on masked keys.
class Mask final : public Replacement {
 public:
  explicit Mask(double fill) : Replacement(fill, minus_infinity) {}
  std::string_view name() const override { return "mask"; }
};

}  // namespace

double mask_fill(const Operation& operation) {
  const auto* mask = dynamic_cast<const Mask*>(&operation);
  return mask ? mask->fill() : minus_infinity;
}

Value mask(Value scores, Value allowed, double fill) {
  return apply(Mask(fill), std::move(scores), std::move(allowed));
}

}  // namespace attn
