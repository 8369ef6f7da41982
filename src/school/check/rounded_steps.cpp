#include "school/check/rounded_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

constexpr RoundedRoot usual_roots[] = {
    {1, RoundOrCut::nearest, false}, {2, RoundOrCut::nearest, false}, {3, RoundOrCut::nearest, false},
    {0, RoundOrCut::nearest, false}, {4, RoundOrCut::nearest, false}, {1, RoundOrCut::cut, false},
    {2, RoundOrCut::cut, false},     {3, RoundOrCut::cut, false},     {2, RoundOrCut::nearest, true},
    {3, RoundOrCut::nearest, true},  {1, RoundOrCut::nearest, true},  {4, RoundOrCut::nearest, true},
};

double fast_exponential(double x) {  // (Schraudolph 1999)
  constexpr double most = 700.0;
  if (!(std::fabs(x) < most)) return std::exp(x);
  const double high = std::floor(1048576.0 / std::numbers::ln2 * x + 1072693248.0 - 60801.0);
  const double exponent = std::floor(high / 1048576.0);
  return std::ldexp(1.0 + (high - exponent * 1048576.0) / 1048576.0, static_cast<int>(exponent) - 1023);
}
double compounded(double x) { return std::isfinite(x) ? std::pow(1.0 + x / 256.0, 256.0) : std::exp(x); }
double compounded_further(double x) { return std::isfinite(x) ? std::pow(1.0 + x / 1024.0, 1024.0) : std::exp(x); }

constexpr OtherExponential fast_exponentials[] = {
    {"exponentials approximated by their bits (Schraudolph 1999)", fast_exponential},
    {"exponentials approximated as (1 + x/256)²⁵⁶", compounded},
    {"exponentials approximated as (1 + x/1024)¹⁰²⁴", compounded_further},
};

}  // namespace

// --- how numbers are rounded

double kept(double x, int decimals, RoundOrCut keep) {
  if (!std::isfinite(x)) return x;
  constexpr double slack = 1e-9;  // 0.29999999999 is 0.3
  const double unit = std::pow(10.0, decimals), scaled = x * unit;
  if (keep == RoundOrCut::nearest_even) return std::nearbyint(scaled) / unit;
  const double away = scaled + std::copysign(slack, scaled);
  return (keep == RoundOrCut::cut ? std::trunc(away) : std::round(away)) / unit;
}

// --- steps

bool is_step(const Node& node) {
  return !node.name.empty() && node.op && !node.is_alias() && node.family == &family::forward &&
         (node.content() == Content::numbers || node.content() == Content::weights);
}

Matrix each_number(const Matrix& matrix, const OfNumber& function) {
  Matrix result = matrix;
  for (double& x : cells(result)) x = function(x);
  return result;
}

Change behind_each(std::function<bool(const Node& node)> where, OfNumber function) {
  return {std::move(where), [function = std::move(function)](RewriteSite at) -> Made {
            return at.like(each_number(at.itself().matrix(), function));
          }};
}

// --- the root

bool divides_by_a_root(const Node& node) {
  const Scalar* const by = makes(node, role::scaled) ? node.find(setting::number) : nullptr;
  if (!by || node.op != &op::divide) return false;
  const double square = by->value * by->value;
  return std::fabs(square - std::nearbyint(square)) < 1e-9 && by->value != std::nearbyint(by->value);
}

std::span<const RoundedRoot> rounded_roots() { return usual_roots; }

double root_kept(double root, const RoundedRoot& as) {
  return kept(as.is_reciprocal ? 1.0 / root : root, as.decimals, as.keep);
}

Change with_rounded_root(const RoundedRoot& as) {
  return {divides_by_a_root, [as](RewriteSite at) -> Made {
            const double number = root_kept(at.node.find(setting::number)->value, as);
            return as.is_reciprocal ? times(at[0], plain_number(number)) : divide(at[0], plain_number(number));
          }};
}

// --- exponentials

std::span<const OtherExponential> other_exponentials() { return fast_exponentials; }

Change softmax_by(OfNumber function, bool less_largest) {
  return {is_softmax_of_attention, [function = std::move(function), less_largest](RewriteSite at) -> Made {
            Matrix weights = at[0].matrix();
            for (std::size_t i = 0; i < weights.shape().rows; ++i) {
              const std::span<double> own = row(weights, i);
              const double largest = std::ranges::max(own);
              double sum = 0.0;
              for (double& x : own) sum += x = is_masked(x) ? 0.0 : function(less_largest ? x - largest : x);
              // Nobody goes on with a row of which nothing is left.
              if (sum == 0.0 && !is_masked(largest)) fail("{}: all exponentials of a row are 0", at.node.title());
              for (double& x : own) x = sum > 0.0 ? x / sum : 0.0;
            }
            return at.like(std::move(weights));
          }};
}

Change with_exponentials_as(const Exponentials& as) {
  const OfNumber power_of = [as](double x) {
    const double power = std::pow(as.base, x);
    return as.decimals ? kept(power, *as.decimals, as.keep) : power;
  };
  return softmax_by(power_of, as.less_largest);
}

// --- all of it

std::vector<Change> HandRounding::changes(const Node* const& compared) const {
  std::vector<Change> all;
  for (const auto& [role, decimals] : roles) {
    all.push_back(behind_each(
        [role = role, &compared](const Node& node) {
          return &node != compared && is_step(node) && (!role || node.is(*role));
        },
        [decimals = decimals, keep = keep](double x) { return kept(x, decimals, keep); }));
  }
  if (exponentials) all.push_back(with_exponentials_as(*exponentials));
  if (root) all.push_back(with_rounded_root(*root));
  return all;
}

std::string HandRounding::told(const Node* scaled) const {
  const std::string_view verb = keep == RoundOrCut::cut ? "cut at" : "rounded to";
  std::vector<std::string> parts;
  for (const auto& [role, decimals] : roles) {
    parts.push_back(fmt::format("{} {} {}", role ? std::string(role->leaf) : "each step", verb,
                                count_of(static_cast<std::size_t>(decimals), "decimal")));
  }
  if (exponentials && exponentials->decimals)
    parts.push_back(fmt::format("exponentials {} {}", exponentials->keep == RoundOrCut::cut ? "cut at" : "rounded to",
                                count_of(static_cast<std::size_t>(*exponentials->decimals), "decimal")));
  if (exponentials && exponentials->base != std::numbers::e)
    parts.push_back(fmt::format("e taken as {}", exponentials->base));
  if (root && scaled) {
    const double value = scaled->find(setting::number)->value;
    parts.push_back(fmt::format("{}√{} taken as {}", root->is_reciprocal ? "1/" : "", std::nearbyint(value * value),
                                root_kept(value, *root)));
  }
  return list_in_words(parts);
}

}  // namespace attn
