#pragma once

#include <optional>
#include <string>

#include "core/math/rows.hpp"
#include "school/check/fingerprints.hpp"

namespace attn {

// What the files of fingerprints share.

/// What a fingerprint says of a matrix; nothing: it does not have it.
using Told = std::optional<std::string>;

inline constexpr int fingerprint_digits = 4;

inline bool same_numbers(const Seen& seen, const Matrix& other) {
  return difference(seen.theirs, other, seen.rounding).agrees();
}

/// A matrix with a function of each of its cells.
template <class F>
Matrix changed(const Matrix& matrix, const F& change) {
  Matrix result = matrix;
  for (double& x : cells(result)) x = change(x);
  return result;
}

namespace fingerprint {

// In the numbers themselves.
Told not_finite(const Seen& seen);
Told all_zero(const Seen& seen);
Told a_factor(const Seen& seen);
Told an_offset(const Seen& seen);
Told overflow(const Seen& seen);
Told a_known_difference(const Seen& seen);
Told a_function(const Seen& seen);
Told dropped_numbers(const Seen& seen);
Told rounded(const Seen& seen);
Told a_little(const Seen& seen);

// In where the right numbers stand.
Told other_shape(const Seen& seen);
Told is_transpose(const Seen& seen);
Told right_rows(const Seen& seen);
Told right_columns(const Seen& seen);
Told other_order(const Seen& seen);
Told moved_rows(const Seen& seen);
Told empty_rows(const Seen& seen);
Told another_matrix(const Seen& seen);

// In weights and in masks.
Told sums(const Seen& seen);
Told masked_weights(const Seen& seen);
Told masked_as_well(const Seen& seen);
Told more_masked(const Seen& seen);
Told dropout(const Seen& seen);
Told another_mask_value(const Seen& seen);
Told only_another_mask_value(const Seen& seen);

}  // namespace fingerprint

}  // namespace attn
