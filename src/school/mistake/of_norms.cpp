#include <algorithm>
#include <cmath>

#include "core/op/gradient_operations.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// Mistakes with layer normalization and root mean square normalization.

namespace {

// A normalized matrix: of x, means and variances; of x alone, which is divided by its root mean square; or of
// either.
bool standardizes(const Node& node) { return node.is(role::normalised) && node.operands.size() == 3; }
bool divides_by_root(const Node& node) { return node.is(role::normalised) && node.operands.size() == 1; }
bool normalizes(const Node& node) { return standardizes(node) || divides_by_root(node); }

double epsilon_in(const Node& node) { return *node.find(setting::epsilon); }

// x ⊙ γ, as it is made of what is normalized.
bool stretches(const Node& node) {
  const Node *const x = operand(node, 0), *const by = operand(node, 1);
  return by && x->is(role::normalised) && has_role<role::gamma, role::gamma_q, role::gamma_k>(*by);
}

Value plus(const Value& column, double number) {
  return number == 0.0 ? column : add(column, constant_like(column, number));
}

Value squared(const Value& x) { return multiply(x, x); }

Value centered(RewriteSite at) { return subtract(at[0], at[1]); }

// √variance, where the variance is what it now is: itself over its root.
Value deviations(RewriteSite at) {
  constexpr double least = 1e-300;  // of a row of equal numbers the root is 0
  return divide_by_deviation(at[2], at[2], least);
}

// x / divisor, row by row: of a deviation only its square is asked for.
Value over(const Value& x, const Value& divisors) { return divide_by_deviation(x, squared(divisors), 0.0); }

// x · factor, row by row.
Value times_each_row(const Value& x, const Value& factors) {
  return multiply(x, repeat_columns(factors, x.shape().columns, x.node().frame.columns));
}

Value with_variance_and_epsilon(RewriteSite at) { return plus(at[2], epsilon_in(at.node)); }

Value layer_normalized(const Value& x, double epsilon) {
  const Value means = row_means(x);
  return standardize(x, means, row_variances(x, means), epsilon);
}

// √(variance + ε), or of the mean of the squares.
Made multiplied_by_the_deviation(RewriteSite at) {
  const bool subtracts = standardizes(at.node);
  const Value divided = plus(subtracts ? at[2] : row_means(squared(at[0])), epsilon_in(at.node));
  constexpr double least = 1e-300;  // of a row of equal numbers the root is 0
  return times_each_row(subtracts ? centered(at) : at[0], divide_by_deviation(divided, divided, least));
}

// Division before subtraction.
Made divided_without_brackets(RewriteSite at) {
  return subtract(at[0], divide_by_deviation(at[1], at[2], epsilon_in(at.node)));
}

bool divides_several_by_root(const Node& node) { return divides_by_root(node) && node.frame.shape.columns >= 2; }
Made mean_square_by_n_minus_1(RewriteSite at) {
  const auto d = static_cast<double>(at.node.frame.shape.columns);
  const Value squares = times(row_means(squared(at[0])), plain_number(d / (d - 1.0)));
  return divide_by_deviation(at[0], squares, epsilon_in(at.node));
}

bool has_sample_variance(const Node& node) {
  return node.is(role::variance) && node.operands[0]->frame.shape.columns >= 2;
}
Made by_n_minus_1(RewriteSite at) {
  const auto d = static_cast<double>(at.node.operands[0]->frame.shape.columns);
  return multiplied(at, d / (d - 1.0));
}

bool normalizes_with_epsilon(const Node& node) { return normalizes(node) && epsilon_in(node) != 0.0; }

Made without_epsilon(RewriteSite at) {
  if (standardizes(at.node)) return standardize(at[0], at[1], at[2], 0.0);
  return divide_by_root_mean_square(at[0], 0.0);
}

Made epsilon_outside_the_root(RewriteSite at) {
  if (standardizes(at.node)) return over(centered(at), plus(deviations(at), epsilon_in(at.node)));
  constexpr double least = 1e-300;  // of a row of zeros the root is 0
  const Value squares = row_means(squared(at[0]));
  return over(at[0], plus(divide_by_deviation(squares, squares, least), epsilon_in(at.node)));
}

// x̂ + x̂ ⊙ γ, as Gemma has it.
bool adds_one_to_gamma(const Node& node) {
  const Node *const x = operand(node, 0), *const stretched = operand(node, 1);
  return node.op == &op::add && stretched && x->is(role::normalised) && stretches(stretched->original());
}

Made over_words(RewriteSite at) {
  const Value x = transpose(at[0]);
  const double epsilon = epsilon_in(at.node);
  return transpose(standardizes(at.node) ? layer_normalized(x, epsilon) : divide_by_root_mean_square(x, epsilon));
}

Made over_everything(RewriteSite at) {
  // 1/n in n × n cells: times a column, its mean in every row.
  const Value equal = uniform(matmul_transposed(at[0], at[0]));
  const Value mean = matmul(equal, at[1]);
  const Value variance = matmul(equal, row_means(squared(subtract(at[0], mean))));
  return divide_by_deviation(subtract(at[0], mean), variance, epsilon_in(at.node));
}

// That plus β.
bool shifts(const Node& node) {
  const Node *const x = operand(node, 0), *const by = operand(node, 1);
  return by && stretches(*x) && by->is(role::beta);
}

Made gamma_and_beta_exchanged(RewriteSite at) {
  const Node& stretched = *at.node.operands[0];
  return add(multiply(at.of(*stretched.operands[0]), at[1]), at.of(*stretched.operands[1]));
}

Made beta_before_gamma(RewriteSite at) {
  const Node& stretched = *at.node.operands[0];
  return multiply(add(at.of(*stretched.operands[0]), at[1]), at.of(*stretched.operands[1]));
}

// What comes out of a norm, and what goes into it.
bool ends_any_norm(const Node& node) { return node.is(role::output) && node.beside(role::normalised); }
bool ends_last_norm(const Node& node) {
  return ends_any_norm(node) && node.place && node.place->is(scope::norm) && !node.place->number;
}
Made before_norm(RewriteSite at) { return at.of(*at.node.beside(role::normalised)->operands[0]); }

// √(sum of the squares + ε)
Made by_the_length_with_epsilon(RewriteSite at) {
  const Value squares = times(row_means(squared(at[0])), plain_number(at.node.frame.shape.columns));
  return divide_by_deviation(at[0], squares, epsilon_in(at.node));
}

constexpr Mistake mistakes_in_norms[] = {
    {"variance-by-n-minus-1", error, "the variance divided by n − 1",
     "This is what division by n − 1 gives, as for the variance of a sample (torch.var divides so unless told otherwise). "
     "Layer normalization divides the sum of the squared distances by n.",
     has_sample_variance, by_n_minus_1},
    {"epsilon-outside-the-root", convention, "ε added to the standard deviation",
     "This is what a root gives to which ε is added, as in The Annotated Transformer. Here ε stands under the root.",
     normalizes_with_epsilon, epsilon_outside_the_root},
    {"one-not-added-to-gamma", error, "γ in the place of 1 + γ",
     "This is what comes out when the normalized row is multiplied by γ. This norm multiplies it by 1 + γ.",
     adds_one_to_gamma, second_alone},
    {"root-of-the-deviation", error, "the root taken twice",
     "This is what the root of the standard deviation gives: a root was taken twice. "
     "Divide by √(variance + ε).",
     standardizes,
     [](RewriteSite at) -> Made { return divide_by_deviation(centered(at), deviations(at), epsilon_in(at.node)); }},
    {"divided-by-the-variance", error, "division by the variance instead of its root",
     "This is what division by the variance gives. Divide by its root, √(variance + ε).", standardizes,
     [](RewriteSite at) -> Made { return over(centered(at), with_variance_and_epsilon(at)); }},
    {"divided-by-the-variance-squared", error, "the variance squared instead of its root",
     "This is what the power of 2 gives in place of the power of 0.5. Divide by √(variance + ε).", standardizes,
     [](RewriteSite at) -> Made { return over(centered(at), squared(with_variance_and_epsilon(at))); }},
    {"multiplied-by-the-deviation", error, "multiplication by the root instead of division",
     "This is what multiplication by the root gives. Divide by it, or multiply by 1 over the root (rsqrt).", normalizes,
     multiplied_by_the_deviation},
    {"norm-without-brackets", error, "only the mean divided",
     "This is what x − mean / √(variance + ε) gives without brackets: the mean alone is divided. "
     "Subtract it first, and divide the difference: (x − mean) / √(variance + ε).",
     standardizes, divided_without_brackets},
    {"norm-without-epsilon", error, "normalization without ε",
     "This is what normalization gives without ε. Add ε under the root.",
     [](const Node& node) { return normalizes(node) && epsilon_in(node) != 0.0; }, without_epsilon},
    {"mean-not-subtracted", error, "normalization without subtracting the mean",
     "This is what division gives when the mean is not subtracted before. "
     "Subtract it first, so that each row has the mean 0.",
     standardizes, [](RewriteSite at) -> Made { return divide_by_deviation(at[0], at[2], epsilon_in(at.node)); }},
    {"rms-for-layer-norm", error, "root mean square normalization instead of layer normalization",
     "This is what root mean square normalization gives (RMSNorm, as in Llama): each row divided by the root of the mean of its squares. "
     "Layer normalization subtracts the mean first.",
     standardizes, [](RewriteSite at) -> Made { return divide_by_root_mean_square(at[0], epsilon_in(at.node)); }},
    {"norm-not-divided", error, "only the mean subtracted",
     "These are the numbers less their mean. Divide them by √(variance + ε) as well.", standardizes,
     [](RewriteSite at) -> Made { return centered(at); }},
    {"norm-over-words", error, "normalization down the columns instead of along the rows",
     "This is what normalization of each column gives, over all words. "
     "Normalize each row, so that a word does not depend on the others.",
     normalizes, over_words},
    {"norm-over-everything", error, "one mean and one variance for the whole matrix",
     "This is what one mean and one variance of the whole matrix give. Take those of each row.", standardizes,
     over_everything},
    {"gamma-missing", error, "normalization without γ",
     "This is what normalization gives without γ. Multiply each column by its number in γ.", stretches, left_out},
    {"beta-missing", error, "normalization without β",
     "This is what normalization gives without β. Add its number to each column at the end.", shifts, left_out},
    {"gamma-and-beta-missing", error, "normalization without γ and β",
     "This is what normalization gives without γ and β. Multiply each column by its number in γ, and add its number in β.",
     shifts, [](RewriteSite at) -> Made { return at.of(*at.node.operands[0]->operands[0]); }},
    {"gamma-and-beta-exchanged", error, "γ and β exchanged",
     "This is what γ and β give when they are exchanged. Multiply by γ, and then add β.", shifts,
     gamma_and_beta_exchanged},
    {"beta-before-gamma", error, "β added before γ multiplies",
     "This is what comes out when β is added before γ multiplies. Multiply by γ first.", shifts, beta_before_gamma},
    {"length-1-for-layer-norm", error, "rows divided by their length",
     "This is what comes out when each row is divided by its length, after the mean is subtracted. "
     "Divide by √(variance + ε), which is the length over √d.",
     standardizes, [](RewriteSite at) -> Made { return unit_rows(centered(at)); }},
    {"last-norm-missing", error, "no normalization behind the last layer",
     "This is what comes out without the normalization behind the last layer. Normalize there as well.", ends_last_norm,
     before_norm},
    {"norm-missing", error, "no normalization", "This is what goes into the normalization. Normalize it.",
     ends_any_norm, before_norm},
    {"mean-square-without-root", error, "division by the mean square instead of its root",
     "This is what division by the mean of the squares gives. "
     "Divide by its root, √(mean of the squares + ε).",
     divides_by_root,
     [](RewriteSite at) -> Made { return over(at[0], plus(row_means(squared(at[0])), epsilon_in(at.node))); }},
    {"mean-square-by-n-minus-1", error, "the sum of the squares divided by n − 1",
     "This is what division by n − 1 gives, as for the variance of a sample. "
     "The mean of the squares is their sum divided by n.",
     divides_several_by_root, mean_square_by_n_minus_1},
    {"divided-by-the-length",
     error,
     "the sum of the squares instead of their mean",
     "This is what division by the length of the row gives, the root of the sum of its squares. "
     "Take the root of their mean, with ε.",
     divides_by_root,
     [](RewriteSite at) -> Made { return unit_rows(at[0]); },
     {by_the_length_with_epsilon}},
    {"layer-norm-for-rms", error, "layer normalization instead of root mean square normalization",
     "This is what layer normalization gives, which subtracts the mean. "
     "Root mean square normalization does not subtract it.",
     divides_by_root, [](RewriteSite at) -> Made { return layer_normalized(at[0], epsilon_in(at.node)); }},
};

Made with_epsilon(RewriteSite at, double number) {
  if (standardizes(at.node)) return standardize(at[0], at[1], at[2], number);
  return divide_by_root_mean_square(at[0], number);
}
bool is_variance(const Node& node) { return node.is(role::variance) && node.op; }
Made gamma_plus(RewriteSite at, double number) { return add(at.itself(), times(at[0], plain_number(number))); }

constexpr MistakeWithNumber numbers_of_norms[] = {
    {{"another-epsilon", error, "normalization with another ε",
      "This is what normalization gives with another ε. Use the ε of the formula.", normalizes, nullptr},
     with_epsilon,
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {1e-6, 1e-5, 1e-3, 1e-8, 1e-12, 0.1, 1.0}},
    {{"another-variance", error, "a multiple of the variance",
      "This is what normalization gives with a multiple of the variance. The variance is the mean of the squared distances.",
      is_variance, nullptr},
     [](RewriteSite at, double number) -> Made { return multiplied(at, number); },
     amount_as_factor,
     MistakeWithNumber::Scale::logarithmic,
     {2.0}},
    {{"gamma-shifted", error, "a number added to γ",
      "This is what γ gives when a number is added to it, as for models that store γ − 1. Multiply by γ as it is.",
      stretches, nullptr},
     gamma_plus,
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {1.0, -1.0}},
};

}  // namespace

std::span<const Mistake> mistakes_of_norms() { return mistakes_in_norms; }

std::span<const MistakeWithNumber> numbers_in_norms() { return numbers_of_norms; }

}  // namespace attn
