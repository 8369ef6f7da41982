#include "model/norm.hpp"

#include <fmt/format.h>

#include <array>

#include "op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::array table = {
    NormKind{"layer", "layer normalization: mean 0 and variance 1, then γ and β", "layer normalization",
             "Layer normalization: subtract the mean of each row, and divide by", "variance", true,
             layer_norm},
    NormKind{"rms", "root mean square normalization (RMSNorm): mean of the squares 1, then γ",
             "root mean square normalization", "Root mean square normalization (RMSNorm): divide each row by",
             "mean of its squares", false, rms_norm},
};

void require_row(const Value& parameter, const Value& x) {
  if (parameter.shape() == Shape{1, x.shape().columns}) return;
  fail("{} is {} but {} is {}: it must be one row of {} numbers", parameter.node().title(),
       to_string(parameter.shape()), x.node().title(), to_string(x.shape()), x.shape().columns);
}

// What has been learned of each column.
Value rescaled(const Value& normalised, const NormParameters& parameters) {
  Value stretched = multiply(name(role::normalised, normalised), parameters.gamma);
  return parameters.beta ? add(stretched, *parameters.beta) : stretched;
}

}  // namespace

std::span<const NormKind> norm_kinds() {
  return table;
}

std::string root_in_words(const NormKind& kind, double epsilon) {
  if (epsilon != 0.0) return fmt::format("√({} + ε)", kind.spread);
  const bool one_word = kind.spread.find(' ') == std::string_view::npos;
  return one_word ? fmt::format("√{}", kind.spread) : fmt::format("√({})", kind.spread);
}

Value layer_norm(const Value& x, const NormParameters& parameters) {
  require_row(parameters.gamma, x);
  if (parameters.beta) require_row(*parameters.beta, x);
  Value mean = name(role::mean, row_means(x));
  Value variance = name(role::variance, row_variances(x, mean));
  return rescaled(standardize(x, mean, variance, parameters.epsilon), parameters);
}

Value rms_norm(const Value& x, const NormParameters& parameters) {
  require_row(parameters.gamma, x);
  return rescaled(divide_by_root_mean_square(x, parameters.epsilon), parameters);
}

}  // namespace attn
