#include <algorithm>
#include <cmath>

#include "core/op/ways.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- norms
// Mistakes with layer normalization and root mean square normalization.

namespace {

// A normalized matrix: of x, means and variances; of x alone, which is divided by its root mean square; or of
// either.
bool standardizes(const Node& node) { return node.is(role::normalised) && node.operands.size() == 3; }
bool divides_by_root(const Node& node) { return node.is(role::normalised) && node.operands.size() == 1; }
bool normalizes(const Node& node) { return standardizes(node) || divides_by_root(node); }

double epsilon_in(const Node& node) { return *node.find(setting::epsilon); }

Value plus(const Value& column, double number) {
  return number == 0.0 ? column : add(column, constant_like(column, number));
}

Value squared(const Value& x) { return multiply(x, x); }

Value centered(At at) { return subtract(at[0], at[1]); }

// √variance: the length of the distances from the mean, over √d.
Value deviations(At at) {
  const Value distances = centered(at);
  const Value lengths = row_sums(multiply(distances, unit_rows(distances)));
  return times(lengths, plain_number(1.0 / std::sqrt(static_cast<double>(distances.shape().columns))));
}

// x / divisor, row by row: of a deviation only its square is asked for.
Value over(const Value& x, const Value& divisors) { return divide_by_deviation(x, squared(divisors), 0.0); }

Value with_variance_and_epsilon(At at) { return plus(at[2], epsilon_in(at.node)); }

Value layer_normalized(const Value& x, double epsilon) {
  const Value means = row_means(x);
  return standardize(x, means, row_variances(x, means), epsilon);
}

bool has_sample_variance(const Node& node) {
  return node.is(role::variance) && node.operands[0]->frame.shape.columns >= 2;
}
Made by_n_minus_1(At at) {
  const auto d = static_cast<double>(at.node.operands[0]->frame.shape.columns);
  return multiplied(at, d / (d - 1.0));
}

bool standardizes_with_epsilon(const Node& node) { return standardizes(node) && epsilon_in(node) != 0.0; }

Made without_epsilon(At at) {
  if (standardizes(at.node)) return standardize(at[0], at[1], at[2], 0.0);
  return divide_by_root_mean_square(at[0], 0.0);
}

Made over_words(At at) {
  const Value x = transpose(at[0]);
  const double epsilon = epsilon_in(at.node);
  return transpose(standardizes(at.node) ? layer_normalized(x, epsilon) : divide_by_root_mean_square(x, epsilon));
}

Made over_everything(At at) {
  // 1/n in n × n cells: times a column, its mean in every row.
  const Value equal = uniform(matmul_transposed(at[0], at[0]));
  const Value mean = matmul(equal, at[1]);
  const Value variance = matmul(equal, row_means(squared(subtract(at[0], mean))));
  return divide_by_deviation(subtract(at[0], mean), variance, epsilon_in(at.node));
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

Made gamma_and_beta_exchanged(At at) {
  const Node& stretched = *at.node.operands[0];
  return add(multiply(at.of(*stretched.operands[0]), at[1]), at.of(*stretched.operands[1]));
}

Made beta_before_gamma(At at) {
  const Node& stretched = *at.node.operands[0];
  return multiply(add(at.of(*stretched.operands[0]), at[1]), at.of(*stretched.operands[1]));
}

constexpr Mistake mistakes_in_norms[] = {
    {"variance-by-n-minus-1", error, "the variance divided by n − 1",
     "This is what division by n − 1 gives, as for the variance of a sample (torch.var divides so unless told otherwise). "
     "Layer normalization divides the sum of the squared distances by n.",
     has_sample_variance, by_n_minus_1},
    {"epsilon-outside-the-root", error, "ε added to the standard deviation",
     "This is what √variance + ε gives. ε stands under the root: √(variance + ε).", standardizes_with_epsilon,
     [](At at) -> Made { return over(centered(at), plus(deviations(at), epsilon_in(at.node))); }},
    {"root-of-the-deviation", error, "the root taken twice",
     "This is what the root of the standard deviation gives: a root was taken twice. "
     "Divide by √(variance + ε).",
     standardizes,
     [](At at) -> Made { return divide_by_deviation(centered(at), deviations(at), epsilon_in(at.node)); }},
    {"divided-by-the-variance", error, "division by the variance instead of its root",
     "This is what division by the variance gives. Divide by its root, √(variance + ε).", standardizes,
     [](At at) -> Made { return over(centered(at), with_variance_and_epsilon(at)); }},
    {"divided-by-the-variance-squared", error, "the variance squared instead of its root",
     "This is what the power of 2 gives in place of the power of 0.5. Divide by √(variance + ε).", standardizes,
     [](At at) -> Made { return over(centered(at), squared(with_variance_and_epsilon(at))); }},
    {"norm-without-epsilon", error, "normalization without ε",
     "This is what normalization gives without ε. Add ε under the root.",
     [](const Node& node) { return normalizes(node) && epsilon_in(node) != 0.0; }, without_epsilon},
    {"mean-not-subtracted", error, "normalization without subtracting the mean",
     "This is what division gives when the mean is not subtracted before. "
     "Subtract it first, so that each row has the mean 0.",
     standardizes, [](At at) -> Made { return divide_by_deviation(at[0], at[2], epsilon_in(at.node)); }},
    {"rms-for-layer-norm", error, "root mean square normalization instead of layer normalization",
     "This is what root mean square normalization gives (RMSNorm, as in Llama): each row divided by the root of the mean of its squares. "
     "Layer normalization subtracts the mean first.",
     standardizes, [](At at) -> Made { return divide_by_root_mean_square(at[0], epsilon_in(at.node)); }},
    {"norm-not-divided", error, "only the mean subtracted",
     "These are the numbers less their mean. Divide them by √(variance + ε) as well.", standardizes,
     [](At at) -> Made { return centered(at); }},
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
     shifts, [](At at) -> Made { return at.of(*at.node.operands[0]->operands[0]); }},
    {"gamma-and-beta-exchanged", error, "γ and β exchanged",
     "This is what γ and β give when they are exchanged. Multiply by γ, and then add β.", shifts,
     gamma_and_beta_exchanged},
    {"beta-before-gamma", error, "β added before γ multiplies",
     "This is what comes out when β is added before γ multiplies. Multiply by γ first.", shifts, beta_before_gamma},
    {"norm-missing", error, "no normalization", "This is what goes into the normalization. Normalize it.",
     [](const Node& node) { return node.is(role::output) && node.beside(role::normalised); },
     [](At at) -> Made { return at.of(*at.node.beside(role::normalised)->operands[0]); }},
    {"mean-square-without-root", error, "division by the mean square instead of its root",
     "This is what division by the mean of the squares gives. "
     "Divide by its root, √(mean of the squares + ε).",
     divides_by_root, [](At at) -> Made { return over(at[0], plus(row_means(squared(at[0])), epsilon_in(at.node))); }},
    {"divided-by-the-length", error, "the sum of the squares instead of their mean",
     "This is what division by the length of the row gives, the root of the sum of its squares. "
     "Take the root of their mean, with ε.",
     divides_by_root, [](At at) -> Made { return unit_rows(at[0]); }},
    {"layer-norm-for-rms", error, "layer normalization instead of root mean square normalization",
     "This is what layer normalization gives, which subtracts the mean. "
     "Root mean square normalization does not subtract it.",
     divides_by_root, [](At at) -> Made { return layer_normalized(at[0], epsilon_in(at.node)); }},
};

}  // namespace

