
#include "school/mistake/parts.hpp"

namespace attn {

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
Made residual_forgotten(RewriteSite at) {
  std::vector<Value> flows;
  for (const Node* flow : flows_through_sublayer(at.node)) flows.insert(flows.begin(), at.of(*flow));
  return sum_of_all(flows);
}

constexpr Mistake mistakes_in_gradients[] = {
    {"softmax-diagonal-only", error, "only the diagonal of the Jacobian of softmax",
     "This is what α (1 − α) d gives, as if each weight depended on its own score alone. "
     "It depends on all scores of its row: α (d − the sum of α d over the row).",
     is_back_through_softmax,
     [](RewriteSite at) -> Made { return multiply(subtract(at[1], multiply(at[1], at[1])), at[0]); }},
    {"softmax-sum-not-subtracted", error, "α d without the sum over the row",
     "This is what α d gives. Subtract the sum of α d over the row from d first.", is_back_through_softmax,
     [](RewriteSite at) -> Made { return multiply(at[1], at[0]); }},
    {"softmax-sum-without-weights", error, "the plain sum of the row subtracted",
     "This is what comes out when the plain sum of d over the row is subtracted. Subtract the sum of α d.",
     is_back_through_softmax, [](RewriteSite at) -> Made { return multiply(at[1], subtract(at[0], row_sums(at[0]))); }},
    {"softmax-skipped", error, "the gradient passed through softmax as it is",
     "This is the gradient with respect to the weights. For that with respect to the scores, multiply it by the Jacobian of softmax.",
     is_back_through_softmax, left_out},
    {"gradient-not-scaled", error, "a gradient without the scale",
     "This is the gradient with respect to the scaled scores. Scale it as the scores were scaled on the way forward.",
     is_scaled_back, left_out},
    {"factor-not-transposed", error, "the first factor not transposed",
     "This is what a d gives. The gradient of b in a b is aᵀ d.", has_square_first,
     [](RewriteSite at) -> Made { return matmul(at[0], at[1]); }},
    {"matrix-not-transposed", error, "the second factor not transposed",
     "This is what d b gives. The gradient of a in a b is d bᵀ.", has_square_second,
     [](RewriteSite at) -> Made { return matmul(at[0], at[1]); }},
    {"slope-missing", error, "the derivative of the activation left out",
     "This is the gradient after the activation. Multiply it by the derivative.", has_slope, left_out},
    {"slope-at-the-argument", error, "the derivative with the argument in place of the result",
     "This is what the formula of the derivative gives with the number before the function. "
     "It needs the number after it: 1 − tanh², with the result of tanh.",
     has_slope_of_result,
     [](RewriteSite at) -> Made {
       return at.redo(at.node, {at[0], at.of(*at.node.operands[1]->original().operands[0])});
     }},
    {"mean-and-variance-fixed", error, "mean and variance taken as constants",
     "This is what comes out when mean and variance count as constants. "
     "They are made of the same row, so their gradients flow back to it as well.",
     is_of_mean_or_variance, [](RewriteSite at) -> Made { return multiplied(at, 0.0); }},
    {"residual-forgotten", error, "no gradient along the residual connection",
     "This is the gradient through the sub-layer alone. "
     "Add the one along the residual connection, which passes unchanged.",
     [](const Node& node) { return !flows_through_sublayer(node).empty(); }, residual_forgotten},
};

}  // namespace

std::span<const Mistake> mistakes_of_gradients() { return mistakes_in_gradients; }

}  // namespace attn
