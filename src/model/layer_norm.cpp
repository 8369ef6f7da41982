#include "model/layer_norm.hpp"

#include "op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

void require_row(const Value& parameter, const Value& x) {
  if (parameter.shape() == Shape{1, x.shape().columns}) return;
  fail("{} is {} but {} is {}: it must be one row of {} numbers", parameter.node().title(),
       to_string(parameter.shape()), x.node().title(), to_string(x.shape()), x.shape().columns);
}

}  // namespace

Value layer_norm(const Value& x, const LayerNorm& norm) {
  require_row(norm.gamma, x);
  if (norm.beta) require_row(*norm.beta, x);
  Value mean = name(role::mean, row_means(x));
  Value variance = name(role::variance, row_variances(x, mean));
  Value normalised = name(role::normalised, standardize(x, mean, variance, norm.epsilon));
  Value stretched = multiply(normalised, norm.gamma);
  return norm.beta ? add(stretched, *norm.beta) : stretched;
}

}  // namespace attn