std::span<const Mistake> mistakes_of_norms() { return mistakes_in_norms; }

namespace {

Made with_epsilon(At at, double number) {
  if (standardizes(at.node)) return standardize(at[0], at[1], at[2], number);
  return divide_by_root_mean_square(at[0], number);
}
bool is_variance(const Node& node) { return node.is(role::variance) && node.op; }
Made gamma_plus(At at, double number) { return add(at.itself(), times(at[0], plain_number(number))); }

}  // namespace

namespace {

constexpr MistakeWithNumber numbers_of_norms[] = {
    {{"another-epsilon", error, "normalization with another ε",
      "This is what normalization gives with another ε. Use the ε of the formula.", normalizes, nullptr},
     with_epsilon,
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {1e-6, 1e-5, 1e-3, 1e-8, 1e-12, 0.1, 1.0, MistakeWithNumber::no_more}},
    {{"another-variance", error, "a multiple of the variance",
      "This is what normalization gives with a multiple of the variance. The variance is the mean of the squared distances.",
      is_variance, nullptr},
     [](At at, double number) -> Made { return multiplied(at, number); },
     amount_as_factor,
     MistakeWithNumber::Scale::logarithmic,
     {2.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"gamma-shifted", error, "a number added to γ",
      "This is what γ gives when a number is added to it, as for models that store γ − 1. Multiply by γ as it is.",
      stretches, nullptr},
     gamma_plus,
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {1.0, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-multiple-of-the-residual", error, "the residual connection not added once",
      "This is what comes out when what goes into the sub-layer is not added once. Add it once.", makes<role::sum>,
      nullptr},
     [](At at, double number) -> Made { return add(times(at[0], plain_number(number)), at[1]); },
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, 0.5, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more, MistakeWithNumber::no_more}},
    {{"another-multiple-of-the-sub-layer", error, "the sub-layer not added once",
      "This is what comes out when the result of the sub-layer is not added once. Add it once.", makes<role::sum>,
      nullptr},
     [](At at, double number) -> Made { return add(at[0], times(at[1], plain_number(number))); },
     amount_added,
     MistakeWithNumber::Scale::linear,
     {0.0, 2.0, 0.5, -1.0, MistakeWithNumber::no_more, MistakeWithNumber::no_more, MistakeWithNumber::no_more,
      MistakeWithNumber::no_more}},
};

}  // namespace

