#include "attention/feed_forward.hpp"

namespace attn {

Value feed_forward(Value x, const FeedForward& layer) {
  Value inner = name(role::inner, linear(std::move(x), layer.inner));
  Value rectified = name(role::rectified, relu(std::move(inner)));
  return linear(std::move(rectified), layer.outer);
}

}  // namespace attn
