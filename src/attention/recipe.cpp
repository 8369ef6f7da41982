#include "attention/recipe.hpp"

#include "attention/masks.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const ScoringFunction& scoring_function(const Problem& problem) {
  return look_up(scoring_functions(), problem.score, "scoring function");
}

void require_shape(const GivenMask& mask, Shape shape) {
  if (mask.matrix.shape() == shape) return;
  fail("the mask is {} but the scores are {}: give a mask with one row per query and one column per key",
       to_string(mask.matrix.shape()), to_string(shape));
}

}  // namespace

Recipe recipe_of(const ScoringFunction& function, ScoreParameters learned, const KeySizes& sizes) {
  for (const ScoreParameter& row : function.parameters) {
    if (learned.matrices.contains(&row.role)) continue;
    fail("--score {} needs {}, a matrix with {}: give it, or --seed N for a random one", function.name,
         row.role.leaf, row.shape_in_words);
  }
  Recipe recipe{.function = &function, .divisor = divisor(function.scale, sizes)};
  recipe.score = [score = function.score, learned = std::move(learned)](Value q, Value k) {
    return score(std::move(q), std::move(k), learned);
  };
  return recipe;
}

Recipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes) {
  const ScoringFunction& function = scoring_function(problem);
  const ScoreParameters learned{parameters, problem.score_sigma};
  Recipe recipe = recipe_of(function, learned, sizes);
  recipe.divisor = divisor_of(problem, sizes);
  if (function.expand) {
    recipe.score = [score = recipe.score, expand = function.expand, learned](Value q, Value k) {
      expand(q, k, learned);
      return score(std::move(q), std::move(k));
    };
  }
  const PositionKind& positions = kind_of_positions(problem);
  if (positions.of_scores) {
    recipe.score = [score = recipe.score, &positions, table = parameters.at(&role::position_table)](Value q,
                                                                                                    Value k) {
      Value relative = positions.of_scores(q, k, table);
      return add(name(role::content, score(std::move(q), std::move(k))), std::move(relative));
    };
  }
  return recipe;
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(scoring_function(problem).scale, sizes);
}

const PositionKind& kind_of_positions(const Problem& problem) {
  return look_up(position_kinds(), problem.positions, "kind of positional encoding");
}

std::optional<Matrix> allowed_cells(const Problem& problem, const Padding& padding, Shape shape) {
  std::optional<Matrix> allowed;
  const auto allow = [&](Matrix mask) {
    allowed = allowed ? both(std::move(mask), *allowed) : std::move(mask);
  };
  if (problem.mask && !problem.mask->additive) {
    require_shape(*problem.mask, shape);
    allow(problem.mask->matrix);
  }
  if (problem.causal) allow(causal_mask(shape));
  if (!padding.valid_lengths.empty()) allow(valid_length_mask(shape, padding.valid_lengths));
  const std::vector<bool> blanks = blanks_among(padding.words);
  if (problem.masks_blanks() && any(blanks)) allow(without_blanks(Matrix(shape, 1.0), blanks));
  return allowed;
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  require_shape(*problem.mask, shape);
  return problem.mask->matrix;
}

}  // namespace attn