std::span<const MistakeWithNumber> numbers_in_norms() { return numbers_of_norms; }

// --- residuals
// Mistakes with residual connections, and where the norms of layers stand.

namespace {

constexpr std::size_t most_sublayers = 3;

/// A sub-layer with its residual connection and its norm: sum = x + found.
struct Sublayer {
  const Node *x, *found, *sum, *normalized, *output;
  bool is_post;  // the norm is that of the sum; otherwise of x
};

std::optional<Sublayer> sublayer_at(const Graph& graph, const NamedScope* layer, std::size_t number) {
  const Node* const sum = graph.find(layer, {role::sum, number});
  const auto in_norm = [&](const Role& role) { return graph.find(layer, {{{scope::norm, number}}, role}); };
  const Node *const normalized = in_norm(role::normalised), *const output = in_norm(role::output);
  if (!sum || !normalized || !output) return std::nullopt;
  return Sublayer{sum->operands[0], sum->operands[1], sum, normalized, output, normalized->operands[0] == sum};
}

// The sub-layer whose norm a node belongs to.
std::optional<Sublayer> sublayer_of_norm(const Node& node) {
  const NamedScope* const norm = node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || node.family != &family::forward) return std::nullopt;
  return sublayer_at(*node.graph, norm->outer, *norm->number);
}

// The one whose sum, or whose norm's output, a node is, whatever other names it has.
std::optional<Sublayer> sublayer_of_output(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::output)) return std::nullopt;
  return sublayer_of_norm(node);
}
std::optional<Sublayer> sublayer_of_sum(const Node& any) {
  const Node& node = any.original();
  if (!node.is(role::sum)) return std::nullopt;
  for (std::size_t number = 1; number <= most_sublayers; ++number) {
    const auto found = sublayer_at(*node.graph, node.place, number);
    if (found && found->sum == &node) return found;
  }
  return std::nullopt;
}

// The sub-layer of which a node is a projection of what goes in: q, k, v, or the inner one.
std::optional<Sublayer> projected_in(const Node& node) {
  const bool projects = has_role<role::q, role::k, role::v, role::inner>(node);
  if (!projects || !node.op || !node.place) return std::nullopt;
  const std::vector<const Node*> named = node.named_operands();
  for (std::size_t number = 1; number <= most_sublayers && !named.empty(); ++number) {
    const auto found = sublayer_at(*node.graph, node.place->outer, number);
    if (found && &named.front()->original() == found->x) return found;
  }
  return std::nullopt;
}

