#include "attention/recipe.hpp"

#include "attention/masks.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

const ScoreFunction& score_function(const Problem& problem) {
  return look_up(score_functions(), problem.score, "score function");
}

void require_shape(const GivenMask& mask, Shape shape) {
  if (shape_of(mask.matrix) == shape) return;
  fail(
      "the mask is {} but the scores are {}: a mask needs one row for each query and one column for each key",
      to_string(shape_of(mask.matrix)), to_string(shape));
}

}  // namespace

std::function<Value(Value q, Value k)> score_of(const Problem& problem, const Parameters& parameters) {
  const ScoreFunction& function = score_function(problem);
  ScoreParameters learned{.sigma = problem.score_sigma};
  for (const ScoreParameter& row : function.parameters) {
    const auto found = parameters.find(row.name);
    if (found == parameters.end()) {
      fail("--score {} needs {}: a matrix with {}; give it, or --seed N to draw it", function.name, row.name,
           row.shape_in_words);
    }
    learned.matrices.emplace(row.name, found->second);
  }
  using Score = std::function<Value(Value, Value)>;
  Score score = [score = function.score, learned = std::move(learned)](Value q, Value k) {
    return score(std::move(q), std::move(k), learned);
  };
  const PositionKind& positions = kind_of_positions(problem);
  if (!positions.of_scores) return score;
  return [score = std::move(score), &positions, table = parameters.at("position_table")](Value q, Value k) {
    Value relative = positions.of_scores(q, k, table);
    return add(name("content", score(std::move(q), std::move(k))), std::move(relative));
  };
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(score_function(problem).scale, sizes);
}

const PositionKind& kind_of_positions(const Problem& problem) {
  return look_up(position_kinds(), problem.positions, "kind of positions");
}

std::optional<Matrix> allowed_cells(const Problem& problem, std::span<const std::size_t> valid_lengths,
                                    Shape shape) {
  std::optional<Matrix> allowed;
  const auto allow = [&](Matrix mask) {
    allowed = allowed ? both(std::move(mask), *allowed) : std::move(mask);
  };
  if (problem.mask && !problem.mask->additive) {
    require_shape(*problem.mask, shape);
    allow(problem.mask->matrix);
  }
  if (problem.causal) allow(causal_mask(shape));
  if (!valid_lengths.empty()) allow(valid_length_mask(shape, valid_lengths));
  return allowed;
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  require_shape(*problem.mask, shape);
  return problem.mask->matrix;
}

}  // namespace attn
