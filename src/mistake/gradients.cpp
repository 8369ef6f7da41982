#include "op/gradients.hpp"

#include <array>

#include "mistake/parts.hpp"
#include "op/known.hpp"

// Mistakes with gradients. What goes forward stays as it is.

namespace attn {
namespace {

bool is_gradient_by(const Node& node, const Role& role) {
  return node.family == &family::gradient && node.role == &role && node.operation && !node.is_alias();
}

// --- softmax

// What flows back through a softmax: the gradient by its result, and that result.
struct ThroughSoftmax {
  Value d, weights;
};

std::optional<ThroughSoftmax> through_softmax(const Node& node, Rewriting& again) {
  if (!node.operation || !is_softmax_gradient(*node.operation)) return std::nullopt;
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
  if (!node.operation || !is_transposed_matmul(*node.operation)) return std::nullopt;
  const Node &a = *node.operands[0], &b = *node.operands[1];
  if (a.frame.shape.rows != a.frame.shape.columns) return std::nullopt;
  return matmul(again.of(a), again.of(b));
}

// d bᵀ as d b, which fits where b is square.
Made matrix_not_transposed(const Node& node, Rewriting& again) {
  if (!node.operation || !is_matmul_transposed(*node.operation) || !is_gradient(node)) return std::nullopt;
  const Node &d = *node.operands[0], &b = *node.operands[1];
  if (b.frame.shape.rows != b.frame.shape.columns) return std::nullopt;
  return matmul(again.of(d), again.of(b));
}

// --- functions of one number

Made slope_missing(const Node& node, Rewriting& again) {
  return node.operation && differentiated_by(*node.operation) ? Made(again.of(*node.operands[0]))
                                                              : std::nullopt;
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

constexpr std::array table = {
    Mistake{"softmax-diagonal-only", error, "only the diagonal of the Jacobian of softmax",
            "This is what α (1 − α) d gives, as if each weight depended on its own score alone. It depends "
            "on all scores of its row: α (d − the sum of α d over the row).",
            diagonal_only},
    Mistake{"softmax-sum-not-subtracted", error, "α d without the sum over the row",
            "This is what α d gives. Subtract the sum of α d over the row from d first.", sum_not_subtracted},
    Mistake{
        "softmax-sum-without-weights", error, "the plain sum of the row subtracted",
        "This is what comes out when the plain sum of d over the row is subtracted. Subtract the sum of α d.",
        sum_without_weights},
    Mistake{"softmax-skipped", error, "the gradient passed through softmax as it is",
            "This is the gradient by the weights. For that by the scores, multiply it by the Jacobian of "
            "softmax.",
            softmax_skipped},
    Mistake{
        "gradient-not-scaled", error, "a gradient without the scale",
        "This is the gradient by the scaled scores. Scale it as the scores were scaled on the way forward.",
        scale_missing},
    Mistake{"factor-not-transposed", error, "the first factor not transposed",
            "This is what a d gives. The gradient of b in a b is aᵀ d.", factor_not_transposed},
    Mistake{"matrix-not-transposed", error, "the second factor not transposed",
            "This is what d b gives. The gradient of a in a b is d bᵀ.", matrix_not_transposed},
    Mistake{"slope-missing", error, "the derivative of the activation left out",
            "This is the gradient behind the activation. Multiply it by the derivative.", slope_missing},
    Mistake{"slope-at-the-argument", error, "the derivative with the argument in place of the result",
            "This is what the formula of the derivative gives with the number before the function. It needs "
            "the number behind it: 1 − tanh², with the result of tanh.",
            slope_at_argument},
    Mistake{"mean-and-variance-fixed", error, "mean and variance taken as constants",
            "This is what comes out when mean and variance count as constants. They are made of the same "
            "row, so their gradients flow back to it as well.",
            mean_and_variance_fixed},
    Mistake{"residual-forgotten", error, "no gradient along the residual connection",
            "This is the gradient through the sub-layer alone. Add the one along the residual connection, "
            "which passes unchanged.",
            residual_forgotten},
};

}  // namespace

std::span<const Mistake> mistakes_of_gradients() {
  return table;
}

}  // namespace attn
