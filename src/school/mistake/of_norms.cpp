#include <array>
#include <cmath>

#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- norms
// Mistakes with layer normalization and root mean square normalization.

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

Value squared(const Value& x) { return multiply(x, x); }

// √variance: the length of the distances from the mean, over √d.
Value deviations(const Standardized& now) {
  const Value distances = subtract(now.x, now.means);
  const Value lengths = row_sums(multiply(distances, unit_rows(distances)));
  return times(lengths, plain_number(1.0 / std::sqrt(static_cast<double>(now.x.shape().columns))));
}

// x / divisor, row by row: of a deviation only its square is asked for.
Value over(const Value& x, const Value& divisors) { return divide_by_deviation(x, squared(divisors), 0.0); }

// (x − mean) / divisor
Value divided_by(const Standardized& now, const Value& divisors) { return over(subtract(now.x, now.means), divisors); }

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

Made norm_not_divided(const Node& node, Rewriting& again) {
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
  const Value normalized = again.of(*stretched.operands[0]);
  return add(multiply(normalized, again.of(*node.operands[1])), again.of(*stretched.operands[1]));
}

Made beta_before_gamma(const Node& node, Rewriting& again) {
  if (!shifts(node)) return std::nullopt;
  const Node& stretched = *node.operands[0];
  const Value shifted = add(again.of(*stretched.operands[0]), again.of(*node.operands[1]));
  return multiply(shifted, again.of(*stretched.operands[1]));
}

Made not_normalized(const Node& node, Rewriting& again) {
  const Node* const normalized = node.is(role::output) ? node.beside(role::normalised) : nullptr;
  return normalized ? Made(again.of(*normalized->operands[0])) : std::nullopt;
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

constexpr std::array mistakes_in_norms = {
    Mistake{
        "variance-by-n-minus-1", error, "the variance divided by n − 1",
        "This is what division by n − 1 gives, as for the variance of a sample (torch.var divides so unless told otherwise). "
        "Layer normalization divides the sum of the squared distances by n.",
        by_n_minus_1},
    Mistake{"epsilon-outside-the-root", error, "ε added to the standard deviation",
            "This is what √variance + ε gives. ε stands under the root: √(variance + ε).", epsilon_outside},
    Mistake{"root-of-the-deviation", error, "the root taken twice",
            "This is what the root of the standard deviation gives: a root was taken twice. "
            "Divide by √(variance + ε).",
            root_of_deviation},
    Mistake{"divided-by-the-variance", error, "division by the variance instead of its root",
            "This is what division by the variance gives. Divide by its root, √(variance + ε).", by_variance},
    Mistake{"divided-by-the-variance-squared", error, "the variance squared instead of its root",
            "This is what the power of 2 gives in place of the power of 0.5. Divide by √(variance + ε).",
            by_squared_variance},
    Mistake{"norm-without-epsilon", error, "normalization without ε",
            "This is what normalization gives without ε. Add ε under the root.", without_epsilon},
    Mistake{"mean-not-subtracted", error, "normalization without subtracting the mean",
            "This is what division gives when the mean is not subtracted before. "
            "Subtract it first, so that each row has the mean 0.",
            mean_not_subtracted},
    Mistake{
        "rms-for-layer-norm", error, "root mean square normalization instead of layer normalization",
        "This is what root mean square normalization gives (RMSNorm, as in Llama): each row divided by the root of the mean of its squares. "
        "Layer normalization subtracts the mean first.",
        root_mean_square_instead},
    Mistake{"norm-not-divided", error, "only the mean subtracted",
            "These are the numbers less their mean. Divide them by √(variance + ε) as well.", norm_not_divided},
    Mistake{"norm-over-words", error, "normalization down the columns instead of along the rows",
            "This is what normalization of each column gives, over all words. "
            "Normalize each row, so that a word does not depend on the others.",
            over_words},
    Mistake{"norm-over-everything", error, "one mean and one variance for the whole matrix",
            "This is what one mean and one variance of the whole matrix give. Take those of each row.",
            over_everything},
    Mistake{"gamma-missing", error, "normalization without γ",
            "This is what normalization gives without γ. Multiply each column by its number in γ.", without_gamma},
    Mistake{"beta-missing", error, "normalization without β",
            "This is what normalization gives without β. Add its number to each column at the end.", without_beta},
    Mistake{
        "gamma-and-beta-missing", error, "normalization without γ and β",
        "This is what normalization gives without γ and β. Multiply each column by its number in γ, and add its number in β.",
        without_gamma_and_beta},
    Mistake{"gamma-and-beta-exchanged", error, "γ and β exchanged",
            "This is what γ and β give when they are exchanged. Multiply by γ, and then add β.",
            gamma_and_beta_exchanged},
    Mistake{"beta-before-gamma", error, "β added before γ multiplies",
            "This is what comes out when β is added before γ multiplies. Multiply by γ first.", beta_before_gamma},
    Mistake{"norm-missing", error, "no normalization", "This is what goes into the normalization. Normalize it.",
            not_normalized},
    Mistake{"mean-square-without-root", error, "division by the mean square instead of its root",
            "This is what division by the mean of the squares gives. "
            "Divide by its root, √(mean of the squares + ε).",
            without_root},
    Mistake{"divided-by-the-length", error, "the sum of the squares instead of their mean",
            "This is what division by the length of the row gives, the root of the sum of its squares. "
            "Take the root of their mean, with ε.",
            by_length},
    Mistake{"layer-norm-for-rms", error, "layer normalization instead of root mean square normalization",
            "This is what layer normalization gives, which subtracts the mean. "
            "Root mean square normalization does not subtract it.",
            layer_norm_instead},
};

}  // namespace

