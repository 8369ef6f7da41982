#include "attention/feed_forward.hpp"

namespace attn {

Value feed_forward(const Value& x, const FeedForward& layer) {
  Value inner = name(role::inner, linear(x, layer.inner));
  Value rectified = name(role::rectified, relu(inner));
  return linear(rectified, layer.outer);
}

}  // namespace attn