bool is_post(const std::optional<Sublayer>& sublayer) { return sublayer && sublayer->is_post; }
bool is_pre(const std::optional<Sublayer>& sublayer) { return sublayer && !sublayer->is_post; }

// Whether a node is the sum of one of the sub-layers, as they are counted in a layer.
template <std::size_t number>
bool is_sum_of(const Node& node) {
  const auto own = node.is(role::sum) ? sublayer_of_sum(node) : std::nullopt;
  const auto counted = own ? sublayer_at(*node.graph, node.place, number) : std::nullopt;
  return counted && own->sum == counted->sum;
}

// The words that go into the layer, once more where the second sub-layer ends.
bool is_later_sum(const Node& node) {
  return !node.is_alias() && sublayer_of_sum(node) && !is_sum_of<1>(node) && sublayer_at(*node.graph, node.place, 1);
}
Made residual_from_the_layer(At at) { return add(at.of(*sublayer_at(*at.node.graph, at.node.place, 1)->x), at[1]); }

// γ of the first norm for γ of the second one, and the other way round; and so β. Null: there is no other one.
const Node* same_of_other_norm(const Node& node) {
  const bool is_one = has_role<role::gamma, role::beta>(node) && !node.op;
  const NamedScope* const norm = is_one && node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || *norm->number > 2) return nullptr;
  const Node* const other = node.graph->find(norm->outer, {{{scope::norm, 3 - *norm->number}}, *node.role});
  return other && other->frame.shape == node.frame.shape ? other : nullptr;
}

Made residual_of_norm(At at) {
  const Sublayer sublayer = *sublayer_of_sum(at.node);
  return add(at.of(*sublayer.output), at.of(*sublayer.found));
}

// x + Norm(sublayer(x))
bool is_of_norm_of_sum(const Node& node) {
  const auto sublayer = sublayer_of_norm(node);
  return is_post(sublayer) && !node.is_alias() && (&node == sublayer->output || uses(node, *sublayer->sum));
}
Made norm_of_what_was_found(At at) {
  const Sublayer sublayer = *sublayer_of_norm(at.node);
  if (&at.node == sublayer.output) return add(at.of(*sublayer.x), at.itself());
  return on_other(at, *sublayer.sum, at.of(*sublayer.found));
}

// --- norms before the sub-layers where they stand behind them

// What goes from layer to layer: the sums alone.
Made sum_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_output(node);
  return is_post(sublayer) ? Made(again.of(*sublayer->sum)) : std::nullopt;
}
Value sums_along(const Node& node, Rewriting& again) {
  const Made sum = sum_in_place_of(node, again);
  return sum ? *sum : again.of(node);
}

bool differs_with_norm_before(const Node& node) {
  if (const auto own = sublayer_of_norm(node); is_post(own)) return uses(node, *own->sum);
  if (node.is_alias()) return is_post(sublayer_of_output(node));
  const auto is_output = [](const Node* one) { return is_post(sublayer_of_output(*one)); };
  return is_post(projected_in(node)) || (std::ranges::any_of(node.operands, is_output) && !is_gradient(node));
}
Made norm_before(At at) {
  if (const auto own = sublayer_of_norm(at.node); is_post(own))
    return on_other(at, *own->sum, sums_along(*own->x, at.again));
  if (at.node.is_alias()) return sum_in_place_of(at.node, at.again);
  if (const auto sublayer = projected_in(at.node); is_post(sublayer)) {
    const Value words = put(*sublayer->output, *sublayer->sum, sums_along(*sublayer->x, at.again), at.again);
    return put(at.node, *sublayer->x, words, at.again);
  }
  return on_others(at, [&](const Node& one) { return sum_in_place_of(one, at.again); });
}

// --- norms after the sub-layers where they stand before them

// What goes from layer to layer: the norms of the sums.
Made norm_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!is_pre(sublayer)) return std::nullopt;
  return put(*sublayer->output, *sublayer->x, again.of(*sublayer->sum), again);
}
Value norms_along(const Node& node, Rewriting& again) {
  const Made norm = norm_in_place_of(node, again);
  return norm ? *norm : again.of(node);
}

