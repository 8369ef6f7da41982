#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/op/operations.hpp"
#include "core/op/ways.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- gradients
// Mistakes with gradients. What goes forward stays as it is.

namespace {

bool is_gradient_by(const Node& node, const Role& role) {
  return node.family == &family::gradient && node.role == &role && node.operation && !node.is_alias();
}

// --- softmax

// What flows back through a softmax: the gradient with respect to its result, and that result.
struct ThroughSoftmax {
  Value d, weights;
};

std::optional<ThroughSoftmax> through_softmax(const Node& node, Rewriting& again) {
  if (!node.operation || !node.operation->is(op::softmax_gradient)) return std::nullopt;
  return ThroughSoftmax{again.of(*node.operands[0]), again.of(*node.operands[1])};
}

// α (1 − α) ⊙ d
Made diagonal_only(const Node& node, Rewriting& again) {
  const auto now = through_softmax(node, again);
  if (!now) return std::nullopt;
  const Value slopes = subtract(now->weights, multiply(now->weights, now->weights));
  return multiply(slopes, now->d);
}

Made sum_not_subtracted(const Node& node, Rewriting& again) {
  const auto now = through_softmax(node, again);
  return now ? Made(multiply(now->weights, now->d)) : std::nullopt;
}

Made sum_without_weights(const Node& node, Rewriting& again) {
  const auto now = through_softmax(node, again);
  if (!now) return std::nullopt;
  return multiply(now->weights, subtract(now->d, row_sums(now->d)));
}

Made softmax_skipped(const Node& node, Rewriting& again) {
  const auto now = through_softmax(node, again);
  return now ? Made(now->d) : std::nullopt;
}

// --- the scale, and products

Made scale_missing(const Node& node, Rewriting& again) {
  const bool is_scale = is_gradient_by(node, role::scores) && number_of(*node.operation);
  return is_scale ? Made(again.of(*node.operands[0])) : std::nullopt;
}

// aᵀ b as a b, which fits where a is square.
Made factor_not_transposed(const Node& node, Rewriting& again) {
  if (!node.operation || !node.operation->is(op::transposed_matmul)) return std::nullopt;
  const Node &a = *node.operands[0], &b = *node.operands[1];
  if (a.frame.shape.rows != a.frame.shape.columns) return std::nullopt;
  return matmul(again.of(a), again.of(b));
}

// d bᵀ as d b, which fits where b is square.
Made matrix_not_transposed(const Node& node, Rewriting& again) {
  if (!node.operation || !node.operation->is(op::matmul_transposed) || !is_gradient(node)) return std::nullopt;
  const Node &d = *node.operands[0], &b = *node.operands[1];
  if (b.frame.shape.rows != b.frame.shape.columns) return std::nullopt;
  return matmul(again.of(d), again.of(b));
}

// --- functions of one number

Made slope_missing(const Node& node, Rewriting& again) {
  return node.operation && differentiated_by(*node.operation) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

// The derivative at the result where that at the argument is told, 1 − tanh², is known from the result.
Made slope_at_argument(const Node& node, Rewriting& again) {
  const Function* const function = node.operation ? differentiated_by(*node.operation) : nullptr;
  if (function != &hyperbolic_tangent && function != &logistic) return std::nullopt;
  const Node& result = node.operands[1]->original();
  if (!result.operation || function_of(*result.operation) != function) return std::nullopt;
  return again.graph().apply(node.operation, {again.of(*node.operands[0]), again.of(*result.operands[0])});
}

// --- normalization, and several ways back

Made mean_and_variance_fixed(const Node& node, Rewriting& again) {
  if (!is_gradient_by(node, role::mean) && !is_gradient_by(node, role::variance)) return std::nullopt;
  return times(again.unchanged(node), plain_number(0.0));
}

// What flows back to the words of a layer: along the residual connection first, and then through the
// sub-layer, in one part or in several.
Made residual_forgotten(const Node& node, Rewriting& again) {
  if (node.name.empty() || node.family != &family::gradient || node.is_alias()) return std::nullopt;
  std::vector<const Node*> flows;
  const Node* now = &node;
  while ((now == &node || now->name.empty()) && now->operands.size() == 2 &&
         now->operands[1]->frame.shape == node.frame.shape) {
    flows.push_back(now->operands[1]);
    now = now->operands[0];
  }
  if (flows.empty() || now->family != &family::gradient || now->role != &role::sum) return std::nullopt;
  Value sum = again.of(*flows.back());
  for (std::size_t i = flows.size() - 1; i-- > 0;) sum = add(sum, again.of(*flows[i]));
  return sum;
}

constexpr std::array mistakes_in_gradients = {
    Mistake{"softmax-diagonal-only", error, "only the diagonal of the Jacobian of softmax",
            "This is what α (1 − α) d gives, as if each weight depended on its own score alone. "
            "It depends on all scores of its row: α (d − the sum of α d over the row).",
            diagonal_only},
    Mistake{"softmax-sum-not-subtracted", error, "α d without the sum over the row",
            "This is what α d gives. Subtract the sum of α d over the row from d first.", sum_not_subtracted},
    Mistake{"softmax-sum-without-weights", error, "the plain sum of the row subtracted",
            "This is what comes out when the plain sum of d over the row is subtracted. Subtract the sum of α d.",
            sum_without_weights},
    Mistake{
        "softmax-skipped", error, "the gradient passed through softmax as it is",
        "This is the gradient with respect to the weights. For that with respect to the scores, multiply it by the Jacobian of softmax.",
        softmax_skipped},
    Mistake{
        "gradient-not-scaled", error, "a gradient without the scale",
        "This is the gradient with respect to the scaled scores. Scale it as the scores were scaled on the way forward.",
        scale_missing},
    Mistake{"factor-not-transposed", error, "the first factor not transposed",
            "This is what a d gives. The gradient of b in a b is aᵀ d.", factor_not_transposed},
    Mistake{"matrix-not-transposed", error, "the second factor not transposed",
            "This is what d b gives. The gradient of a in a b is d bᵀ.", matrix_not_transposed},
    Mistake{"slope-missing", error, "the derivative of the activation left out",
            "This is the gradient after the activation. Multiply it by the derivative.", slope_missing},
    Mistake{"slope-at-the-argument", error, "the derivative with the argument in place of the result",
            "This is what the formula of the derivative gives with the number before the function. "
            "It needs the number after it: 1 − tanh², with the result of tanh.",
            slope_at_argument},
    Mistake{"mean-and-variance-fixed", error, "mean and variance taken as constants",
            "This is what comes out when mean and variance count as constants. "
            "They are made of the same row, so their gradients flow back to it as well.",
            mean_and_variance_fixed},
    Mistake{"residual-forgotten", error, "no gradient along the residual connection",
            "This is the gradient through the sub-layer alone. "
            "Add the one along the residual connection, which passes unchanged.",
            residual_forgotten},
};

}  // namespace

std::span<const Mistake> mistakes_of_gradients() { return mistakes_in_gradients; }

// --- losses
// Mistakes with the words that should come out, with the loss, and with choosing the next word.

namespace {

// --- the loss

// The cross-entropies of words, as they are computed.
struct CrossEntropies {
  const Node &logits, &expected;
  double smoothing;
};

std::optional<CrossEntropies> cross_entropies(const Node& node) {
  const std::optional<double> smoothing = node.operation ? smoothing_of(*node.operation) : std::nullopt;
  if (!smoothing) return std::nullopt;
  return CrossEntropies{*node.operands[0], *node.operands[1], *smoothing};
}

Made softmax_before(const Node& node, Rewriting& again) {
  const auto now = cross_entropies(node);
  if (!now) return std::nullopt;
  return cross_entropy(softmax(again.of(now->logits)), again.of(now->expected), now->smoothing);
}

Made without_smoothing(const Node& node, Rewriting& again) {
  const auto now = cross_entropies(node);
  if (!now || now->smoothing == 0.0) return std::nullopt;
  return cross_entropy(again.of(now->logits), again.of(now->expected), 0.0);
}

Made to_base(const Node& node, Rewriting& again, double base) {
  return cross_entropies(node) ? Made(times(again.unchanged(node), plain_number(1.0 / std::log(base)))) : std::nullopt;
}
Made in_bits(const Node& node, Rewriting& again) { return to_base(node, again, 2.0); }
Made to_base_10(const Node& node, Rewriting& again) { return to_base(node, again, 10.0); }

Made probability_alone(const Node& node, Rewriting& again) {
  const auto now = cross_entropies(node);
  if (!now) return std::nullopt;
  const Value of_words = softmax(again.of(now->logits));
  // Of each row the number at the expected word. A matrix with a row for each word says how many there are.
  const Value chosen = one_hot(again.of(now->expected), transposed_matmul(of_words, of_words));
  return row_sums(multiply(of_words, chosen));
}

// Every word that counts, counts as 1.
Made loss_summed(const Node& node, Rewriting& again) {
  if (!node.is(role::counted)) return std::nullopt;
  Matrix counts = node.matrix();
  for (double& count : cells(counts)) count = count == 0.0 ? 0.0 : 1.0;
  return again.input_like(node, std::move(counts));
}

Made padding_counted(const Node& node, Rewriting& again) {
  if (!node.is(role::counted)) return std::nullopt;
  Matrix counts = node.matrix();
  for (double& count : cells(counts)) count = 1.0 / static_cast<double>(counts.size());
  return again.input_like(node, std::move(counts));
}

// --- words that go in, and words that should come out

// The only input of this kind in a computation, or null.
const Node* only(const Graph& graph, bool (*is_it)(const Node& node)) {
  const Node* found = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!is_it(node)) continue;
    if (found) return nullptr;
    found = &node;
  }
  return found;
}
bool is_expected(const Node& node) { return node.is(role::expected) && !node.operation; }
bool goes_in(const Node& node) { return node.is(role::ids) && !node.operation && node.within(scope::target); }

