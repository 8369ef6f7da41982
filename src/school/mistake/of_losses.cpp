#include <cmath>
#include <limits>

#include "school/mistake/parts.hpp"

namespace attn {

// --- gradients
// Mistakes with gradients. What goes forward stays as it is.

namespace {

bool is_gradient_by(const Node& node, const Role& role) {
  return node.family == &family::gradient && node.role == &role && node.op && !node.is_alias();
}

// What flows back through a softmax: of the gradient with respect to its result, and of that result.
bool is_back_through_softmax(const Node& node) { return node.op && node.op == &op::softmax_gradient; }

bool is_scaled_back(const Node& node) { return is_gradient_by(node, role::scores) && node.find(setting::number); }

// --- products

bool has_square_shape(const Node& node) { return node.frame.shape.rows == node.frame.shape.columns; }
// aᵀ b, and d bᵀ.
bool has_square_first(const Node& node) {
  return node.op && node.op == &op::transposed_matmul && has_square_shape(*node.operands[0]);
}
bool has_square_second(const Node& node) {
  if (!node.op || node.op != &op::matmul_transposed) return false;
  return is_gradient(node) && has_square_shape(*node.operands[1]);
}

// --- functions of one number

bool has_slope(const Node& node) { return node.op && node.op->differentiates; }

// The derivative at the result where that at the argument is told, 1 − tanh², is known from the result.
bool has_slope_of_result(const Node& node) {
  const Function* const function = node.op ? node.op->differentiates : nullptr;
  if (function != &hyperbolic_tangent && function != &logistic) return false;
  const Node& result = node.operands[1]->original();
  return result.op && result.op->function == function;
}

// --- normalization, and several ways back

bool is_of_mean_or_variance(const Node& node) {
  return is_gradient_by(node, role::mean) || is_gradient_by(node, role::variance);
}

// What flows back to the words of a layer: along the residual connection first, and then through the
// sub-layer, in one part or in several. These parts, the last one first; none for any other node.
std::vector<const Node*> flows_through_sublayer(const Node& node) {
  if (node.name.empty() || node.family != &family::gradient || node.is_alias()) return {};
  std::vector<const Node*> flows;
  const Node* now = &node;
  while ((now == &node || now->name.empty()) && now->operands.size() == 2 &&
         now->operands[1]->frame.shape == node.frame.shape) {
    flows.push_back(now->operands[1]);
    now = now->operands[0];
  }
  const bool is_along_residual = now->family == &family::gradient && now->role == &role::sum;
  return is_along_residual ? flows : std::vector<const Node*>();
}
Made residual_forgotten(At at) {
  std::vector<Value> flows;
  for (const Node* flow : flows_through_sublayer(at.node)) flows.insert(flows.begin(), at.of(*flow));
  return sum_of_all(flows);
}

constexpr Mistake mistakes_in_gradients[] = {
    {"softmax-diagonal-only", error, "only the diagonal of the Jacobian of softmax",
     "This is what α (1 − α) d gives, as if each weight depended on its own score alone. "
     "It depends on all scores of its row: α (d − the sum of α d over the row).",
     is_back_through_softmax, [](At at) -> Made { return multiply(subtract(at[1], multiply(at[1], at[1])), at[0]); }},
    {"softmax-sum-not-subtracted", error, "α d without the sum over the row",
     "This is what α d gives. Subtract the sum of α d over the row from d first.", is_back_through_softmax,
     [](At at) -> Made { return multiply(at[1], at[0]); }},
    {"softmax-sum-without-weights", error, "the plain sum of the row subtracted",
     "This is what comes out when the plain sum of d over the row is subtracted. Subtract the sum of α d.",
     is_back_through_softmax, [](At at) -> Made { return multiply(at[1], subtract(at[0], row_sums(at[0]))); }},
    {"softmax-skipped", error, "the gradient passed through softmax as it is",
     "This is the gradient with respect to the weights. For that with respect to the scores, multiply it by the Jacobian of softmax.",
     is_back_through_softmax, left_out},
    {"gradient-not-scaled", error, "a gradient without the scale",
     "This is the gradient with respect to the scaled scores. Scale it as the scores were scaled on the way forward.",
     is_scaled_back, left_out},
    {"factor-not-transposed", error, "the first factor not transposed",
     "This is what a d gives. The gradient of b in a b is aᵀ d.", has_square_first,
     [](At at) -> Made { return matmul(at[0], at[1]); }},
    {"matrix-not-transposed", error, "the second factor not transposed",
     "This is what d b gives. The gradient of a in a b is d bᵀ.", has_square_second,
     [](At at) -> Made { return matmul(at[0], at[1]); }},
    {"slope-missing", error, "the derivative of the activation left out",
     "This is the gradient after the activation. Multiply it by the derivative.", has_slope, left_out},
    {"slope-at-the-argument", error, "the derivative with the argument in place of the result",
     "This is what the formula of the derivative gives with the number before the function. "
     "It needs the number after it: 1 − tanh², with the result of tanh.",
     has_slope_of_result,
     [](At at) -> Made {
       return at.redo(at.node, {at[0], at.of(*at.node.operands[1]->original().operands[0])});
     }},
    {"mean-and-variance-fixed", error, "mean and variance taken as constants",
     "This is what comes out when mean and variance count as constants. "
     "They are made of the same row, so their gradients flow back to it as well.",
     is_of_mean_or_variance, [](At at) -> Made { return multiplied(at, 0.0); }},
    {"residual-forgotten", error, "no gradient along the residual connection",
     "This is the gradient through the sub-layer alone. "
     "Add the one along the residual connection, which passes unchanged.",
     [](const Node& node) { return !flows_through_sublayer(node).empty(); }, residual_forgotten},
};

}  // namespace

std::span<const Mistake> mistakes_of_gradients() { return mistakes_in_gradients; }

// --- losses
// Mistakes with the words that should come out, with the loss, and with choosing the next word.

namespace {

// --- the loss

// The cross-entropies of words, as they are computed: of logits, and of the words that are expected.
bool is_cross_entropy(const Node& node) { return node.op == &op::cross_entropy; }
bool is_smoothed(const Node& node) { return is_cross_entropy(node) && *node.find(setting::smoothing) != 0.0; }

Made probability_alone(At at) {
  const Value of_words = softmax(at[0]);
  // Of each row the number at the expected word. A matrix with a row for each word says how many there are.
  return row_sums(multiply(of_words, one_hot(at[1], transposed_matmul(of_words, of_words))));
}

// Every word that counts, counts as 1.
Made counted_as_1(At at) {
  Matrix counts = at.node.matrix();
  for (double& count : cells(counts)) count = count == 0.0 ? 0.0 : 1.0;
  return at.like(std::move(counts));
}

Made all_counted(At at) {
  Matrix counts = at.node.matrix();
  for (double& count : cells(counts)) count = 1.0 / static_cast<double>(counts.size());
  return at.like(std::move(counts));
}

// --- words that go in, and words that should come out

using IsInput = bool (*)(const Node& node);
bool is_expected(const Node& node) { return node.is(role::expected) && !node.op; }
bool goes_in(const Node& node) { return node.is(role::ids) && !node.op && node.within(scope::target); }

// The only input of this kind in a computation, or null.
const Node* only(const Graph& graph, IsInput is_it) {
  const Node* found = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!is_it(node)) continue;
    if (found) return nullptr;
    found = &node;
  }
  return found;
}

