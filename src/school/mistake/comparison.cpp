#include "school/mistake/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/math/rows.hpp"
#include "core/support/number.hpp"

namespace attn {
namespace {

bool is_whole_or_not_finite(double x) { return !std::isfinite(x) || x == std::nearbyint(x); }

// Few bits, as numbers have that people write by hand: 0.5, 2.75.
bool is_short(double x) {
  constexpr double bits = 4096.0;
  int exponent = 0;
  return !std::isfinite(x) || is_whole_or_not_finite(bits * std::frexp(x, &exponent));
}

// The shortest decimal that is this number of its type: how many digits it has, and how many of them behind
// the point.
struct Digits {
  int all = 0, decimals = 0;
};

Digits digits_of(double x, Precision type) {
  // 0.09 that was computed as 9 · 0.01 is 0.09 at 15 digits.
  const std::string shortest =
      type == Precision::float32 ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{:.15g}", x);
  Digits digits;
  const std::size_t exponent = shortest.find('e');
  const std::string mantissa = shortest.substr(0, exponent);
  const std::size_t point = mantissa.find('.');
  std::string figures;
  for (const char c : mantissa) {
    if (c >= '0' && c <= '9') figures += c;
  }
  int decimals = point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  if (mantissa.ends_with(".0")) {
    decimals = 0;
    figures.pop_back();
  }
  if (exponent != std::string::npos) decimals -= std::stoi(shortest.substr(exponent + 1));
  figures.erase(0, std::min(figures.find_first_not_of('0'), figures.size()));
  digits.all = static_cast<int>(figures.size());
  digits.decimals = std::max(decimals, 0);
  return digits;
}

// How many decimal digits a type tells apart. Each that the shortest decimal of a number leaves out is a chance of one
// in ten.
double digits_of_type(Precision type) { return number_type(type).bits * std::log10(2.0); }

// Numbers of a type are compared at their decimals only if there are several that hold no decimal exactly: 0.5 and 0.25
// may be all that there is of them. Fewer are enough where their type could tell many more decimals from these.
bool may_be_rounded_by_hand(std::span<const double> all, Precision type) {
  constexpr std::ptrdiff_t many = 4, few = 2;
  const std::ptrdiff_t count = std::ranges::count_if(all, [](double x) { return !is_short(x); });
  if (count >= many || count < few || (type != Precision::float32 && type != Precision::float64)) return count >= many;
  constexpr double least_digits = 8.0;  // that the numbers leave out together
  double left_out = 0.0;
  for (const double x : all) {
    if (!is_short(x)) left_out += digits_of_type(type) - digits_of(x, type).all;
  }
  return left_out >= least_digits;
}

// Numbers that were cut at a count of digits, as "%g" and std::cout write them: those that use all of the digits leave
// out decimals that others have. A number that was rounded at these decimals leaves out the last one in a tenth of all
// cases only, so six that are left out are no chance. Numbers that people write by hand say nothing, but whole ones
// that use all digits do, and one with more digits shows that none was cut.
bool are_cut_at_digits(std::span<const double> all, Precision type, const Digits& most) {
  constexpr int least_digits = 3, least_left_out = 6;
  constexpr int least_numbers = 2;
  constexpr double largest_whole = 1e15;
  int numbers = 0, left_out = 0;
  for (const double x : all) {
    if (!std::isfinite(x) || std::fabs(x) >= largest_whole) continue;
    Digits one = digits_of(x, type);
    if (is_whole_or_not_finite(x)) {
      one.all = 0;
      for (double rest = std::fabs(x); rest >= 1.0; rest = std::trunc(rest / 10.0)) {
        if (one.all > 0 || std::fmod(rest, 10.0) != 0.0) ++one.all;
      }
      if (one.all > most.all) return false;
    } else if (is_short(x) && most.all < 5) {
      continue;
    }
    if (one.all < most.all || one.decimals == most.decimals) continue;
    ++numbers;
    left_out += most.decimals - one.decimals;
  }
  return most.all >= least_digits && numbers >= least_numbers && left_out >= least_left_out;
}

// Whether numbers may have been rounded to decimals of which nothing is left: JSON from Python has 0.0 for 0.000.
bool may_have_lost_zeros(const MatrixFile& file) {
  return file.precision == Precision::written && file.kind == CellKind::real && !file.notation;
}

constexpr double half = 0.5;

// A number at so many digits.
double at_digits(double x, int digits) { return std::stod(fmt::format("{:.{}e}", x, digits - 1)); }

// Text with the shortest decimals of numbers of 16 bits, as NumPy writes them: each number is the shortest that is the
// nearest to one of that type. Of other numbers with so many digits some are not, and more have the last decimal.
bool are_shortest_of_float16(std::span<const double> all, const Digits& most) {
  constexpr double least_of_type = 3.0, least = 6.0;  // powers of ten to one
  constexpr int most_digits = 5;
  double of_type = 0.0, left_out = 0.0;
  for (const double x : all) {
    if (is_whole_or_not_finite(x)) continue;
    const Digits digits = digits_of(x, Precision::float64);
    const double held = rounded_to(Precision::float16, x);
    if (digits.all > most_digits || !std::isfinite(held) || at_digits(held, digits.all) != x) return false;
    if (digits.all > 1 && rounded_to(Precision::float16, at_digits(held, digits.all - 1)) == held) return false;
    of_type += std::max(0.0, std::log10(number_type(Precision::float16).step_at(held)) + digits.decimals);
    left_out += most.decimals - digits.decimals;
  }
  return of_type >= least_of_type && of_type + left_out >= least;
}

// Whether half a unit of the last decimal or digit is less than what a short computation in a type loses.
bool are_too_fine(int decimals, std::optional<int> digits, Precision type, double largest) {
  return half * Rounding::to_decimals(decimals, digits).unit_of(largest) < number_type(type).noise * largest;
}

}  // namespace

Rounding rounding_of(const MatrixFile& theirs, double largest, int decimals_beside) {
  const Precision precision = theirs.kind == CellKind::real ? theirs.precision : Precision::float64;
  if (!may_have_lost_zeros(theirs) || !std::ranges::all_of(cells(theirs.matrix), is_whole_or_not_finite))
    return rounding_of(theirs.matrix, precision, largest, theirs.notation);
  const bool count = decimals_beside >= 0 && !are_too_fine(decimals_beside, std::nullopt, Precision::float64, largest);
  return count ? Rounding::to_decimals(decimals_beside, std::nullopt, largest)
               : Rounding::of_type(Precision::float64, largest);
}

Rounding rounding_of(const Matrix& theirs, Precision precision, double largest,
                     const std::optional<NumberNotation>& notation) {
  const bool are_written = precision == Precision::written;
  Precision type = are_written ? Precision::float64 : precision;
  const std::span<const double> all = cells(theirs);
  // "5.4e+02" is whole, and has two digits all the same.
  const bool has_digits = notation && notation->is_scientific() && notation->digits > 1;
  if (std::ranges::all_of(all, is_whole_or_not_finite) && !has_digits && (!notation || notation->decimals == 0))
    return Rounding::of_type(type, largest);
  if (type == Precision::float64 &&
      std::ranges::all_of(all, [](double x) { return std::isnan(x) || x == rounded_to(Precision::float32, x); }) &&
      !std::ranges::all_of(all, is_short))
    type = Precision::float32;
  if (!are_written && !may_be_rounded_by_hand(all, type)) return Rounding::of_type(type, largest);
  Digits most;
  bool may_be_of_float32 = are_written;  // each is the nearest to one that has so many decimals
  const Precision shortest_in = are_written ? Precision::float64 : type;
  for (const double x : all) {
    if (is_whole_or_not_finite(x)) continue;
    const Digits digits = digits_of(x, shortest_in);
    most = {std::max(most.all, digits.all), std::max(most.decimals, digits.decimals)};
    may_be_of_float32 = may_be_of_float32 &&
                        std::fabs(x - rounded_to(Precision::float32, x)) <= half * std::pow(10.0, -digits.decimals);
  }
  if (are_written && are_shortest_of_float16(all, most)) return Rounding::of_type(Precision::float16, largest);
  const int decimals = notation ? notation->decimals : most.decimals;
  std::optional<int> digits;
  if (notation && notation->is_scientific()) {
    digits = notation->digits;
  } else if (are_cut_at_digits(all, shortest_in, most)) {
    digits = most.all;
  }
  if (may_be_of_float32 && are_too_fine(decimals, digits, Precision::float32, largest)) type = Precision::float32;
  return are_too_fine(decimals, digits, type, largest) ? Rounding::of_type(type, largest)
                                                       : Rounding::to_decimals(decimals, digits, largest);
}

int decimals_in(std::span<const MatrixFile> files) {
  constexpr int least_numbers = 4, most_decimals = 8;
  int decimals = -1, numbers = 0;
  for (const MatrixFile& file : files) {
    if (!may_have_lost_zeros(file)) continue;
    for (const double x : cells(file.matrix)) {
      if (is_whole_or_not_finite(x)) continue;
      decimals = std::max(decimals, digits_of(x, Precision::float64).decimals);
      ++numbers;
    }
  }
  return numbers >= least_numbers && decimals <= most_decimals ? decimals : -1;
}

std::optional<double> mask_value(const Node& node, const Matrix& theirs, const Matrix& right) {
  if (!node.may_be_masked() || theirs.shape() != right.shape()) return std::nullopt;
  constexpr double far = -1e3;
  constexpr double below = -40.0;  // e to its power is less than what a double of 1 loses
  std::optional<double> value;
  for (std::size_t i = 0; i < right.shape().rows; ++i) {
    const std::span<const double> own = row(right, i);
    const double largest = *std::ranges::max_element(own);
    const double most = is_masked(largest) ? far : std::min(0.0, largest) + below;
    for (std::size_t j = 0; j < own.size(); ++j) {
      const double x = theirs(i, j);
      if (!is_masked(own[j])) continue;
      if (!std::isfinite(x) || !(x < most) || (value && x > *value * 0.5)) return std::nullopt;
      value = x;
    }
  }
  return value;
}

bool differs_in_mask_value(const Node& node, const Matrix& theirs, const Matrix& right, const Rounding& rounding) {
  if (!mask_value(node, theirs, right)) return false;
  Matrix masked = theirs;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (is_masked(cells(right)[i])) cells(masked)[i] = cells(right)[i];
  }
  return difference(masked, right, rounding).agrees();
}

}  // namespace attn
