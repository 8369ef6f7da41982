#include "problem/problem_recipe.hpp"

#include <algorithm>

#include "attention/recipe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const ScoringFunction& scoring_function(const Problem& problem) {
  return look_up(scoring_functions(), problem.score, "scoring function");
}

void require_shape(const GivenMask& mask, Shape shape) {
  const Shape given = mask.matrix.shape();
  if (given.columns == shape.columns && (given.rows == shape.rows || given.rows == 1)) return;
  fail(
      "the mask is {} but the scores are {}: give a mask with one row per query, or one row for all queries, "
      "and one column per key",
      to_string(mask.matrix.shape()), to_string(shape));
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (problem.multiplier) return std::nullopt;
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(scoring_function(problem).scale, sizes);
}

std::optional<Scalar> scalar(const std::optional<double>& number) {
  if (!number) return std::nullopt;
  const std::string written = fmt::format("{}", *number);
  return Scalar{*number, {written, written}, written};
}

}  // namespace

Recipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes) {
  Recipe recipe = scaling_of(problem, sizes);
  recipe.function = &scoring_function(problem);
  recipe.learned = {parameters, problem.score_sigma};
  recipe.positions = &kind_of_positions(problem);
  recipe.position_table = find(parameters, role::position_table);
  return complete(std::move(recipe));
}

Recipe scaling_of(const Problem& problem, const KeySizes& sizes) {
  return {.divisor = divisor_of(problem, sizes),
          .factor = scalar(problem.multiplier),
          .cap = scalar(problem.soft_cap)};
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
  if (problem.causal) rules.push_back(causal_rule(problem.causal_offset));
  if (!padding.valid_lengths.empty()) rules.push_back(valid_length_rule(shape, padding.valid_lengths));
  const std::vector<bool> blanks = blanks_among(padding.words);
  if (problem.masks_blanks() && any(blanks)) {
    rules.push_back(padding_rule(std::make_shared<const std::vector<bool>>(blanks), shape));
  }
  return rules;
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  require_shape(*problem.mask, shape);
  const Matrix& given = problem.mask->matrix;
  if (given.shape() == shape) return given;
  Matrix repeated(shape);
  for (std::size_t i = 0; i < shape.rows; ++i) std::ranges::copy(row(given, 0), row(repeated, i).begin());
  return repeated;
}

}  // namespace attn