// The ids of the one in the place of those of the other, where these are as many.
template <IsInput replaced, IsInput by>
bool can_be_replaced(const Node& node) {
  const Node* const other = replaced(node) ? only(*node.graph, by) : nullptr;
  return other && other->frame.shape == node.frame.shape;
}
template <IsInput by>
Made with_ids_of(At at) {
  return at.like(only(*at.node.graph, by)->matrix());
}

// The word after the next one. The last of each sentence has none, and does not count.
bool can_be_shifted(const Node& node) {
  const bool is_counted = node.is(role::counted);
  const Node* const expected = is_counted || is_expected(node) ? only(*node.graph, is_expected) : nullptr;
  if (!expected || expected->frame.shape.rows < 2 * expected->frame.rows.batch) return false;
  return &node == expected || (is_counted && node.frame.shape.columns == expected->frame.shape.rows);
}
Made shifted_twice(At at) {
  const Node& expected = *only(*at.node.graph, is_expected);
  const std::size_t all = expected.frame.shape.rows, words = all / expected.frame.rows.batch;
  const auto is_last = [&](std::size_t i) { return i % words == words - 1; };
  Matrix shifted = at.node.matrix();
  if (&at.node == &expected) {
    for (std::size_t i = 0; i < all; ++i) {
      if (!is_last(i)) shifted(i, 0) = shifted(i + 1, 0);
    }
    return at.like(std::move(shifted));
  }
  double before = 0.0, left = 0.0;
  for (std::size_t i = 0; i < all; ++i) {
    before += shifted(0, i);
    if (is_last(i) || shifted(0, i + 1) == 0.0) shifted(0, i) = 0.0;
    left += shifted(0, i);
  }
  if (left == 0.0) return std::nullopt;
  for (double& count : cells(shifted)) count *= before / left;
  return at.like(std::move(shifted));
}

// --- the next word

