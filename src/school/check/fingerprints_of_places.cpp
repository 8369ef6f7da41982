#include "school/check/fingerprints_seen.hpp"

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

namespace attn {

// Fingerprints in where the right numbers stand.

namespace {

std::vector<std::size_t> places_without(std::size_t count, const std::vector<std::size_t>& some) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::ranges::find(some, i) == some.end()) rest.push_back(i);
  }
  return rest;
}

// The rows of the scores around a node in which no key is masked; nothing where no key is.
std::optional<std::vector<std::size_t>> rows_without_mask(const Node& node) {
  const Node* const masked = node.is(role::masked) ? &node : node.beside(role::masked);
  if (!masked || masked->frame.shape.rows != node.frame.shape.rows) return std::nullopt;
  const Matrix& scores = masked->matrix();
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    if (std::ranges::none_of(row(scores, i), is_masked)) free.push_back(i);
  }
  if (free.size() == scores.shape().rows) return std::nullopt;
  return free;
}

// Whether nothing shows that it was computed with a mask: a number of another size in the place of a score that is
// masked, or a weight of 0.
bool may_be_without_mask(const FingerprintSubject& seen) {
  if (std::ranges::any_of(cells(seen.theirs), [](double x) { return std::isnan(x); })) return false;
  const Node* const masked = seen.node.is(role::masked) ? &seen.node : seen.node.beside(role::masked);
  if (!masked || !masked->op || masked->frame.shape != seen.theirs.shape()) return true;
  const Matrix &scores = masked->matrix(), &before = masked->operands[0]->matrix();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!is_masked(cells(scores)[i])) continue;
    const double x = cells(seen.theirs)[i];
    if (seen.node.is(role::masked) && !seen.rounding.same(x, cells(before)[i], largest_of(before))) return false;
    if (seen.node.is(role::weights) && x == 0.0) return false;
  }
  return true;
}

bool is_rearranged(std::span<const double> one, std::span<const double> other, const FingerprintSubject& seen) {
  std::vector<double> a(one.begin(), one.end()), b(other.begin(), other.end());
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (a.size() != b.size() || std::ranges::any_of(a, is_nan)) return false;
  std::ranges::sort(a);
  std::ranges::sort(b);
  double largest = 0.0;
  for (const double x : b) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  }
  return std::ranges::equal(a, b, [&](double x, double y) { return seen.rounding.same(x, y, largest); });
}

// For each row of one matrix the row of the other that it is; nothing unless each is one.
std::optional<std::vector<std::size_t>> order_of_rows(const Matrix& theirs, const Matrix& right,
                                                      const FingerprintSubject& seen) {
  if (theirs.shape() != right.shape() || theirs.shape().rows > 256) return std::nullopt;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < theirs.shape().rows; ++i) {
    std::optional<std::size_t> found;
    for (std::size_t k = 0; k < right.shape().rows && !found; ++k) {
      const bool is_free = std::ranges::find(order, k) == order.end();
      const auto same = [&](double x, double y) { return seen.rounding.same(x, y, std::fabs(y)); };
      if (is_free && std::ranges::equal(row(theirs, i), row(right, k), same)) found = k;
    }
    if (!found) return std::nullopt;
    order.push_back(*found);
  }
  return order;
}

}  // namespace

FingerprintText fingerprint::other_shape(const FingerprintSubject& seen) {
  if (!seen.difference.has_other_shape) return std::nullopt;
  return fmt::format("It is {}, and the right matrix is {}.", to_string(seen.theirs.shape()),
                     to_string(seen.right.shape()));
}

FingerprintText fingerprint::is_transpose(const FingerprintSubject& seen) {
  const Shape shape = seen.right.shape();
  if (seen.theirs.shape() != Shape{shape.columns, shape.rows} || shape.rows == 1 || shape.columns == 1)
    return std::nullopt;
  if (!same_numbers(seen, transposed(seen.right))) return std::nullopt;
  return "It is the transpose of the right matrix.";
}

