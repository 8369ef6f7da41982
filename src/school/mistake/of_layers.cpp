#include <algorithm>
#include <cmath>
#include <span>

#include "core/attention/feed_forward.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// The activation that makes a node of a feed-forward layer.
const Activation* activation_here(const Node& node) {
  return node.op && !node.is_alias() && node.family == &family::forward ? activation_of(node) : nullptr;
}
constexpr auto activates_any = has<activation_here>;
template <const Function&... functions>
bool activates(const Node& node) {
  const Activation* const activation = activation_here(node);
  return activation && ((&activation->function == &functions) || ...);
}

// The activation of the layer whose result a node is.
const Activation* activation_before(const Node& node) {
  if (node.name.empty() || !node.op || node.is_alias() || node.family != &family::forward) return nullptr;
  const std::vector<const Node*> named = node.named_operands();
  return named.empty() ? nullptr : activation_here(named.front()->original());
}
constexpr auto is_behind_activation = has<activation_before>;
Made activated_again(RewriteSite at) { return activation_before(at.node)->apply(at.itself()); }

// x σ(1.702 x)  (Hendrycks and Gimpel 2016, section 2)
Value quick_gelu(const Value& x) { return multiply(x, sigmoid(times(x, plain_number(1.702)))); }

// f(x W_1) ⊙ x W_gate
Made gates_exchanged(RewriteSite at) {
  const Node &activated = at.node.operands[0]->original(), &inner = *at.node.operands[1];
  return multiply(activation_here(activated)->apply(at.of(inner)), at.of(*activated.operands[0]));
}

template <const Role& bias>
bool adds(const Node& node) {
  return node.operands.size() == 2 && node.operands[1]->is(bias);
}

bool activates_with_bias(const Node& node) {
  return activates_any(node) && adds<role::b_1>(node.operands[0]->original());
}
Made bias_after_activation(RewriteSite at) {
  const Node& sum = at.node.operands[0]->original();
  return add(at.redo(at.node, {at.of(*sum.operands[0])}), at.of(*sum.operands[1]));
}

// --- other activations, cell by cell

double exponential_unit(double x) { return x > 0.0 ? x : std::expm1(x); }
double soft_plus(double x) { return x > 30.0 ? x : std::log1p(std::exp(x)); }
double squared_rectifier(double x) { return x > 0.0 ? x * x : 0.0; }
double bounded_rectifier(double x) { return std::clamp(x, 0.0, 6.0); }
double self_normalizing(double x) {
  constexpr double scale = 1.0507009873554805, alpha = 1.6732632423543772;  // (Klambauer et al. 2017)
  return scale * (x > 0.0 ? x : alpha * std::expm1(x));
}
double tanh_of_soft_plus(double x) { return x * std::tanh(soft_plus(x)); }

template <double (*function)(double)>
Made by_function(RewriteSite at) {
  return each_cell(at, at[0].matrix(), function);
}

template <const Function&... functions>
bool activates_otherwise(const Node& node) {
  return activates_any(node) && !activates<functions...>(node);
}

