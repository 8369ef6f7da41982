#pragma once

#include <optional>
#include <string>

#include "core/math/rows.hpp"
#include "school/check/fingerprints.hpp"

namespace attn {

// What the files of fingerprints share.

/// What a fingerprint says of a matrix; nothing: it does not have it.
using FingerprintText = std::optional<std::string>;

inline constexpr int fingerprint_digits = 4;

inline bool same_numbers(const FingerprintSubject& seen, const Matrix& other) {
  return difference(seen.theirs, other, seen.rounding).agrees();
}

/// Whether so few decimals are there that many things come out the same.
inline bool has_few_decimals(const FingerprintSubject& seen) { return seen.rounding.decimals().value_or(2) < 2; }

/// A matrix with a function of each of its cells.
template <class F>
Matrix map_cells(const Matrix& matrix, const F& change) {
  Matrix result = matrix;
  for (double& x : cells(result)) x = change(x);
  return result;
}

namespace fingerprint {

// In the numbers themselves.
FingerprintText not_finite(const FingerprintSubject& seen);
FingerprintText all_zero(const FingerprintSubject& seen);
FingerprintText a_factor(const FingerprintSubject& seen);
FingerprintText an_offset(const FingerprintSubject& seen);
FingerprintText overflow(const FingerprintSubject& seen);
FingerprintText a_known_difference(const FingerprintSubject& seen);
FingerprintText a_function(const FingerprintSubject& seen);
FingerprintText dropped_numbers(const FingerprintSubject& seen);
FingerprintText rounded(const FingerprintSubject& seen);
FingerprintText a_little(const FingerprintSubject& seen);

// In the terms of sums.
FingerprintText dropped_terms(const FingerprintSubject& seen);

// In where the right numbers stand.
FingerprintText other_shape(const FingerprintSubject& seen);
FingerprintText is_transpose(const FingerprintSubject& seen);
FingerprintText right_rows(const FingerprintSubject& seen);
FingerprintText right_columns(const FingerprintSubject& seen);
FingerprintText other_order(const FingerprintSubject& seen);
FingerprintText moved_rows(const FingerprintSubject& seen);
FingerprintText empty_rows(const FingerprintSubject& seen);
FingerprintText another_matrix(const FingerprintSubject& seen);

// In weights and in masks.
FingerprintText sums(const FingerprintSubject& seen);
FingerprintText masked_weights(const FingerprintSubject& seen);
FingerprintText masked_as_well(const FingerprintSubject& seen);
FingerprintText more_masked(const FingerprintSubject& seen);
FingerprintText dropout(const FingerprintSubject& seen);
FingerprintText another_mask_value(const FingerprintSubject& seen);
FingerprintText only_another_mask_value(const FingerprintSubject& seen);

}  // namespace fingerprint

}  // namespace attn
