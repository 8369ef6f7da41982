#include "school/mistake/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/math/rows.hpp"
#include "core/support/number.hpp"

namespace attn {
namespace {

// How far numbers of a type may be apart, in parts of the largest number of their matrix, and at least what
// this is of 1: they were computed in many steps, each of which rounds. PyTorch's torch.testing.assert_close
// has similar ones.
struct TypeRow {
  Precision precision;
  std::string_view name;
  double part;
  double least;
  double noise;        // what a short computation loses, in parts of the largest number: decimals below it say nothing
  int bits;            // of a number, with the one that is not stored
  int least_exponent;  // below which there are fewer
};

constexpr TypeRow types[] = {
    {Precision::float16, "float16", 4e-3, 1e-5, 4e-3, 11, -14},
    {Precision::bfloat16, "bfloat16", 3e-2, 1e-4, 3e-2, 8, -126},
    {Precision::float32, "float32", 1e-5, 1e-7, 1e-6, 24, -126},
    {Precision::float64, "float64", 1e-9, 1e-12, 1e-9, 53, -1022},
};

const TypeRow& row_of(Precision precision) {
  const Precision known = precision == Precision::written ? Precision::float64 : precision;
  return *std::ranges::find(types, known, &TypeRow::precision);
}

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
  const std::string shortest =
      type == Precision::float32 ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
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
double digits_of_type(Precision type) { return row_of(type).bits * std::log10(2.0); }

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

// How far the numbers of a type are apart there.
double step_at(Precision type, double x) {
  const TypeRow& row = row_of(type);
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, row.least_exponent) - (row.bits - 1));
}

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
    of_type += std::max(0.0, std::log10(step_at(Precision::float16, held)) + digits.decimals);
    left_out += most.decimals - digits.decimals;
  }
  return of_type >= least_of_type && of_type + left_out >= least;
}

}  // namespace

// IEEE 754, round to nearest even; the largest exponent of these types is 1 − the least one, and that of
// bfloat16 is float32's.
double rounded_to(Precision type, double x) {
  const TypeRow& row = row_of(type);
  if (!std::isfinite(x) || x == 0.0) return x;
  const double step = step_at(type, x);
  const double rounded = std::nearbyint(x / step) * step;
  const double too_large = std::ldexp(1.0, 1 - row.least_exponent) * 2.0;
  return std::fabs(rounded) >= too_large ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

std::string_view name_of(Precision type) { return row_of(type).name; }

double largest_of(const Matrix& matrix) {
  double largest = 0.0;
  for (const double x : cells(matrix)) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return largest;
}

Rounding::Rounding(const MatrixFile& theirs, double largest, int decimals_beside)
    : Rounding(theirs.matrix, theirs.kind == CellKind::real ? theirs.precision : Precision::float64, largest,
               theirs.notation) {
  if (!may_have_lost_zeros(theirs) || !std::ranges::all_of(cells(theirs.matrix), is_whole_or_not_finite)) return;
  decimals_ = decimals_beside;
  if (half * unit_of(largest) < row_of(precision_).noise * largest) decimals_ = -1;
}

Rounding::Rounding(const Matrix& theirs, Precision precision, double largest,
                   const std::optional<NumberNotation>& notation)
    : precision_(precision == Precision::written ? Precision::float64 : precision), largest_(largest) {
  const std::span<const double> all = cells(theirs);
  // "5.4e+02" is whole, and has two digits all the same.
  const bool has_digits = notation && notation->is_scientific() && notation->digits > 1;
  if (std::ranges::all_of(all, is_whole_or_not_finite) && !has_digits && (!notation || notation->decimals == 0)) return;
  if (precision_ == Precision::float64 &&
      std::ranges::all_of(all, [](double x) { return std::isnan(x) || x == rounded_to(Precision::float32, x); }) &&
      !std::ranges::all_of(all, is_short))
    precision_ = Precision::float32;
  const bool are_written = precision == Precision::written;
  if (!are_written && !may_be_rounded_by_hand(all, precision_)) return;
  Digits most;
  bool may_be_of_float32 = are_written;  // each is the nearest to one that has so many decimals
  const Precision type = are_written ? Precision::float64 : precision_;
  for (const double x : all) {
    if (is_whole_or_not_finite(x)) continue;
    const Digits digits = digits_of(x, type);
    most = {std::max(most.all, digits.all), std::max(most.decimals, digits.decimals)};
    may_be_of_float32 = may_be_of_float32 &&
                        std::fabs(x - rounded_to(Precision::float32, x)) <= half * std::pow(10.0, -digits.decimals);
  }
  if (are_written && are_shortest_of_float16(all, most)) {
    precision_ = Precision::float16;
    return;
  }
  decimals_ = notation ? notation->decimals : most.decimals;
  if (notation && notation->is_scientific()) {
    digits_ = notation->digits;
  } else if (are_cut_at_digits(all, type, most)) {
    digits_ = most.all;
  }
  const auto is_finer_than = [&](Precision type) { return half * unit_of(largest) < row_of(type).noise * largest; };
  if (may_be_of_float32 && is_finer_than(Precision::float32)) precision_ = Precision::float32;
  if (is_finer_than(precision_)) decimals_ = digits_ = -1;
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

double Rounding::unit_of(double theirs) const {
  const double of_decimals = std::pow(10.0, -decimals_);
  if (digits_ < 0 || theirs == 0.0 || !std::isfinite(theirs)) return of_decimals;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(theirs))));
  return std::max(of_decimals, std::pow(10.0, magnitude + 1 - digits_));
}

