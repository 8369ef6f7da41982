#include "school/check/fingerprints_seen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/mistake/sizes.hpp"

namespace attn {

// Fingerprints in the numbers themselves, wherever they stand.

namespace {

std::vector<std::size_t> rows_where(const Matrix& matrix, const std::function<bool(std::span<const double>)>& is_it) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < matrix.shape().rows; ++i) {
    if (is_it(row(matrix, i))) found.push_back(i);
  }
  return found;
}

bool has_nan(std::span<const double> numbers) {
  return std::ranges::any_of(numbers, [](double x) { return std::isnan(x); });
}

// A number of the right matrix by which it can be divided.
std::optional<std::size_t> largest_finite(const Matrix& matrix) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const double x = std::fabs(cells(matrix)[i]);
    if (std::isfinite(x) && x > 0.0 && (!place || x > std::fabs(cells(matrix)[*place]))) place = i;
  }
  return place;
}

// The right matrix plus a multiple of a matrix, or of a row for all of its rows.
Matrix with_added(const Matrix& right, const Matrix& other, double factor) {
  Matrix sum = right;
  for (std::size_t i = 0; i < sum.shape().rows; ++i) {
    for (std::size_t j = 0; j < sum.shape().columns; ++j)
      sum(i, j) += factor * other(other.shape().rows == 1 ? 0 : i, j);
  }
  return sum;
}

std::string difference_in_words(const std::string& name, double factor) {
  if (factor == 1.0) return fmt::format("It is the right matrix plus {}: {} is added once too often.", name, name);
  if (factor == -1.0) return fmt::format("It is the right matrix less {}: {} is not added.", name, name);
  return fmt::format("It is the right matrix less {} times {}: the sign of {} is wrong.", written_digits(-factor, 4),
                     name, name);
}

bool varies(const Matrix& matrix) {
  return std::ranges::any_of(cells(matrix), [&](double x) { return x != cells(matrix).front(); });
}

struct FunctionOfRight {
  std::string_view is;  // "Every number is …"
  double (*function)(double x);
};

constexpr FunctionOfRight functions_of_right[] = {
    {"the natural logarithm of the right one", [](double x) { return std::log(x); }},
    {"the logarithm of the right one to the base 2", [](double x) { return std::log2(x); }},
    {"the logarithm of the right one to the base 10", [](double x) { return std::log10(x); }},
    {"the exponential of the right one", [](double x) { return std::exp(x); }},
    {"the square of the right one", [](double x) { return x * x; }},
    {"the square root of the right one", [](double x) { return std::sqrt(x); }},
    {"the right one without its sign", [](double x) { return std::fabs(x); }},
    {"the right one, or 0 where that is negative", [](double x) { return std::max(x, 0.0); }},
    {"the right one, or 0 where that is positive", [](double x) { return std::min(x, 0.0); }},
    {"tanh of the right one", [](double x) { return std::tanh(x); }},
    {"1 / (1 + exp(−x)) of the right one", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {"1 divided by the right one", [](double x) { return 1.0 / x; }},
    {"1 less the right one", [](double x) { return 1.0 - x; }},
    {"the right one, rounded to a whole number", [](double x) { return std::nearbyint(x); }},
};

// A type of fewer bits of which all of their numbers are, and whose rounding explains the differences.
struct FewerBits {
  Precision type;
  bool is_rounded;  // each is the right number, rounded; otherwise it was computed in this type
};

std::optional<FewerBits> fewer_bits(const FingerprintSubject& seen) {
  constexpr std::size_t least = 4;  // fewer numbers are often of such a type by chance
  const std::span<const double> theirs = cells(seen.theirs), right = cells(seen.right);
  if (seen.difference.has_other_shape || theirs.size() < least ||
      std::ranges::all_of(theirs, [](double x) { return x == std::nearbyint(x); }))
    return std::nullopt;
  // A number of few bits is one of more bits, too.
  constexpr std::array types = {Precision::bfloat16, Precision::float16, Precision::float32};
  for (const Precision type : types) {
    const auto is_rounded = [&](double a, double b) { return a == rounded_to(type, b); };
    if (std::ranges::equal(theirs, right, is_rounded)) return FewerBits{type, true};
  }
  for (const Precision type : types) {
    const bool are_of_type = std::ranges::all_of(theirs, [&](double x) { return x == rounded_to(type, x); });
    if (are_of_type &&
        difference(seen.theirs, seen.right, rounding_of(seen.theirs, type, largest_of(seen.right))).agrees())
      return FewerBits{type, false};
  }
  return std::nullopt;
}

}  // namespace