std::span<const Mistake> mistakes_of_norms() { return mistakes_in_norms; }

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
  const bool projects = node.is(role::q) || node.is(role::k) || node.is(role::v) || node.is(role::inner);
  if (!projects || !node.operation || !node.place) return std::nullopt;
  const std::vector<const Node*> named = node.named_operands();
  for (std::size_t number = 1; number <= most_sublayers && !named.empty(); ++number) {
    const auto found = sublayer_at(*node.graph, node.place->outer, number);
    if (found && &named.front()->original() == found->x) return found;
  }
  return std::nullopt;
}

const Node* sublayer_sum(const Node& node, std::size_t number) {
  const auto found = sublayer_at(*node.graph, node.place, number);
  return found ? found->sum : nullptr;
}

Made residual_missing(const Node& node, Rewriting& again) {
  return node.is(role::sum) ? Made(again.of(*node.operands[1])) : std::nullopt;
}

// That of one of the sub-layers alone, as they are counted in a layer.
template <std::size_t number>
Made one_residual_missing(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!sublayer || sublayer->sum != sublayer_sum(node, number)) return std::nullopt;
  return residual_missing(node, again);
}

// The words that go into the layer, once more where the second sub-layer ends.
Made residual_from_the_layer(const Node& node, Rewriting& again) {
  if (node.is_alias() || !sublayer_of_sum(node) || &node == sublayer_sum(node, 1)) return std::nullopt;
  const auto first = sublayer_at(*node.graph, node.place, 1);
  return first ? Made(add(again.of(*first->x), again.of(*node.operands[1]))) : std::nullopt;
}

// γ and β of the first norm in the second one, and the other way round.
Made norms_exchanged(const Node& node, Rewriting& again) {
  const bool is_one = (node.is(role::gamma) || node.is(role::beta)) && !node.operation;
  const NamedScope* const norm = is_one && node.place && node.place->is(scope::norm) ? node.place : nullptr;
  if (!norm || !norm->number || *norm->number > 2) return std::nullopt;
  const Node* const other = node.graph->find(norm->outer, {{{scope::norm, 3 - *norm->number}}, *node.role});
  if (!other || other->frame.shape != node.frame.shape) return std::nullopt;
  return again.input_like(node, other->matrix());
}

Made residual_of_norm(const Node& node, Rewriting& again) {
  const auto sublayer = node.is(role::sum) ? sublayer_of_sum(node) : std::nullopt;
  if (!sublayer || sublayer->is_post) return std::nullopt;
  return add(again.of(*sublayer->output), again.of(*sublayer->found));
}

// x + Norm(sublayer(x))
Made norm_of_what_was_found(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_norm(node);
  if (!sublayer || !sublayer->is_post || node.is_alias()) return std::nullopt;
  if (&node == sublayer->output) return add(again.of(*sublayer->x), again.unchanged(node));
  if (!uses(node, *sublayer->sum)) return std::nullopt;
  return on_others(
      node, [&](const Node& one) { return &one == sublayer->sum ? Made(again.of(*sublayer->found)) : std::nullopt; },
      again);
}

// --- norms before the sub-layers where they stand behind them

// What goes from layer to layer: the sums alone.
Made sum_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_output(node);
  return sublayer && sublayer->is_post ? Made(again.of(*sublayer->sum)) : std::nullopt;
}
Value sums_along(const Node& node, Rewriting& again) {
  const Made sum = sum_in_place_of(node, again);
  return sum ? *sum : again.of(node);
}