constexpr Mistake mistakes_in_feed_forward[] = {
    {"activation-missing", error, "no activation between the two maps",
     "This is what the two maps give with nothing between them. "
     "Apply the activation to the result of the first.",
     activates_any, left_out},
    {"first-bias-missing", error, "no b_1", "This is what comes out without b_1. Add it before the activation.",
     adds<role::b_1>, left_out},
    {"second-bias-missing", error, "no b_2", "This is what comes out without b_2. Add it at the end.", adds<role::b_2>,
     left_out},
    {"gates-exchanged", error, "the activation on the wrong one of two maps",
     "This is what comes out when the activation is taken of x W_1 and not of the gate, x W_gate.",
     [](const Node& node) { return node.is(role::gated) && activation_here(node.operands[0]->original()); },
     gates_exchanged},
    {"activation-last", error, "the activation after the second map instead of between the two",
     "This is what the activation gives after the second map. It stands between the two maps.",
     [](const Node& node) { return activates_any(node) || is_behind_activation(node); },
     [](RewriteSite at) { return activates_any(at.node) ? left_out(at) : activated_again(at); }},
    {"activation-twice", error, "the activation after the second map as well",
     "This is what the activation gives when it is applied once more after the second map. "
     "It stands only between the two.",
     is_behind_activation, activated_again},
    {"gelu-for-relu", error, "GELU instead of ReLU", "This is what GELU gives. This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](RewriteSite at) -> Made { return gelu(at[0]); }},
    {"gelu-by-tanh-for-relu", error, "GELU with a tanh instead of ReLU",
     "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](RewriteSite at) -> Made { return gelu_by_tanh(at[0]); }},
    {"silu-for-relu", error, "SiLU instead of ReLU", "This is what SiLU gives, x σ(x). This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](RewriteSite at) -> Made { return silu(at[0]); }},
    {"sigmoid-for-relu", error, "1 / (1 + exp(−x)) instead of ReLU",
     "This is what 1 / (1 + exp(−x)) gives. This layer has ReLU: max(x, 0).", activates<rectifier>,
     [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
    {"relu-keeps-negative-numbers", error, "min(x, 0) instead of max(x, 0)",
     "This is what min(x, 0) gives, which keeps the negative numbers. ReLU keeps the positive ones: "
     "max(x, 0).",
     activates<rectifier>, [](RewriteSite at) -> Made { return subtract(at[0], relu(at[0])); }},
    {"relu-drops-the-sign", error, "|x| instead of max(x, 0)",
     "This is what |x| gives. With ReLU negative numbers become 0: max(x, 0).", activates<rectifier>,
     [](RewriteSite at) -> Made { return subtract(add(relu(at[0]), relu(at[0])), at[0]); }},
    {"relu-for-gelu", error, "ReLU instead of GELU", "This is what ReLU gives. This layer has GELU: x Φ(x).",
     activates<gelu_function, gelu_by_tanh_function>, [](RewriteSite at) -> Made { return relu(at[0]); }},
    {"gelu-by-tanh", convention, "GELU with a tanh in place of Φ",
     "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has x Φ(x) itself.",
     activates<gelu_function>, [](RewriteSite at) -> Made { return gelu_by_tanh(at[0]); }},
    {"gelu-by-erf", convention, "GELU with Φ itself instead of a tanh",
     "This is what x Φ(x) gives, as PyTorch computes GELU unless told otherwise. "
     "This layer has the approximation by tanh, as in GPT-2.",
     activates<gelu_by_tanh_function>, [](RewriteSite at) -> Made { return gelu(at[0]); }},
    {"gelu-by-sigmoid", convention, "GELU as x σ(1.702 x)",
     "This is what x σ(1.702 x) gives, as CLIP computes GELU. This layer computes it otherwise.",
     activates<gelu_function, gelu_by_tanh_function>, [](RewriteSite at) -> Made { return quick_gelu(at[0]); }},
    {"sigmoid-for-silu", error, "σ(x) instead of x σ(x)", "This is what σ(x) gives. SiLU multiplies it by x.",
     activates<silu_function>, [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
    {"sigmoid-for-tanh", error, "1 / (1 + exp(−x)) instead of tanh",
     "This is what 1 / (1 + exp(−x)) gives. This layer has tanh, which lies between −1 and 1.",
     activates<hyperbolic_tangent>, [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
    {"bias-after-activation", error, "b_1 added after the activation",
     "This is what comes out when b_1 is added after the activation. Add it before.", activates_with_bias,
     bias_after_activation},
    {"tanh-as-activation", error, "tanh instead of the activation",
     "This is what tanh gives. The layer has another activation.", activates_otherwise<hyperbolic_tangent>,
     [](RewriteSite at) -> Made { return attn::tanh(at[0]); }},
    {"relu-as-activation", error, "ReLU instead of the activation",
     "This is what ReLU gives, max(x, 0). The layer has another activation.",
     activates<silu_function, hyperbolic_tangent, logistic>, [](RewriteSite at) -> Made { return relu(at[0]); }},
    {"gelu-as-activation", error, "GELU instead of the activation",
     "This is what GELU gives. The layer has another activation.",
     activates<silu_function, hyperbolic_tangent, logistic>, [](RewriteSite at) -> Made { return gelu(at[0]); }},
    {"sigmoid-as-activation", error, "1 / (1 + exp(−x)) instead of the activation",
     "This is what 1 / (1 + exp(−x)) gives. The layer has another activation.",
     activates<gelu_function, gelu_by_tanh_function>, [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
    {"elu-as-activation", error, "ELU instead of the activation",
     "This is what ELU gives, exp(x) − 1 for negative numbers. The layer has another activation.", activates_any,
     by_function<exponential_unit>},
    {"softplus-as-activation", error, "ln(1 + exp(x)) instead of the activation",
     "This is what ln(1 + exp(x)) gives. The layer has another activation.", activates_any, by_function<soft_plus>},
    {"squared-relu-as-activation", error, "max(x, 0)² instead of the activation",
     "This is what max(x, 0)² gives. The layer has another activation.", activates_any, by_function<squared_rectifier>},
    {"relu6-as-activation", error, "ReLU that ends at 6 instead of the activation",
     "This is what comes out when numbers above 6 become 6, as in ReLU6. The layer has another activation.",
     activates_any, by_function<bounded_rectifier>},
    {"selu-as-activation", error, "SELU instead of the activation",
     "This is what SELU gives. The layer has another activation.", activates_any, by_function<self_normalizing>},
    {"mish-as-activation", error, "x tanh(ln(1 + exp(x))) instead of the activation",
     "This is what x tanh(ln(1 + exp(x))) gives, called Mish. The layer has another activation.", activates_any,
     by_function<tanh_of_soft_plus>},
};

Made leaky(RewriteSite at, double slope) {
  return add(relu(at[0]), times(subtract(at[0], relu(at[0])), plain_number(slope)));
}
Made sigmoid_unit(RewriteSite at, double number) {
  return multiply(at[0], sigmoid(times(at[0], plain_number(number))));
}
Made added_times(RewriteSite at, double number) { return add(at[0], times(at[1], plain_number(number))); }

constexpr MistakeWithNumber numbers_of_layers[] = {
    {{"another-slope", error, "a slope for negative numbers instead of ReLU",
      "This is what comes out when negative numbers are multiplied by a number, as in a leaky ReLU. With ReLU they become 0: max(x, 0).",
      activates<rectifier>, nullptr},
     leaky,
     amount_itself,
     MistakeWithNumber::Scale::linear,
     {0.01, 0.1, 0.2, 0.25, 0.5}},
    {{"another-sigmoid-unit", error, "x σ(c x) instead of the activation",
      "This is what x σ(c x) gives. The layer has another activation.", activates_any, nullptr},
     sigmoid_unit,
     amount_itself,
     MistakeWithNumber::Scale::logarithmic,
     {1.0, 1.702, 2.0}},
    {{"another-multiple-of-first-bias", error, "b_1 not added once",
      "This is what another multiple of b_1 gives. Add it once.", adds<role::b_1>, nullptr},
     added_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, -1.0}},
    {{"another-multiple-of-second-bias", error, "b_2 not added once",
      "This is what another multiple of b_2 gives. Add it once.", adds<role::b_2>, nullptr},
     added_times,
     amount_added,
     MistakeWithNumber::Scale::linear,
     {2.0, -1.0}},
};

// --- maps

// Those of attention have rows of their own, and so do the biases of feed-forward layers.
constexpr auto is_matrix = has_role<role::w_1, role::w_2, role::w_gate, role::w, role::w_s, role::w_xh, role::w_hh,
                                    role::w_xr, role::w_hr, role::w_xz, role::w_hz>;
constexpr auto is_bias = has_role<role::b, role::b_s, role::b_h, role::b_r, role::b_z>;

// A product with a square matrix, which also fits when it is transposed.
bool multiplies_by_square(const Node& node) {
  if (!node.op || node.op != &op::matmul || is_gradient(node)) return false;
  const Node& w = *node.operands[1];
  return is_matrix(w) && w.frame.shape.rows == w.frame.shape.columns;
}
bool adds_bias(const Node& node) {
  const Node* const added = operand(node, 1);
  return added && is_bias(*added);
}

constexpr Mistake mistakes_in_maps[] = {
    {"maps-transposed", error, "square matrices used transposed",
     "This is what the transposed square matrices give, as if there were a row for each output (nn.Linear of PyTorch stores them so). "
     "Here a matrix has a row for each input: x W. A square matrix fits both ways.",
     multiplies_by_square, [](RewriteSite at) -> Made { return matmul_transposed(at[0], at[1]); }},
    {"bias-missing", error, "no bias", "This is what comes out without the bias. Add it after the product.", adds_bias,
     left_out},
};

}  // namespace

// --- feed forward
// Mistakes with feed-forward layers and their activation.

std::span<const Mistake> mistakes_of_feed_forward() { return mistakes_in_feed_forward; }

std::span<const MistakeWithNumber> numbers_in_layers() { return numbers_of_layers; }

// --- maps
// Mistakes with learned maps outside of attention.

std::span<const Mistake> mistakes_of_maps() { return mistakes_in_maps; }

}  // namespace attn
