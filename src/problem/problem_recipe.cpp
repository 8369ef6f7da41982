#include "problem/problem_recipe.hpp"

#include "attention/recipe.hpp"
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

Recipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes) {
  return complete({.function = &scoring_function(problem),
                   .learned = {parameters, problem.score_sigma},
                   .positions = &kind_of_positions(problem),
                   .position_table = find(parameters, role::position_table),
                   .divisor = divisor_of(problem, sizes)});
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(scoring_function(problem).scale, sizes);
}

const PositionKind& kind_of_positions(const Problem& problem) {
  return look_up(position_kinds(), problem.positions, "kind of positional encoding");
}

std::vector<MaskRule> mask_rules(const Problem& problem, const Padding& padding, Shape shape) {
  std::vector<MaskRule> rules;
  if (problem.mask && !problem.mask->additive) {
    require_shape(*problem.mask, shape);
    rules.push_back(rule_of(problem.mask->matrix));
  }
  if (problem.causal) rules.push_back(causal_rule());
  if (!padding.valid_lengths.empty()) rules.push_back(valid_length_rule(shape, padding.valid_lengths));
  const std::vector<bool> blanks = blanks_among(padding.words);
  if (problem.masks_blanks() && any(blanks)) rules.push_back(padding_rule(blanks));
  return rules;
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  require_shape(*problem.mask, shape);
  return problem.mask->matrix;
}

}  // namespace attn