bool is_last_norm(const Node& node) {
  return node.place && node.place->is(scope::norm) && !node.place->number && node.is(role::output) &&
         node.beside(role::normalised);
}
const Node& before_last_norm(const Node& node) { return *node.beside(role::normalised)->operands[0]; }

bool differs_with_norm_behind(const Node& node) {
  if (is_gradient(node)) return false;
  if (is_last_norm(node)) return is_pre(sublayer_of_sum(before_last_norm(node)));
  if (const auto own = sublayer_of_norm(node); is_pre(own)) return uses(node, *own->x);
  if (is_pre(sublayer_of_sum(node))) return true;
  return !node.is_alias() && std::ranges::any_of(node.operands, [](const Node* one) {
    return is_pre(sublayer_of_output(*one)) || is_pre(sublayer_of_sum(*one));
  });
}
Made norm_behind(At at) {
  if (is_last_norm(at.node)) return norms_along(before_last_norm(at.node), at.again);
  if (const auto own = sublayer_of_norm(at.node); is_pre(own)) {
    const Value x = norms_along(*own->x, at.again);
    return on_other(at, *own->x, add(x, put(*own->found, *own->output, x, at.again)));
  }
  if (at.node.is_alias()) return norm_in_place_of(at.node, at.again);
  if (const auto own = sublayer_of_sum(at.node); is_pre(own))
    return add(norms_along(*own->x, at.again), at.of(*own->found));
  return on_others(at, [&](const Node& one) {
    const auto sublayer = sublayer_of_output(one);
    return is_pre(sublayer) ? Made(norms_along(*sublayer->x, at.again)) : norm_in_place_of(one, at.again);
  });
}

constexpr Mistake mistakes_in_residuals[] = {
    {"residual-missing", error, "no residual connection",
     "This is what the sub-layer gives without the residual connection. Add what went into it.", has_role<role::sum>,
     second_alone},
    {"first-residual-missing", error, "no residual connection around the attention",
     "This is what comes out when what goes into the attention is not added to what it gives. Add it.", is_sum_of<1>,
     second_alone},
    {"second-residual-missing", error, "no residual connection around the second sub-layer",
     "This is what comes out when what goes into the second sub-layer is not added to what it gives. "
     "Add it.",
     is_sum_of<2>, second_alone},
    {"residual-from-the-layer", error, "the words that go into the layer added after each sub-layer",
     "This is what comes out when the second sum adds what goes into the layer. "
     "Add what goes into the sub-layer.",
     is_later_sum, residual_from_the_layer},
    {"norms-exchanged", error, "γ and β of the two norms exchanged",
     "This is what the two norms give with γ and β of each other. Each norm has its own.", has<same_of_other_norm>,
     [](At at) -> Made { return at.like(same_of_other_norm(at.node)->matrix()); }},
    {"residual-from-the-norm", error, "the normalized words added instead of the words themselves",
     "This is what comes out when the normalized words are added. "
     "Add the words as they are before the norm: x + sublayer(Norm(x)).",
     [](const Node& node) { return node.is(role::sum) && is_pre(sublayer_of_sum(node)); }, residual_of_norm},
    {"norm-inside-the-residual", error, "x + Norm(sublayer(x))",
     "This is what x + Norm(sublayer(x)) gives. Add first, and normalize the sum: Norm(x + sublayer(x)).",
     is_of_norm_of_sum, norm_of_what_was_found},
    {"pre-norm", convention, "norms before the sub-layers",
     "This is what x + sublayer(Norm(x)) gives, the pre-norm form of GPT-2 and Llama. "
     "Here the norm comes after, as in the first Transformer: Norm(x + sublayer(x)).",
     differs_with_norm_before, norm_before},
    {"post-norm", convention, "norms after the sub-layers",
     "This is what Norm(x + sublayer(x)) gives, as in the first Transformer. "
     "Here the norm stands before the sub-layer, as in GPT-2 and Llama: x + sublayer(Norm(x)).",
     differs_with_norm_behind, norm_behind},
};

}  // namespace

std::span<const Mistake> mistakes_of_residuals() { return mistakes_in_residuals; }

}  // namespace attn
