#include "data/problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

const ScoringFunction& scoring_function(const Problem& problem) {
  return look_up(scoring_functions(), problem.score, "scoring function");
}

void require_shape(const Matrix& mask, Shape shape) {
  const Shape given = mask.shape();
  if (given.columns == shape.columns && (given.rows == shape.rows || given.rows == 1)) return;
  fail(
      "‹mask› is {} but the scores are {}: give a mask with one row per query, or one row for all queries, and one column per key",
      to_string(given), to_string(shape));
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (problem.multiplier) return std::nullopt;
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(scoring_function(problem).scale, sizes);
}

std::optional<Scalar> scalar(const std::optional<double>& number) {
  if (!number) return std::nullopt;
  const std::string written = fmt::format("{}", std::fabs(*number));
  if (*number >= 0.0) return Scalar{*number, {written, written}, written};
  return Scalar{*number, {"(−" + written + ")", "\\left(-" + written + "\\right)"}, "−" + written};
}

}  // namespace

AttentionRecipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes) {
  AttentionRecipe recipe = scaling_of(problem, sizes);
  recipe.function = &scoring_function(problem);
  recipe.learned = {parameters, problem.score_sigma};
  recipe.positions = &kind_of_positions(problem);
  recipe.position_table = find(parameters, role::position_table);
  recipe.waves.base = problem.base;
  return complete(std::move(recipe));
}

AttentionRecipe scaling_of(const Problem& problem, const KeySizes& sizes) {
  return {.divisor = divisor_of(problem, sizes), .factor = scalar(problem.multiplier), .cap = scalar(problem.soft_cap)};
}

const PositionKind& kind_of_positions(const Problem& problem) {
  return look_up(position_kinds(), problem.positions, "kind of positional encoding");
}

std::vector<MaskRule> mask_rules(const Problem& problem, const Padding& padding, Shape shape, std::size_t head) {
  std::vector<MaskRule> rules;
  if (problem.mask && !problem.mask->additive) {
    require_shape(problem.mask->of_head(head), shape);
    rules.push_back(rule_of(problem.mask->of_head(head)));
  }
  if (padding.of_keys) {
    if (padding.of_keys->shape().columns != shape.columns) {
      fail("‹key_mask› has {} but the scores have {}: give one column per key",
           count_of(padding.of_keys->shape().columns, "column"), shape.columns);
    }
    rules.push_back(rule_of(*padding.of_keys));
  }
  if (problem.causal) rules.push_back(causal_rule(problem.causal_offset));
  if (!padding.valid_lengths.empty()) rules.push_back(valid_length_rule(shape, padding.valid_lengths));
  const std::vector<bool> blanks = blanks_among(padding.words);
  if (problem.masks_blanks() && any(blanks)) {
    rules.push_back(padding_rule(std::make_shared<const std::vector<bool>>(blanks), shape));
  }
  return rules;
}

std::optional<std::string> remark_on_lengths(const Option& option, std::span<const std::size_t> lengths,
                                             std::size_t keys) {
  const auto found = std::ranges::find_if(lengths, [&](std::size_t length) { return length > keys; });
  if (found == lengths.end()) return std::nullopt;
  return fmt::format("{} {} is more than the number of keys, {}: it counts as all of them", option.name, *found, keys);
}

void require_permissions(std::string_view called, const MatrixFile& file) {
  const std::string place = file.where.empty() ? std::string(called) : fmt::format("{}: {}", file.where, called);
  const std::span<const double> all = cells(file.matrix);
  const auto other = std::ranges::find_if(all, [](double cell) { return cell != 0.0 && cell != 1.0; });
  if (other != all.end()) {
    const auto at = static_cast<std::size_t>(other - all.begin()), columns = file.matrix.shape().columns;
    fail(
        "{}: the cell in row {}, column {} is {}: give true or 1 for each key that may be attended to, and false or 0 for padding",
        place, at / columns + 1, at % columns + 1, *other);
  }
  if (file.kind == CellKind::real)
    fail("{}: give true or 1 (not 1.0) for each key that may be attended to, and false or 0 for padding", place);
}

void require_key_mask(const Option& option, const MatrixFile& file, std::size_t sentences) {
  require_permissions(option.name, file);
  const Matrix& mask = file.matrix;
  if (mask.shape().rows == 1 || mask.shape().rows == sentences) return;
  fail("{} has {}: give one{:|, or one for each of the # sentences}", option.name, count_of(mask.shape().rows, "row"),
       Count{sentences});
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape, std::size_t head) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  const Matrix& given = problem.mask->of_head(head);
  require_shape(given, shape);
  if (given.shape() == shape) return given;
  Matrix repeated(shape);
  for (std::size_t i = 0; i < shape.rows; ++i) std::ranges::copy(row(given, 0), row(repeated, i).begin());
  return repeated;
}

}  // namespace attn