FingerprintText fingerprint::not_finite(const FingerprintSubject& seen) {
  std::size_t nan = 0, infinite = 0;
  for (const double x : cells(seen.theirs)) {
    if (std::isnan(x)) ++nan;
    if (std::isinf(x) && (x > 0.0 || !seen.node.may_be_masked())) ++infinite;
  }
  if (nan == 0 && infinite == 0) return std::nullopt;
  return fmt::format("{0} of its {1} numbers {0:is|are} {2}.", Count{nan > 0 ? nan : infinite}, seen.theirs.size(),
                     nan > 0 ? "NaN" : "infinite");
}

// e^x is infinite above these numbers, and so are sums of it; what is divided by that is NaN or 0.
FingerprintText fingerprint::overflow(const FingerprintSubject& seen) {
  if (!seen.node.op || seen.node.op != &op::softmax || seen.difference.has_other_shape) return std::nullopt;
  const std::vector<std::size_t> rows = rows_where(seen.theirs, has_nan);
  const Matrix& scores = seen.node.operands[0]->matrix();
  if (rows.empty() || scores.shape() != seen.theirs.shape()) return std::nullopt;
  const auto told = [&](std::string_view why) {
    return fmt::format("Row{0:|s} {1} {0:has|have} NaN in {0:it|them}: {2}", Count{rows.size()}, written_places(rows),
                       why);
  };
  if (rows == rows_where(scores, [](auto row) { return std::ranges::all_of(row, is_masked); }))
    return told("there all keys are masked, so that softmax divides 0 by 0.");
  struct Limit {
    Precision type;
    double largest;
  };
  constexpr Limit limits[] = {{Precision::float64, 709.782712893384},
                              {Precision::float32, 88.72283905206835},
                              {Precision::float16, 11.089866488461016}};
  for (const Limit& limit : limits) {
    // Infinite divided by infinite; all else in the row is divided by infinite.
    const auto is_as_told = [&](double theirs, double score) { return std::isnan(theirs) == (score > limit.largest); };
    if (!std::ranges::equal(cells(seen.theirs), cells(scores), is_as_told)) continue;
    return told(
        fmt::format("there the largest score is over {}, for which the exponential is too large for {}. "
                    "Subtract the largest score of the row first.",
                    written_digits(limit.largest, 3), number_type(limit.type).name));
  }
  return std::nullopt;
}

FingerprintText fingerprint::all_zero(const FingerprintSubject& seen) {
  if (std::ranges::any_of(cells(seen.theirs), [](double x) { return x != 0.0; })) return std::nullopt;
  return "All of its numbers are 0.";
}

std::optional<double> factor_of(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double factor = cells(seen.theirs)[*place] / cells(seen.right)[*place];
  if (!std::isfinite(factor) || factor == 0.0 || written_digits(factor, fingerprint_digits) == "1") return std::nullopt;
  if (!same_numbers(seen, map_cells(seen.right, [&](double x) { return is_masked(x) ? x : factor * x; })))
    return std::nullopt;
  return factor;
}

FingerprintText fingerprint::a_factor(const FingerprintSubject& seen) {
  const std::optional<double> found = factor_of(seen);
  if (!found) return std::nullopt;
  const double factor = *found;
  const std::string written = written_digits(factor, fingerprint_digits);
  if (is_near(factor, -1.0)) return "Every number has the opposite sign.";
  return fmt::format("Every number is {} times the right one{}.", written, factor_in_words(seen.node, factor));
}

FingerprintText fingerprint::an_offset(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double offset = cells(seen.theirs)[*place] - cells(seen.right)[*place];
  if (!std::isfinite(offset) || !same_numbers(seen, map_cells(seen.right, [&](double x) { return x + offset; })))
    return std::nullopt;
  return fmt::format("Every number is larger by {} than the right one.", written_digits(offset, fingerprint_digits));
}

