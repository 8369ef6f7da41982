#include "attention/recipe.hpp"

#include "support/error.hpp"

namespace attn {

Recipe complete(Recipe recipe) {
  for (const ScoreParameter& row : recipe.function->parameters) {
    if (recipe.learned.matrices.contains(&row.role)) continue;
    fail("‹score› {} needs {}, a matrix with {}: give it, or ‹seed› N for a random one",
         recipe.function->name, row.role.leaf, row.shape_in_words);
  }
  return recipe;
}

Recipe recipe_of(const ScoringFunction& function, const ScoreParameters& learned, const KeySizes& sizes) {
  return complete({.function = &function, .learned = learned, .divisor = divisor(function.scale, sizes)});
}

}  // namespace attn
