#include "attention/parameters.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace attn {

std::optional<Value> find(const Parameters& parameters, const Role& role) {
  const auto found = parameters.find(&role);
  return found == parameters.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Projection> projection(const Parameters& parameters, const LinearRoles& of) {
  const std::string_view w_name = of.w.leaf, b_name = of.b.leaf;
  const std::optional<Value> w = find(parameters, of.w), b = find(parameters, of.b);
  if (!w && b)
    fail("{0} is given without {1}: give {1} too, since the bias is added to the product with it", b_name,
         w_name);
  if (!w) return std::nullopt;
  if (b && b->shape() != Shape{1, w->shape().columns}) {
    fail("{} is {} but {} is {}: the bias must be one row of {} numbers", b_name, to_string(b->shape()),
         w_name, to_string(w->shape()), w->shape().columns);
  }
  return Projection{*w, b};
}

FeedForward feed_forward_of(const Parameters& parameters) {
  const std::optional<Projection> inner = projection(parameters, linear_layer::inner),
                                  outer = projection(parameters, linear_layer::outer);
  if (!inner || !outer) {
    fail("the feed-forward layer needs w_1 and w_2: give both, or ‹seed› N for random ones");
  }
  return {*inner, *outer};
}

}  // namespace attn