FingerprintText fingerprint::a_known_difference(const FingerprintSubject& seen) {
  const Shape shape = seen.right.shape();
  if (seen.difference.has_other_shape || shape.cells() < 4 || seen.difference.cells < 2 || has_nan(cells(seen.theirs)))
    return std::nullopt;
  for (const Node* other : seen.node.graph->named()) {
    const Shape its = other->frame.shape;
    if (its.columns != shape.columns || (its.rows != shape.rows && its.rows != 1) || other->is_alias() ||
        other->content() != Content::numbers || &other->original() == &seen.node.original() || !varies(other->matrix()))
      continue;
    for (const double factor : {1.0, -1.0, -2.0}) {
      if (same_numbers(seen, with_added(seen.right, other->matrix(), factor)))
        return difference_in_words(other->name, factor);
    }
  }
  if (shape.rows < 3 || seen.difference.rows.size() < shape.rows) return std::nullopt;
  Matrix first({1, shape.columns});
  for (std::size_t j = 0; j < shape.columns; ++j) first(0, j) = seen.theirs(0, j) - seen.right(0, j);
  if (!varies(first) || !same_numbers(seen, with_added(seen.right, first, 1.0))) return std::nullopt;
  return "Every row differs from the right one by the same row: as from another bias.";
}

FingerprintText fingerprint::a_function(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 4 || !varies(seen.theirs) || has_few_decimals(seen))
    return std::nullopt;
  for (const FunctionOfRight& row : functions_of_right) {
    if (same_numbers(seen, map_cells(seen.right, row.function))) return fmt::format("Every number is {}.", row.is);
  }
  if (!std::ranges::all_of(cells(seen.right), [](double x) { return std::isfinite(x); })) return std::nullopt;
  const double least = std::ranges::min(cells(seen.theirs)), most = std::ranges::max(cells(seen.theirs));
  const auto count = [&](double bound) { return std::ranges::count(cells(seen.theirs), bound); };
  if (!std::isfinite(least) || !std::isfinite(most) || count(least) + count(most) < 4 ||
      !same_numbers(seen, map_cells(seen.right, [&](double x) { return std::clamp(x, least, most); })))
    return std::nullopt;
  return fmt::format("Every number is the right one, but none is below {} or above {}: as from clamping.",
                     written_digits(least, fingerprint_digits), written_digits(most, fingerprint_digits));
}

// Some numbers are 0, and all others are the right ones divided by 1 − p.
FingerprintText fingerprint::dropped_numbers(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape) return std::nullopt;
  std::size_t dropped = 0, kept = 0;
  std::optional<double> factor;
  const double largest = largest_of(seen.right);
  for (std::size_t i = 0; i < seen.right.size(); ++i) {
    const double theirs = cells(seen.theirs)[i], right = cells(seen.right)[i];
    if (right == 0.0 && theirs == 0.0) continue;
    if (theirs == 0.0) {
      ++dropped;
      continue;
    }
    if (!factor && std::fabs(right) > 0.1 * largest) factor = theirs / right;
    ++kept;
  }
  constexpr double least = 1.001, most = 10.0;
  if (dropped == 0 || kept < 3 || !factor || !(*factor > least) || !(*factor < most)) return std::nullopt;
  const Matrix expected = map_cells(seen.right, [&](double x) { return *factor * x; });
  for (std::size_t i = 0; i < seen.right.size(); ++i) {
    const double theirs = cells(seen.theirs)[i];
    if (theirs != 0.0 && !seen.rounding.same(theirs, cells(expected)[i], *factor * largest)) return std::nullopt;
  }
  return fmt::format(
      "{0} of its numbers {0:is|are} 0, and all others are {1} times the right ones: as from dropout of {2} in training. "
      "Leave out dropout to compare, as model.eval() does.",
      Count{dropped}, written_digits(*factor, fingerprint_digits), written_digits(1.0 - 1.0 / *factor, 2));
}

FingerprintText fingerprint::rounded(const FingerprintSubject& seen) {
  const std::optional<FewerBits> fewer = fewer_bits(seen);
  if (!fewer) return std::nullopt;
  return fewer->is_rounded
             ? fmt::format("These are the right numbers, rounded to {}.", number_type(fewer->type).name)
             : fmt::format("All of its numbers are of {}, and as near to the right ones as this type computes them.",
                           number_type(fewer->type).name);
}

FingerprintText fingerprint::a_little(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape || fewer_bits(seen)) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  constexpr double little = 2e-3;
  if (!place || !(seen.difference.largest <= little * std::fabs(cells(seen.right)[*place]))) return std::nullopt;
  return fmt::format("The differences are small, at most {}: as from fewer digits, another ε or another approximation.",
                     written_digits(seen.difference.largest, 2));
}

}  // namespace attn
