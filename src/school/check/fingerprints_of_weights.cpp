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

// Fingerprints in weights and in masks.

namespace {

// The right weights without those that are 0 in theirs, and the rest so that each row sums to 1 again.
Matrix without_dropped(const FingerprintSubject& seen) {
  Matrix rest = seen.right;
  for (std::size_t i = 0; i < rest.shape().rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < rest.shape().columns; ++j) {
      if (seen.theirs(i, j) == 0.0) rest(i, j) = 0.0;
      sum += rest(i, j);
    }
    for (double& x : row(rest, i)) x = sum > 0.0 ? x / sum : 0.0;
  }
  return rest;
}

// Whether a right weight is not 0 at the precision of theirs.
bool is_more_than_zero(double right, const FingerprintSubject& seen) {
  return right > 1e-6 && !seen.rounding.same(0.0, right, 1.0);
}

}  // namespace

FingerprintText fingerprint::sums(const FingerprintSubject& seen) {
  if (!seen.node.rows_sum_to_one() || seen.theirs.size() < 2) return std::nullopt;
  const Shape shape = seen.theirs.shape();
  std::vector<double> rows(shape.rows), columns(shape.columns);
  double all = 0.0;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const double x = seen.theirs(i, j);
      if (!std::isfinite(x)) return std::nullopt;
      rows[i] += x;
      columns[j] += x;
      all += x;
    }
  }
  const double near = std::max(1e-3, seen.rounding.most_apart(1.0, 1.0, 1.0)) *
                      static_cast<double>(std::max(shape.rows, shape.columns));
  const auto are_one = [&](const std::vector<double>& sums) {
    return std::ranges::all_of(sums, [&](double sum) { return std::fabs(sum - 1.0) < near || sum == 0.0; });
  };
  if (are_one(rows)) return std::nullopt;
  if (are_one(columns)) return "Its columns sum to 1 and its rows do not: as from a softmax over the wrong axis.";
  if (std::fabs(all - 1.0) < near) return "All of its numbers together sum to 1, and each row should.";
  const auto [least, most] = std::ranges::minmax_element(rows);
  if (std::fabs(*most - *least) < near)
    return fmt::format("Each of its rows sums to {} instead of 1.", written_digits(*least, fingerprint_digits));
  return fmt::format("The sums of its rows lie between {} and {}, and should be 1.",
                     written_digits(*least, fingerprint_digits), written_digits(*most, fingerprint_digits));
}

FingerprintText fingerprint::masked_weights(const FingerprintSubject& seen) {
  const Node* const masked = seen.node.beside(role::masked);
  if (!seen.node.is(role::weights) || seen.difference.has_other_shape || !masked ||
      masked->frame.shape != seen.right.shape())
    return std::nullopt;
  const Matrix& scores = masked->matrix();
  std::size_t leaks = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double theirs = cells(seen.theirs)[i];
    if (is_masked(cells(scores)[i]) && cells(seen.right)[i] == 0.0 && std::fabs(theirs) > 1e-6 &&
        !seen.rounding.same(theirs, 0.0, 1.0))
      ++leaks;
  }
  if (leaks == 0) return std::nullopt;
  return fmt::format("{0:# weight|# weights} of a masked key {0:is|are} not 0.", Count{leaks});
}

FingerprintText fingerprint::another_mask_value(const FingerprintSubject& seen) {
  const std::optional<double> value = mask_value(seen.node, seen.theirs, seen.right);
  if (!value) return std::nullopt;
  return fmt::format("Masked scores are {} instead of −∞. That is a convention: after the softmax such a weight is 0.",
                     written_digits(*value, fingerprint_digits));
}

FingerprintText fingerprint::only_another_mask_value(const FingerprintSubject& seen) {
  return differs_in_mask_value(seen.node, seen.theirs, seen.right, seen.rounding) ? another_mask_value(seen)
                                                                                  : std::nullopt;
}

FingerprintText fingerprint::masked_as_well(const FingerprintSubject& seen) {
  FingerprintText told = more_masked(seen);
  return told && same_numbers(seen, without_dropped(seen)) ? told : std::nullopt;
}

// Weights that are 0 because their key is masked, where the computation masks it not.
FingerprintText fingerprint::more_masked(const FingerprintSubject& seen) {
  const Shape shape = seen.theirs.shape();
  if (seen.node.content() != Content::weights || seen.difference.has_other_shape) return std::nullopt;
  const auto is_dropped = [&](std::size_t i, std::size_t j) {
    // What was found before may be why it is not 0; then the computation may mask it itself.
    return seen.theirs(i, j) == 0.0 && is_more_than_zero(seen.right(i, j), seen) &&
           is_more_than_zero(seen.node.matrix()(i, j), seen);
  };
  std::vector<std::size_t> columns;
  bool is_causal = true, drops_later = false;
  for (std::size_t j = 0; j < shape.columns; ++j) {
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      if (is_dropped(i, j)) ++dropped;
      is_causal = is_causal && (j > i ? seen.theirs(i, j) == 0.0 : !is_dropped(i, j));
      drops_later = drops_later || (j > i && is_dropped(i, j));
    }
    if (dropped == shape.rows) columns.push_back(j);
  }
  if (is_causal && drops_later) {
    return "Its weights are 0 where the key comes after the query: as with a causal mask (--causal), which this computation does not have.";
  }
  if (columns.empty() || columns.size() == shape.columns) return std::nullopt;
  return fmt::format(
      "Column{0:|s} {1} {0:is|are} 0: as with a mask of {0:this key|these keys} (--valid-length for padding at the end, --mask for others), which this computation does not have.",
      Count{columns.size()}, written_places(columns));
}

// https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html: what is left is divided by 1 − p.
FingerprintText fingerprint::dropout(const FingerprintSubject& seen) {
  if (seen.node.content() != Content::weights || seen.difference.has_other_shape) return std::nullopt;
  std::size_t dropped = 0, kept = 0;
  std::optional<double> factor;
  for (std::size_t i = 0; i < seen.right.size(); ++i) {
    const double theirs = cells(seen.theirs)[i], right = cells(seen.right)[i];
    if (!is_more_than_zero(right, seen)) continue;
    if (theirs == 0.0) {
      ++dropped;
      continue;
    }
    if (!factor) factor = theirs / right;
    if (!seen.rounding.same(theirs, *factor * right, *factor)) return std::nullopt;
    ++kept;
  }
  constexpr double least = 1.001;
  if (dropped == 0 || kept < 3 || !(*factor > least)) return std::nullopt;
  return fmt::format(
      "{0} of its weights {0:is|are} 0, and all others are {1} times the right ones: as from dropout of {2} in training. "
      "Leave out dropout to compare, as model.eval() does.",
      Count{dropped}, written_digits(*factor, fingerprint_digits), written_digits(1.0 - 1.0 / *factor, 2));
}

}  // namespace attn
