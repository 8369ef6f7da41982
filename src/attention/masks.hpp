#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace attn {

// Masks are matrices of 1 (may look) and 0 (may not).  [n_q, n_k]

/// Query i may look at keys 1 … i, aligned at the top left when the lengths differ.  (D2; D4, masking the
/// future)
Matrix causal_mask(Shape shape);

/// The same for queries that follow `before` earlier ones: query i may look at keys 1 … before + i.
Matrix causal_mask_after(std::size_t before, Shape shape);

/// Query i may look at the first lengths[i] keys; a single length holds for all queries.  (D0 11.3.2.1)
/// Throws InputError: neither one length nor one for each query, a length above the number of keys.
Matrix valid_length_mask(Shape shape, std::span<const std::size_t> lengths);

/// The token that stands for no word: padding.
constexpr std::string_view blank = "<blank>";

/// Which of the words are padding.
std::vector<bool> blanks_among(const std::vector<std::string>& words);
bool any(const std::vector<bool>& flags);

/// The mask, but no query may look at a key that is padding; there are no more flags than keys.
Matrix without_blanks(Matrix allowed, const std::vector<bool>& blanks);

/// What both masks allow.
Matrix both(Matrix a, const Matrix& b);

}  // namespace attn