Made norm_before(const Node& node, Rewriting& again) {
  const auto own = sublayer_of_norm(node);
  if (own && own->is_post) {
    if (!uses(node, *own->sum)) return std::nullopt;
    return on_others(
        node, [&](const Node& one) { return &one == own->sum ? Made(sums_along(*own->x, again)) : std::nullopt; },
        again);
  }
  if (node.is_alias()) return sum_in_place_of(node, again);
  if (const auto sublayer = projected_in(node); sublayer && sublayer->is_post) {
    const Value words = put(*sublayer->output, *sublayer->sum, sums_along(*sublayer->x, again), again);
    return put(node, *sublayer->x, words, again);
  }
  for (const Node* one : node.operands) {
    const auto sublayer = sublayer_of_output(*one);
    if (!is_gradient(node) && sublayer && sublayer->is_post)
      return on_others(
          node, [&](const Node& each) { return sum_in_place_of(each, again); }, again);
  }
  return std::nullopt;
}

// --- norms after the sub-layers where they stand before them

// What goes from layer to layer: the norms of the sums.
Made norm_in_place_of(const Node& node, Rewriting& again) {
  const auto sublayer = sublayer_of_sum(node);
  if (!sublayer || sublayer->is_post) return std::nullopt;
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

Made norm_behind(const Node& node, Rewriting& again) {
  if (is_gradient(node)) return std::nullopt;
  if (is_last_norm(node)) {
    const Node& x = *node.beside(role::normalised)->operands[0];
    const auto last = sublayer_of_sum(x);
    return last && !last->is_post ? Made(norms_along(x, again)) : std::nullopt;
  }
  if (const auto own = sublayer_of_norm(node); own && !own->is_post) {
    if (!uses(node, *own->x)) return std::nullopt;
    const Value x = norms_along(*own->x, again);
    const Value sum = add(x, put(*own->found, *own->output, x, again));
    return on_others(
        node, [&](const Node& one) { return &one == own->x ? Made(sum) : std::nullopt; }, again);
  }
  if (const auto own = node.is_alias() ? std::nullopt : sublayer_of_sum(node); own && !own->is_post)
    return add(norms_along(*own->x, again), again.of(*own->found));
  if (node.is_alias()) return norm_in_place_of(node, again);
  const auto instead = [&](const Node& one) -> Made {
    const auto sublayer = sublayer_of_output(one);
    if (sublayer && !sublayer->is_post) return norms_along(*sublayer->x, again);
    return norm_in_place_of(one, again);
  };
  for (const Node* one : node.operands) {
    const auto of_output = sublayer_of_output(*one), of_sum = sublayer_of_sum(*one);
    if ((of_output && !of_output->is_post) || (of_sum && !of_sum->is_post)) return on_others(node, instead, again);
  }
  return std::nullopt;
}

constexpr std::array mistakes_in_residuals = {
    Mistake{"residual-missing", error, "no residual connection",
            "This is what the sub-layer gives without the residual connection. Add what went into it.",
            residual_missing},
    Mistake{"first-residual-missing", error, "no residual connection around the attention",
            "This is what comes out when what goes into the attention is not added to what it gives. Add it.",
            one_residual_missing<1>},
    Mistake{"second-residual-missing", error, "no residual connection around the second sub-layer",
            "This is what comes out when what goes into the second sub-layer is not added to what it gives. "
            "Add it.",
            one_residual_missing<2>},
    Mistake{"residual-from-the-layer", error, "the words that go into the layer added after each sub-layer",
            "This is what comes out when the second sum adds what goes into the layer. "
            "Add what goes into the sub-layer.",
            residual_from_the_layer},
    Mistake{"norms-exchanged", error, "γ and β of the two norms exchanged",
            "This is what the two norms give with γ and β of each other. Each norm has its own.", norms_exchanged},
    Mistake{"residual-from-the-norm", error, "the normalized words added instead of the words themselves",
            "This is what comes out when the normalized words are added. "
            "Add the words as they are before the norm: x + sublayer(Norm(x)).",
            residual_of_norm},
    Mistake{"norm-inside-the-residual", error, "x + Norm(sublayer(x))",
            "This is what x + Norm(sublayer(x)) gives. Add first, and normalize the sum: Norm(x + sublayer(x)).",
            norm_of_what_was_found},
    Mistake{"pre-norm", convention, "norms before the sub-layers",
            "This is what x + sublayer(Norm(x)) gives, the pre-norm form of GPT-2 and Llama. "
            "Here the norm comes after, as in the first Transformer: Norm(x + sublayer(x)).",
            norm_before},
    Mistake{"post-norm", convention, "norms after the sub-layers",
            "This is what Norm(x + sublayer(x)) gives, as in the first Transformer. "
            "Here the norm stands before the sub-layer, as in GPT-2 and Llama: x + sublayer(Norm(x)).",
            norm_behind},
};

}  // namespace

std::span<const Mistake> mistakes_of_residuals() { return mistakes_in_residuals; }

}  // namespace attn
