#include "core/model/dropout.hpp"

#include <fmt/format.h>

#include "core/op/operations.hpp"

namespace attn {

Value Dropout::apply(const Value& x, std::size_t number) {
  const Frame& frame = x.node().frame;
  kept_.push_back(std::make_shared<Matrix>(frame.shape, 1.0));
  const Value kept = x.graph().input(Name(role::allowed, number), kept_.back(), frame.rows, frame.columns);
  const std::string notation = fmt::format("{}", 1.0 - rate_);
  return divide(replace(x, kept, 0.0), {1.0 - rate_, {notation, notation}});
}

void Dropout::draw(Generator& generator) {
  for (const std::shared_ptr<Matrix>& kept : kept_) {
    for (double& cell : cells(*kept)) cell = uniform(generator) < rate_ ? 0.0 : 1.0;
  }
}

}  // namespace attn
