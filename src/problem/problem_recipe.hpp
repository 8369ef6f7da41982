#pragma once

#include <optional>
#include <span>

#include "attention/masks.hpp"
#include "attention/parameters.hpp"
#include "attention/positions.hpp"
#include "attention/scale.hpp"
#include "problem/problem.hpp"

namespace attn {

// A problem's words for how attention is computed, as the pieces of a Recipe.

/// The problem's scoring function, positions and scale, but no mask. Throws InputError when a matrix of the
/// scoring function is missing, and as divisor() does.
Recipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes);

/// What becomes of the scores before the mask: the problem's scale, or the one that belongs to its scoring
/// function, and its cap. Throws InputError as divisor() does.
Recipe scaling_of(const Problem& problem, const KeySizes& sizes);

/// The problem's kind of positions. Throws InputError with the nearest name.
const PositionKind& kind_of_positions(const Problem& problem);

/// What tells which keys are padding: valid lengths, or where there are none the words of the keys.
struct Padding {
  std::span<const std::size_t> valid_lengths;
  const std::vector<std::string>& words;  // of the keys; may be none
};

/// What masks of 0 and 1 follow from: the given one, the causal one, and that of the padding. `shape` is that
/// of the scores. Throws InputError when a mask does not fit it.
std::vector<MaskRule> mask_rules(const Problem& problem, const Padding& padding, Shape shape);

/// The numbers of an additive mask. Throws InputError when they do not fit the scores.
std::optional<Matrix> added_cells(const Problem& problem, Shape shape);

}  // namespace attn
