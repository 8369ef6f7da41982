#pragma once

#include "attention/attention.hpp"
#include "attention/scale.hpp"

namespace attn {

/// A scoring function with what it has learned, and the scale that belongs to it. Throws InputError when one
/// of its matrices is missing, and as divisor() does.
Recipe recipe_of(const ScoringFunction& function, const ScoreParameters& learned, const KeySizes& sizes);

/// The recipe itself. Throws InputError when its scoring function needs a matrix that it has not learned.
Recipe complete(Recipe recipe);

}  // namespace attn
