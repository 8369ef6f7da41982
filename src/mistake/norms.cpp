#include <array>
#include <cmath>

#include "mistake/parts.hpp"
#include "op/gradients.hpp"
#include "op/known.hpp"

// Mistakes with layer normalization and root mean square normalization.

namespace attn {
namespace {

// The parts of a normalized matrix as they now are.
struct Standardized {
  Value x, means, variances;
  double epsilon;
};

std::optional<Standardized> standardized(const Node& node, Rewriting& again) {
  if (!node.is(role::normalised) || node.operands.size() != 3) return std::nullopt;
  return Standardized{again.of(*node.operands[0]), again.of(*node.operands[1]), again.of(*node.operands[2]),
                      *epsilon_of(*node.operation)};
}

// The matrix that root mean square normalization works on, as it now is.
Made divided_by_root(const Node& node, Rewriting& again) {
  if (!node.is(role::normalised) || node.operands.size() != 1) return std::nullopt;
  return again.of(*node.operands[0]);
}

Value plus(const Value& column, double number) {
  return number == 0.0 ? column : add(column, constant_like(column, number));
}

Value squared(const Value& x) {
  return multiply(x, x);
}

// √variance: the length of the distances from the mean, over √d.
Value deviations(const Standardized& now) {
  const Value distances = subtract(now.x, now.means);
  const Value lengths = row_sums(multiply(distances, unit_rows(distances)));
  return times(lengths, plain_number(1.0 / std::sqrt(static_cast<double>(now.x.shape().columns))));
}

// x / divisor, row by row: of a deviation only its square is asked for.
Value over(const Value& x, const Value& divisors) {
  return divide_by_deviation(x, squared(divisors), 0.0);
}

// (x − mean) / divisor
Value divided_by(const Standardized& now, const Value& divisors) {
  return over(subtract(now.x, now.means), divisors);
}

Made by_n_minus_1(const Node& node, Rewriting& again) {
  if (!node.is(role::variance)) return std::nullopt;
  const auto d = static_cast<double>(node.operands[0]->frame.shape.columns);
  if (d < 2.0) return std::nullopt;
  return times(again.unchanged(node), plain_number(d / (d - 1.0)));
}

Made epsilon_outside(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  if (!now || now->epsilon == 0.0) return std::nullopt;
  return divided_by(*now, plus(deviations(*now), now->epsilon));
}

Made root_of_deviation(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  if (!now) return std::nullopt;
  return divide_by_deviation(subtract(now->x, now->means), deviations(*now), now->epsilon);
}

Made by_variance(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  return now ? Made(divided_by(*now, plus(now->variances, now->epsilon))) : std::nullopt;
}

Made by_squared_variance(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  return now ? Made(divided_by(*now, squared(plus(now->variances, now->epsilon)))) : std::nullopt;
}

Made without_epsilon(const Node& node, Rewriting& again) {
  if (const auto now = standardized(node, again)) {
    return now->epsilon == 0.0 ? Made() : standardize(now->x, now->means, now->variances, 0.0);
  }
  const Made x = divided_by_root(node, again);
  return x && epsilon_of(*node.operation) != 0.0 ? Made(divide_by_root_mean_square(*x, 0.0)) : std::nullopt;
}

Made mean_not_subtracted(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  if (!now) return std::nullopt;
  return divide_by_deviation(now->x, now->variances, now->epsilon);
}

Made root_mean_square_instead(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  return now ? Made(divide_by_root_mean_square(now->x, now->epsilon)) : std::nullopt;
}

Made not_divided(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  return now ? Made(subtract(now->x, now->means)) : std::nullopt;
}

Made over_words(const Node& node, Rewriting& again) {
  if (const auto now = standardized(node, again)) {
    const Value x = transpose(now->x), means = row_means(x);
    return transpose(standardize(x, means, row_variances(x, means), now->epsilon));
  }
  const Made x = divided_by_root(node, again);
  if (!x) return std::nullopt;
  return transpose(divide_by_root_mean_square(transpose(*x), *epsilon_of(*node.operation)));
}

Made over_everything(const Node& node, Rewriting& again) {
  const auto now = standardized(node, again);
  if (!now) return std::nullopt;
  // 1/n in n × n cells: times a column, its mean in every row.
  const Value equal = uniform(matmul_transposed(now->x, now->x));
  const Value mean = matmul(equal, now->means);
  const Value variance = matmul(equal, row_means(squared(subtract(now->x, mean))));
  return divide_by_deviation(subtract(now->x, mean), variance, now->epsilon);
}

// Of x ⊙ γ and of that plus β, as they are made of what is normalized.
bool stretches(const Node& node) {
  const Node *const x = operand(node, 0), *const by = operand(node, 1);
  return by && x->is(role::normalised) && by->is(role::gamma);
}
bool shifts(const Node& node) {
  const Node *const x = operand(node, 0), *const by = operand(node, 1);
  return by && stretches(*x) && by->is(role::beta);
}

Made without_gamma(const Node& node, Rewriting& again) {
  return stretches(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made without_beta(const Node& node, Rewriting& again) {
  return shifts(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made without_gamma_and_beta(const Node& node, Rewriting& again) {
  return shifts(node) ? Made(again.of(*node.operands[0]->operands[0])) : std::nullopt;
}

Made gamma_and_beta_exchanged(const Node& node, Rewriting& again) {
  if (!shifts(node)) return std::nullopt;
  const Node& stretched = *node.operands[0];
  const Value normalised = again.of(*stretched.operands[0]);
  return add(multiply(normalised, again.of(*node.operands[1])), again.of(*stretched.operands[1]));
}

Made beta_before_gamma(const Node& node, Rewriting& again) {
  if (!shifts(node)) return std::nullopt;
  const Node& stretched = *node.operands[0];
  const Value shifted = add(again.of(*stretched.operands[0]), again.of(*node.operands[1]));
  return multiply(shifted, again.of(*stretched.operands[1]));
}

Made not_normalised(const Node& node, Rewriting& again) {
  const Node* const normalised = node.is(role::output) ? node.beside(role::normalised) : nullptr;
  return normalised ? Made(again.of(*normalised->operands[0])) : std::nullopt;
}

Made without_root(const Node& node, Rewriting& again) {
  const Made x = divided_by_root(node, again);
  if (!x) return std::nullopt;
  const Value squares = plus(row_means(squared(*x)), *epsilon_of(*node.operation));
  return over(*x, squares);
}

Made by_length(const Node& node, Rewriting& again) {
  const Made x = divided_by_root(node, again);
  return x ? Made(unit_rows(*x)) : std::nullopt;
}

Made layer_norm_instead(const Node& node, Rewriting& again) {
  const Made x = divided_by_root(node, again);
  if (!x) return std::nullopt;
  const Value means = row_means(*x);
  return standardize(*x, means, row_variances(*x, means), *epsilon_of(*node.operation));
}

constexpr std::array table = {
    Mistake{"variance-by-n-minus-1", error, "the variance divided by n − 1",
            "This is what division by n − 1 gives, as for the variance of a sample (torch.var divides so "
            "unless told otherwise). Layer normalization divides the sum of the squared distances by n.",
            by_n_minus_1},
    Mistake{"epsilon-outside-the-root", error, "ε added to the standard deviation",
            "This is what √variance + ε gives. ε stands under the root: √(variance + ε).", epsilon_outside},
    Mistake{"root-of-the-deviation", error, "the root taken twice",
            "This is what the root of the standard deviation gives: a root was taken twice. Divide by "
            "√(variance + ε).",
            root_of_deviation},
    Mistake{"divided-by-the-variance", error, "division by the variance instead of its root",
            "This is what division by the variance gives. Divide by its root, √(variance + ε).", by_variance},
    Mistake{"divided-by-the-variance-squared", error, "the variance squared instead of its root",
            "This is what the power of 2 gives in place of the power of 0.5. Divide by √(variance + ε).",
            by_squared_variance},
    Mistake{"norm-without-epsilon", error, "normalization without ε",
            "This is what normalization gives without ε. Add ε under the root.", without_epsilon},
    Mistake{"mean-not-subtracted", error, "normalization without subtracting the mean",
            "This is what division gives when the mean is not subtracted before. Subtract it first, so that "
            "each row has the mean 0.",
            mean_not_subtracted},
    Mistake{"rms-for-layer-norm", error, "root mean square normalization instead of layer normalization",
            "This is what root mean square normalization gives (RMSNorm, as in Llama): each row divided by "
            "the root of the mean of its squares. Layer normalization subtracts the mean first.",
            root_mean_square_instead},
    Mistake{"norm-not-divided", error, "only the mean subtracted",
            "These are the numbers less their mean. Divide them by √(variance + ε) as well.", not_divided},
    Mistake{"norm-over-words", error, "normalization down the columns instead of along the rows",
            "This is what normalization of each column gives, over all words. Normalize each row, so that a "
            "word does not depend on the others.",
            over_words},
    Mistake{"norm-over-everything", error, "one mean and one variance for the whole matrix",
            "This is what one mean and one variance of the whole matrix give. Take those of each row.",
            over_everything},
    Mistake{"gamma-missing", error, "normalization without γ",
            "This is what normalization gives without γ. Multiply each column by its number in γ.",
            without_gamma},
    Mistake{"beta-missing", error, "normalization without β",
            "This is what normalization gives without β. Add its number to each column at the end.",
            without_beta},
    Mistake{"gamma-and-beta-missing", error, "normalization without γ and β",
            "This is what normalization gives without γ and β. Multiply each column by its number in γ, and "
            "add its number in β.",
            without_gamma_and_beta},
    Mistake{"gamma-and-beta-exchanged", error, "γ and β exchanged",
            "This is what γ and β give when they are exchanged. Multiply by γ, and then add β.",
            gamma_and_beta_exchanged},
    Mistake{"beta-before-gamma", error, "β added before γ multiplies",
            "This is what comes out when β is added before γ multiplies. Multiply by γ first.",
            beta_before_gamma},
    Mistake{"norm-missing", error, "no normalization",
            "This is what goes into the normalization. Normalize it.", not_normalised},
    Mistake{"mean-square-without-root", error, "division by the mean square instead of its root",
            "This is what division by the mean of the squares gives. Divide by its root, √(mean of the "
            "squares + ε).",
            without_root},
    Mistake{"divided-by-the-length", error, "the sum of the squares instead of their mean",
            "This is what division by the length of the row gives, the root of the sum of its squares. Take "
            "the root of their mean, with ε.",
            by_length},
    Mistake{"layer-norm-for-rms", error, "layer normalization instead of root mean square normalization",
            "This is what layer normalization gives, which subtracts the mean. Root mean square "
            "normalization does not subtract it.",
            layer_norm_instead},
};

}  // namespace

std::span<const Mistake> mistakes_of_norms() {
  return table;
}

}  // namespace attn
