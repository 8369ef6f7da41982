#include "core/math/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/support/number.hpp"

namespace attn {
namespace {

constexpr NumberType types[] = {
    {Precision::float16, "float16", 4e-3, 1e-5, 4e-3, 11, -14},
    {Precision::bfloat16, "bfloat16", 3e-2, 1e-4, 3e-2, 8, -126},
    {Precision::float32, "float32", 1e-5, 1e-7, 1e-6, 24, -126},
    {Precision::float64, "float64", 1e-9, 1e-12, 1e-9, 53, -1022},
};

}  // namespace

const NumberType& number_type(Precision precision) {
  const Precision known = precision == Precision::written ? Precision::float64 : precision;
  return *std::ranges::find(types, known, &NumberType::precision);
}

double NumberType::step_at(double x) const {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, least_exponent) - (bits - 1));
}

// IEEE 754, round to nearest even; the largest exponent of these types is 1 − the least one, and that of
// bfloat16 is float32's.
double rounded_to(Precision type, double x) {
  const NumberType& row = number_type(type);
  if (!std::isfinite(x) || x == 0.0) return x;
  const double step = row.step_at(x);
  const double rounded = std::nearbyint(x / step) * step;
  const double too_large = std::ldexp(1.0, 1 - row.least_exponent) * 2.0;
  return std::fabs(rounded) >= too_large ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

Rounding Rounding::to_part(double part, double least) {
  Rounding rounding;
  rounding.part_ = part;
  rounding.least_ = least;
  return rounding;
}

Rounding Rounding::of_type(Precision type, double largest) {
  Rounding rounding;
  rounding.type_ = type;
  rounding.largest_ = largest;
  return rounding;
}

Rounding Rounding::of_computation(Precision type, double apart) {
  Rounding rounding = of_type(type);
  // With two digits, as told() says it.
  const double unit = std::pow(10.0, std::floor(std::log10(apart)) - 1.0);
  rounding.computed_apart_ = std::ceil(apart / unit) * unit;
  return rounding;
}

Rounding Rounding::to_decimals(int decimals, std::optional<int> digits, double largest) {
  Rounding rounding;
  rounding.decimals_ = decimals;
  rounding.digits_ = digits;
  rounding.largest_ = largest;
  return rounding;
}

Rounding Rounding::of_both() const {
  Rounding rounding = *this;
  rounding.units_ = 1.0;
  return rounding;
}

double Rounding::unit_of(double number) const {
  const double of_decimals = std::pow(10.0, -*decimals_);
  if (!digits_ || number == 0.0 || !std::isfinite(number)) return of_decimals;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(number))));
  return std::max(of_decimals, std::pow(10.0, magnitude + 1 - *digits_));
}

double Rounding::most_apart(double one, double other, double largest) const {
  constexpr double slack = 1.001;  // they computed as well
  if (decimals_) return slack * units_ * unit_of(one) + more_;
  if (!type_) return part_ * std::max({least_, std::fabs(one), std::fabs(other)});
  if (computed_apart_) return *computed_apart_;
  const NumberType& type = number_type(*type_);
  return std::max(type.part * largest, type.least);
}

bool Rounding::same(double one, double other, double largest) const {
  if (one == other) return true;
  if (!std::isfinite(one) || !std::isfinite(other)) return std::isnan(one) && std::isnan(other);
  return std::fabs(one - other) <= most_apart(one, other, largest);
}

void Rounding::allow_more(double by, int decimals_of_inputs) {
  more_ = by;
  decimals_of_inputs_ = decimals_of_inputs;
}

std::string Rounding::told() const {
  if (computed_apart_)
    return fmt::format("as computed in {}, where numbers may be {} apart", number_type(*type_).name,
                       written_digits(*computed_apart_, 2));
  if (type_) return fmt::format("as {}", number_type(*type_).name);
  if (!decimals_) return part_ == 0.0 ? "to the last bit" : fmt::format("to {:g} of the larger one", part_);
  const std::string decimals = count_of(static_cast<std::size_t>(*decimals_), "decimal");
  if (more_ > 0.0)
    return fmt::format("to {}, and {} more, which inputs of {} leave open", decimals, written_digits(more_, 2),
                       count_of(static_cast<std::size_t>(decimals_of_inputs_), "decimal"));
  if (!digits_) return fmt::format("to {}", decimals);
  return fmt::format("to {} and at most {}", decimals,
                     count_of(static_cast<std::size_t>(*digits_), "significant digit"));
}

}  // namespace attn
