#include "school/mistake/fingerprints_seen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/math/rows.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/mistake/sizes.hpp"

namespace attn {

// --- fingerprints of numbers
// Fingerprints in the numbers themselves, wherever they stand.

Told fingerprint::not_finite(const Seen& seen) {
  std::size_t nan = 0, infinite = 0;
  for (const double x : cells(seen.theirs)) {
    if (std::isnan(x)) ++nan;
    if (std::isinf(x) && (x > 0.0 || !seen.node.may_be_masked())) ++infinite;
  }
  if (nan == 0 && infinite == 0) return std::nullopt;
  return fmt::format("{} of its {} numbers {} {}.", nan > 0 ? nan : infinite, seen.theirs.size(),
                     (nan > 0 ? nan : infinite) == 1 ? "is" : "are", nan > 0 ? "NaN" : "infinite");
}

Told fingerprint::all_zero(const Seen& seen) {
  if (std::ranges::any_of(cells(seen.theirs), [](double x) { return x != 0.0; })) return std::nullopt;
  return "All of its numbers are 0.";
}

namespace {

// A number of the right matrix by which it can be divided.
std::optional<std::size_t> largest_finite(const Matrix& matrix) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const double x = std::fabs(cells(matrix)[i]);
    if (std::isfinite(x) && x > 0.0 && (!place || x > std::fabs(cells(matrix)[*place]))) place = i;
  }
  return place;
}

}  // namespace

std::optional<double> factor_of(const Seen& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double factor = cells(seen.theirs)[*place] / cells(seen.right)[*place];
  if (!std::isfinite(factor) || factor == 0.0 || written_digits(factor, fingerprint_digits) == "1") return std::nullopt;
  if (!same_numbers(seen, changed(seen.right, [&](double x) { return is_masked(x) ? x : factor * x; })))
    return std::nullopt;
  return factor;
}

Told fingerprint::a_factor(const Seen& seen) {
  const std::optional<double> found = factor_of(seen);
  if (!found) return std::nullopt;
  const double factor = *found;
  const std::string written = written_digits(factor, fingerprint_digits);
  if (is_near(factor, -1.0)) return "Every number has the opposite sign.";
  return fmt::format("Every number is {} times the right one{}.", written, factor_in_words(seen.node, factor));
}

Told fingerprint::an_offset(const Seen& seen) {
  if (seen.difference.has_other_shape || seen.right.size() < 2) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  if (!place) return std::nullopt;
  const double offset = cells(seen.theirs)[*place] - cells(seen.right)[*place];
  if (!std::isfinite(offset) || !same_numbers(seen, changed(seen.right, [&](double x) { return x + offset; })))
    return std::nullopt;
  return fmt::format("Every number is larger by {} than the right one.", written_digits(offset, fingerprint_digits));
}

namespace {

// A type of fewer bits of which all of their numbers are, and whose rounding explains the differences.
struct FewerBits {
  Precision type;
  bool is_rounded;  // each is the right number, rounded; otherwise it was computed in this type
};

std::optional<FewerBits> fewer_bits(const Seen& seen) {
  constexpr std::size_t least = 4;  // fewer numbers are often of such a type by chance
  const std::span<const double> theirs = cells(seen.theirs), right = cells(seen.right);
  if (seen.difference.has_other_shape || theirs.size() < least ||
      std::ranges::all_of(theirs, [](double x) { return x == std::nearbyint(x); }))
    return std::nullopt;
  constexpr std::array types = {Precision::float32, Precision::float16, Precision::bfloat16};
  for (const Precision type : types) {
    const auto is_rounded = [&](double a, double b) { return a == rounded_to(type, b); };
    if (std::ranges::equal(theirs, right, is_rounded)) return FewerBits{type, true};
  }
  for (const Precision type : types) {
    const bool are_of_type = std::ranges::all_of(theirs, [&](double x) { return x == rounded_to(type, x); });
    if (are_of_type &&
        difference(seen.theirs, seen.right, Rounding(seen.theirs, type, largest_of(seen.right))).agrees())
      return FewerBits{type, false};
  }
  return std::nullopt;
}

}  // namespace

Told fingerprint::rounded(const Seen& seen) {
  const std::optional<FewerBits> fewer = fewer_bits(seen);
  if (!fewer) return std::nullopt;
  return fewer->is_rounded
             ? fmt::format("These are the right numbers, rounded to {}.", name_of(fewer->type))
             : fmt::format("All of its numbers are of {}, and as near to the right ones as this type computes them.",
                           name_of(fewer->type));
}

Told fingerprint::a_little(const Seen& seen) {
  if (seen.difference.has_other_shape || fewer_bits(seen)) return std::nullopt;
  const std::optional<std::size_t> place = largest_finite(seen.right);
  constexpr double little = 2e-3;
  if (!place || !(seen.difference.largest <= little * std::fabs(cells(seen.right)[*place]))) return std::nullopt;
  return fmt::format("The differences are small, at most {}: as from fewer digits, another ε or another approximation.",
                     written_digits(seen.difference.largest, 2));
}

}  // namespace attn
