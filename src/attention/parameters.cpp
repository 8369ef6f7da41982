#include "attention/parameters.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace attn {

std::optional<Value> find(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Projection> projection(const Parameters& parameters, char which) {
  const std::optional<Value> w = find(parameters, fmt::format("w_{}", which));
  const std::optional<Value> b = find(parameters, fmt::format("b_{}", which));
  if (!w && b)
    fail("b_{0} is given without w_{0}: give w_{0} too, since the bias is added to the product with it",
         which);
  if (!w) return std::nullopt;
  if (b && b->shape() != Shape{1, w->shape().columns}) {
    fail("b_{} is {} but w_{} is {}: the bias must be one row of {} numbers", which, to_string(b->shape()),
         which, to_string(w->shape()), w->shape().columns);
  }
  return Projection{*w, b};
}

FeedForward feed_forward_of(const Parameters& parameters) {
  const std::optional<Projection> inner = projection(parameters, '1'), outer = projection(parameters, '2');
  if (!inner || !outer) {
    fail("the feed-forward layer needs w_1 and w_2: give both, or --seed N for random ones");
  }
  return {*inner, *outer};
}

}  // namespace attn