// The ids of the one in the place of those of the other.
Made ids_exchanged(const Node& node, bool (*replaced)(const Node&), bool (*by)(const Node&), Rewriting& again) {
  if (!replaced(node)) return std::nullopt;
  const Node* const other = only(*node.graph, by);
  if (!other || other->frame.shape != node.frame.shape) return std::nullopt;
  return again.input_like(node, other->matrix());
}

Made right_words_go_in(const Node& node, Rewriting& again) { return ids_exchanged(node, goes_in, is_expected, again); }

Made same_words_expected(const Node& node, Rewriting& again) {
  return ids_exchanged(node, is_expected, goes_in, again);
}

// The word after the next one. The last of each sentence has none, and does not count.
Made shifted_twice(const Node& node, Rewriting& again) {
  if (!is_expected(node) && !node.is(role::counted)) return std::nullopt;
  const Node* const expected = only(*node.graph, is_expected);
  if (!expected) return std::nullopt;
  const std::size_t all = expected->frame.shape.rows, words = all / expected->frame.rows.batch;
  if (words < 2) return std::nullopt;
  const auto is_last = [&](std::size_t i) { return i % words == words - 1; };
  if (&node == expected) {
    Matrix ids = node.matrix();
    for (std::size_t i = 0; i < all; ++i) {
      if (!is_last(i)) ids(i, 0) = ids(i + 1, 0);
    }
    return again.input_like(node, std::move(ids));
  }
  if (!node.is(role::counted) || node.frame.shape.columns != all) return std::nullopt;
  Matrix counts = node.matrix();
  double before = 0.0, left = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    before += counts(0, i);
    if (!is_last(i)) counts(0, i) = counts(0, i + 1) == 0.0 ? 0.0 : counts(0, i);
    if (is_last(i)) counts(0, i) = 0.0;
    left += counts(0, i);
  }
  if (left == 0.0) return std::nullopt;
  for (double& count : cells(counts)) count *= before / left;
  return again.input_like(node, std::move(counts));
}