FingerprintText fingerprint::right_rows(const FingerprintSubject& seen) {
  const std::size_t count = seen.right.shape().rows;
  if (seen.difference.has_other_shape || seen.difference.rows.size() == count) return std::nullopt;
  const std::vector<std::size_t> right = places_without(count, seen.difference.rows);
  const bool is_last = right == std::vector{count - 1}, is_first = right == std::vector<std::size_t>{0};
  const std::string which =
      is_last    ? "Only the last row is right"
      : is_first ? "Only the first row is right"
                 : fmt::format("Right {:is row|are rows} {}", Count{right.size()}, written_places(right));
  if (const auto free = rows_without_mask(seen.node); free && *free == right && may_be_without_mask(seen)) {
    return fmt::format("{}, {:the only one|those} in which no key is masked: as without the mask.", which,
                       Count{right.size()});
  }
  return which + ".";
}

FingerprintText fingerprint::right_columns(const FingerprintSubject& seen) {
  const std::size_t count = seen.right.shape().columns;
  if (seen.difference.has_other_shape || seen.difference.columns.size() == count) return std::nullopt;
  const std::vector<std::size_t> right = places_without(count, seen.difference.columns);
  return fmt::format("Right {:is column|are columns} {}.", Count{right.size()}, written_places(right));
}

FingerprintText fingerprint::other_order(const FingerprintSubject& seen) {
  constexpr std::size_t least = 4;  // fewer numbers are often those of something else
  if (seen.right.size() < least || has_few_decimals(seen) ||
      !is_rearranged(cells(seen.theirs), cells(seen.right), seen))
    return std::nullopt;
  if (is_transpose(seen)) return std::nullopt;
  for (const bool of_columns : {false, true}) {
    const auto order = of_columns ? order_of_rows(transposed(seen.theirs), transposed(seen.right), seen)
                                  : order_of_rows(seen.theirs, seen.right, seen);
    if (!order) continue;
    std::vector<std::string> places;
    for (const std::size_t place : *order) places.push_back(std::to_string(place + 1));
    return fmt::format("It has the right {} in another order: {}.", of_columns ? "columns" : "rows",
                       list_in_words(places));
  }
  return "It has the right numbers in other places, as a reshape without a transpose leaves them.";
}

FingerprintText fingerprint::moved_rows(const FingerprintSubject& seen) {
  const std::size_t count = seen.right.shape().rows;
  if (seen.difference.has_other_shape || count < 3 || seen.right.shape().columns < 2) return std::nullopt;
  const auto is_right_row = [&](std::size_t theirs, std::size_t right) {
    const auto same = [&](double x, double y) { return seen.rounding.same(x, y, std::fabs(y)); };
    return std::ranges::equal(row(seen.theirs, theirs), row(seen.right, right), same);
  };
  const auto all_are = [&](std::size_t theirs, std::size_t right) {
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (!is_right_row(theirs + i, right + i)) return false;
    }
    return true;
  };
  if (all_are(0, 1))
    return fmt::format("Its rows 1 to {} are the right rows 2 to {}: as when words are taken one place too late.",
                       count - 1, count);
  if (all_are(1, 0))
    return fmt::format("Its rows 2 to {} are the right rows 1 to {}: as when words are taken one place too early.",
                       count, count - 1);
  return std::nullopt;
}

FingerprintText fingerprint::empty_rows(const FingerprintSubject& seen) {
  if (seen.difference.has_other_shape || seen.difference.rows.size() == seen.right.shape().rows) return std::nullopt;
  const auto is_empty = [&](std::size_t i) {
    return std::ranges::all_of(row(seen.theirs, i), [](double x) { return x == 0.0; });
  };
  if (!std::ranges::all_of(seen.difference.rows, is_empty)) return std::nullopt;
  return fmt::format("Row{0:|s} {1} {0:is|are} 0.", Count{seen.difference.rows.size()},
                     written_places(seen.difference.rows));
}

FingerprintText fingerprint::another_matrix(const FingerprintSubject& seen) {
  for (const Node* other : seen.node.graph->named()) {
    if (&other->original() == &seen.node.original() || other->frame.shape != seen.theirs.shape() || other->is_alias())
      continue;
    const Matrix& numbers = other->matrix();
    const bool is_varied = std::ranges::any_of(cells(numbers), [&](double x) { return x != cells(numbers).front(); });
    if (is_varied && same_numbers(seen, numbers)) return fmt::format("Its numbers are those of {}.", other->name);
  }
  return std::nullopt;
}

}  // namespace attn
