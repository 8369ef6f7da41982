#include "graph/op/operations.hpp"
#include "graph/op/replacement.hpp"

namespace attn {
namespace {

class Replace final : public Replacement {
 public:
  explicit Replace(double fill) : Replacement(fill, fill) {}
  std::string_view name() const override { return "replace"; }
};

}  // namespace

Value replace(Value x, Value kept, double fill) {
  return apply(Replace(fill), std::move(x), std::move(kept));
}

}  // namespace attn