// --- the next word

const Scalar* temperature_of(const Node& node) {
  return node.is(role::tempered) && node.operation ? number_of(*node.operation) : nullptr;
}

Made temperature_multiplied(const Node& node, Rewriting& again) {
  const Scalar* const temperature = temperature_of(node);
  return temperature ? Made(times(again.of(*node.operands[0]), *temperature)) : std::nullopt;
}

Made without_temperature(const Node& node, Rewriting& again) {
  return temperature_of(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made temperature_after_softmax(const Node& node, Rewriting& again) {
  const Node* const tempered = node.is(role::distribution) ? node.beside(role::tempered) : nullptr;
  const Scalar* const temperature = tempered ? temperature_of(*tempered) : nullptr;
  return temperature ? Made(divide(softmax(again.of(*tempered->operands[0])), *temperature)) : std::nullopt;
}

Made not_normalized_again(const Node& node, Rewriting& again) {
  return node.is(role::limited) && node.operation ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made softmax_again(const Node& node, Rewriting& again) {
  const Node *const all = node.beside(role::distribution), *const allowed = node.beside(role::allowed);
  if (!node.is(role::limited) || !all || !allowed) return std::nullopt;
  return softmax(mask(again.of(*all), again.of(*allowed), -std::numeric_limits<double>::infinity()));
}

constexpr std::array mistakes_in_losses = {
    Mistake{
        "softmax-before-cross-entropy", error, "softmax before the cross-entropy, which has one itself",
        "This is what the cross-entropy gives when probabilities go into it, to which it applies softmax once more. "
        "Give it the logits.",
        softmax_before},
    Mistake{"smoothing-missing", error, "cross-entropy without label smoothing",
            "This is what the cross-entropy gives without label smoothing. "
            "The target is not the right word alone: each word gets a small share.",
            without_smoothing},
    Mistake{"loss-in-bits", convention, "the logarithm to the base 2",
            "This is what the logarithm to the base 2 gives: bits, as in information theory. "
            "Here it is the natural logarithm, ln.",
            in_bits},
    Mistake{"logarithm-to-base-10", error, "the logarithm to the base 10",
            "This is what the logarithm to the base 10 gives. Take the natural logarithm, ln.", to_base_10},
    Mistake{"probability-without-logarithm", error, "the probability of the right word, without −ln",
            "This is the probability of the right word. The loss is −ln of it.", probability_alone},
    Mistake{"loss-summed", error, "the sum of the losses instead of their mean",
            "This is the sum of the losses of all words. Divide it by the number of words.", loss_summed},
    Mistake{"padding-in-the-loss", error, "words counted that should not count",
            "This is what comes out when all words count. Leave out those that do not count, such as padding.",
            padding_counted},
    Mistake{"target-not-shifted", error, "the right words as what goes into the decoder",
            "This is what comes out when the words that should come out go into the decoder. "
            "Shift them by one: it gets the words before each.",
            right_words_go_in},
    Mistake{"labels-not-shifted", error, "the words that go in as those that should come out",
            "This is what comes out when each prediction is compared with the word that went in. "
            "Compare it with the word after that.",
            same_words_expected},
    Mistake{"shifted-twice", error, "the word after the next one as what should come out",
            "This is what comes out when each prediction is compared with the word after the next one. "
            "Shift the words once.",
            shifted_twice},
    Mistake{"temperature-multiplied", error, "logits multiplied by the temperature",
            "This is what logits multiplied by the temperature give. Divide them by it.", temperature_multiplied},
    Mistake{"temperature-missing", error, "no temperature",
            "This is what comes out without the temperature. Divide the logits by it before softmax.",
            without_temperature},
    Mistake{"temperature-after-softmax", error, "probabilities divided by the temperature",
            "This is what probabilities divided by the temperature give. Divide the logits, before softmax.",
            temperature_after_softmax},
    Mistake{"choice-not-normalized", error, "the probabilities that are left do not sum to 1",
            "These are the probabilities of the words that are left, as they were. Divide them by their sum.",
            not_normalized_again},
    Mistake{"softmax-of-probabilities", error, "softmax of the probabilities that are left",
            "This is what softmax of the probabilities that are left gives. Divide them by their sum.", softmax_again},
};

}  // namespace

std::span<const Mistake> mistakes_of_losses() { return mistakes_in_losses; }

}  // namespace attn