double Rounding::most_apart(double theirs, double largest) const {
  const TypeRow& type = row_of(precision_);
  if (decimals_ < 0) return std::max(type.part * largest, type.least);
  constexpr double slack = 1.001;  // they computed as well
  return slack * half * unit_of(theirs) + more_;
}

bool Rounding::same(double theirs, double right, double largest) const {
  if (theirs == right) return true;
  if (!std::isfinite(theirs) || !std::isfinite(right)) return std::isnan(theirs) && std::isnan(right);
  return std::fabs(theirs - right) <= most_apart(theirs, largest);
}

void Rounding::allow_more(double by, int decimals_of_inputs) {
  more_ = by;
  decimals_of_inputs_ = decimals_of_inputs;
}

std::string Rounding::told() const {
  if (decimals_ < 0) return fmt::format("as {}", name_of(precision_));
  const std::string decimals = count_of(static_cast<std::size_t>(decimals_), "decimal");
  if (more_ > 0.0)
    return fmt::format("to {}, and {} more, which inputs of {} leave open", decimals, written_digits(more_, 2),
                       count_of(static_cast<std::size_t>(decimals_of_inputs_), "decimal"));
  if (digits_ < 0) return fmt::format("to {}", decimals);
  return fmt::format("to {} and at most {}", decimals,
                     count_of(static_cast<std::size_t>(digits_), "significant digit"));
}

bool agree(const Matrix& theirs, const Matrix& right, const Rounding& rounding) {
  if (theirs.shape() != right.shape()) return false;
  const double largest = std::min(largest_of(right), rounding.largest());
  return std::ranges::equal(cells(theirs), cells(right),
                            [&](double one, double other) { return rounding.same(one, other, largest); });
}

Difference difference(const Matrix& theirs, const Matrix& right, const Rounding& rounding) {
  Difference all;
  if (theirs.shape() != right.shape()) {
    all.has_other_shape = true;
    return all;
  }
  // A mistake may put a huge number beside small ones, such as a mask value: it makes their computation no less exact.
  const double largest = std::min(largest_of(right), rounding.largest());
  const Shape shape = right.shape();
  std::vector<bool> columns(shape.columns, false);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const double one = theirs(i, j), other = right(i, j);
      if (rounding.same(one, other, largest)) continue;
      ++all.cells;
      columns[j] = true;
      if (all.rows.empty() || all.rows.back() != i) all.rows.push_back(i);
      double apart = std::fabs(one - other);
      if (!std::isfinite(apart)) apart = std::numeric_limits<double>::infinity();
      if (all.cells > 1 && !(apart > all.largest)) continue;
      all.largest = apart;
      all.row = i;
      all.column = j;
    }
  }
  for (std::size_t j = 0; j < shape.columns; ++j) {
    if (columns[j]) all.columns.push_back(j);
  }
  return all;
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