bool divides_by_temperature(const Node& node) {
  return node.is(role::tempered) && node.op && node.find(setting::number);
}

// The logits that a distribution is made of, where they are divided; else null.
const Node* tempered_for(const Node& node) {
  const Node* const tempered = node.is(role::distribution) ? node.beside(role::tempered) : nullptr;
  return tempered && divides_by_temperature(*tempered) ? tempered : nullptr;
}
Made temperature_after_softmax(At at) {
  const Node& tempered = *tempered_for(at.node);
  return divide(softmax(at.of(*tempered.operands[0])), *tempered.find(setting::number));
}

bool is_limited(const Node& node) {
  return node.is(role::limited) && node.beside(role::distribution) && node.beside(role::allowed);
}
Made softmax_again(At at) {
  const Value all = at.beside(role::distribution), allowed = at.beside(role::allowed);
  return softmax(mask(all, allowed, -std::numeric_limits<double>::infinity()));
}

constexpr Mistake mistakes_in_losses[] = {
    {"softmax-before-cross-entropy", error, "softmax before the cross-entropy, which has one itself",
     "This is what the cross-entropy gives when probabilities go into it, to which it applies softmax once more. "
     "Give it the logits.",
     is_cross_entropy,
     [](At at) -> Made { return cross_entropy(softmax(at[0]), at[1], *at.node.find(setting::smoothing)); }},
    {"smoothing-missing", error, "cross-entropy without label smoothing",
     "This is what the cross-entropy gives without label smoothing. "
     "The target is not the right word alone: each word gets a small share.",
     is_smoothed, [](At at) -> Made { return cross_entropy(at[0], at[1], 0.0); }},
    {"loss-in-bits", convention, "the logarithm to the base 2",
     "This is what the logarithm to the base 2 gives: bits, as in information theory. "
     "Here it is the natural logarithm, ln.",
     is_cross_entropy, [](At at) -> Made { return multiplied(at, 1.0 / std::log(2.0)); }},
    {"logarithm-to-base-10", error, "the logarithm to the base 10",
     "This is what the logarithm to the base 10 gives. Take the natural logarithm, ln.", is_cross_entropy,
     [](At at) -> Made { return multiplied(at, 1.0 / std::log(10.0)); }},
    {"probability-without-logarithm", error, "the probability of the right word, without −ln",
     "This is the probability of the right word. The loss is −ln of it.", is_cross_entropy, probability_alone},
    {"loss-summed", error, "the sum of the losses instead of their mean",
     "This is the sum of the losses of all words. Divide it by the number of words.", has_role<role::counted>,
     counted_as_1},
    {"padding-in-the-loss", error, "words counted that should not count",
     "This is what comes out when all words count. Leave out those that do not count, such as padding.",
     has_role<role::counted>, all_counted},
    {"target-not-shifted", error, "the right words as what goes into the decoder",
     "This is what comes out when the words that should come out go into the decoder. "
     "Shift them by one: it gets the words before each.",
     can_be_replaced<goes_in, is_expected>, with_ids_of<is_expected>},
    {"labels-not-shifted", error, "the words that go in as those that should come out",
     "This is what comes out when each prediction is compared with the word that went in. "
     "Compare it with the word after that.",
     can_be_replaced<is_expected, goes_in>, with_ids_of<goes_in>},
    {"shifted-twice", error, "the word after the next one as what should come out",
     "This is what comes out when each prediction is compared with the word after the next one. "
     "Shift the words once.",
     can_be_shifted, shifted_twice},
    {"temperature-multiplied", error, "logits multiplied by the temperature",
     "This is what logits multiplied by the temperature give. Divide them by it.", divides_by_temperature,
     [](At at) -> Made { return times(at[0], *at.node.find(setting::number)); }},
    {"temperature-missing", error, "no temperature",
     "This is what comes out without the temperature. Divide the logits by it before softmax.", divides_by_temperature,
     left_out},
    {"temperature-after-softmax", error, "probabilities divided by the temperature",
     "This is what probabilities divided by the temperature give. Divide the logits, before softmax.",
     has<tempered_for>, temperature_after_softmax},
    {"choice-not-normalized", error, "the probabilities that are left do not sum to 1",
     "These are the probabilities of the words that are left, as they were. Divide them by their sum.",
     [](const Node& node) { return node.is(role::limited) && node.op; }, left_out},
    {"softmax-of-probabilities", error, "softmax of the probabilities that are left",
     "This is what softmax of the probabilities that are left gives. Divide them by their sum.", is_limited,
     softmax_again},
};

}  // namespace

std::span<const Mistake> mistakes_of_losses() { return mistakes_in_losses; }

}  // namespace attn
