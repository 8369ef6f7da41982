#include <algorithm>
#include <cmath>
#include <span>

#include "core/attention/feed_forward.hpp"
#include "school/mistake/amounts.hpp"
#include "school/mistake/numbers.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- feed forward
// Mistakes with feed-forward layers and their activation.

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
Made activated_again(At at) { return activation_before(at.node)->apply(at.itself()); }

// x σ(1.702 x)  (Hendrycks and Gimpel 2016, section 2)
Value quick_gelu(const Value& x) { return multiply(x, sigmoid(times(x, plain_number(1.702)))); }

// f(x W_1) ⊙ x W_gate
Made gates_exchanged(At at) {
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
Made bias_after_activation(At at) {
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
Made by_function(At at) {
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
     [](At at) { return activates_any(at.node) ? left_out(at) : activated_again(at); }},
    {"activation-twice", error, "the activation after the second map as well",
     "This is what the activation gives when it is applied once more after the second map. "
     "It stands only between the two.",
     is_behind_activation, activated_again},
    {"gelu-for-relu", error, "GELU instead of ReLU", "This is what GELU gives. This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](At at) -> Made { return gelu(at[0]); }},
    {"gelu-by-tanh-for-relu", error, "GELU with a tanh instead of ReLU",
     "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](At at) -> Made { return gelu_by_tanh(at[0]); }},
    {"silu-for-relu", error, "SiLU instead of ReLU", "This is what SiLU gives, x σ(x). This layer has ReLU: max(x, 0).",
     activates<rectifier>, [](At at) -> Made { return silu(at[0]); }},
    {"sigmoid-for-relu", error, "1 / (1 + exp(−x)) instead of ReLU",
     "This is what 1 / (1 + exp(−x)) gives. This layer has ReLU: max(x, 0).", activates<rectifier>,
     [](At at) -> Made { return sigmoid(at[0]); }},
    {"relu-keeps-negative-numbers", error, "min(x, 0) instead of max(x, 0)",
     "This is what min(x, 0) gives, which keeps the negative numbers. ReLU keeps the positive ones: "
     "max(x, 0).",
     activates<rectifier>, [](At at) -> Made { return subtract(at[0], relu(at[0])); }},
    {"relu-drops-the-sign", error, "|x| instead of max(x, 0)",
     "This is what |x| gives. With ReLU negative numbers become 0: max(x, 0).", activates<rectifier>,
     [](At at) -> Made { return subtract(add(relu(at[0]), relu(at[0])), at[0]); }},
    {"relu-for-gelu", error, "ReLU instead of GELU", "This is what ReLU gives. This layer has GELU: x Φ(x).",
     activates<gelu_function, gelu_by_tanh_function>, [](At at) -> Made { return relu(at[0]); }},
    {"gelu-by-tanh", convention, "GELU with a tanh in place of Φ",
     "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has x Φ(x) itself.",
     activates<gelu_function>, [](At at) -> Made { return gelu_by_tanh(at[0]); }},
    {"gelu-by-erf", convention, "GELU with Φ itself instead of a tanh",
     "This is what x Φ(x) gives, as PyTorch computes GELU unless told otherwise. "
     "This layer has the approximation by tanh, as in GPT-2.",
     activates<gelu_by_tanh_function>, [](At at) -> Made { return gelu(at[0]); }},
    {"gelu-by-sigmoid", convention, "GELU as x σ(1.702 x)",
     "This is what x σ(1.702 x) gives, as CLIP computes GELU. This layer computes it otherwise.",
     activates<gelu_function, gelu_by_tanh_function>, [](At at) -> Made { return quick_gelu(at[0]); }},
    {"sigmoid-for-silu", error, "σ(x) instead of x σ(x)", "This is what σ(x) gives. SiLU multiplies it by x.",
     activates<silu_function>, [](At at) -> Made { return sigmoid(at[0]); }},
    {"sigmoid-for-tanh", error, "1 / (1 + exp(−x)) instead of tanh",
     "This is what 1 / (1 + exp(−x)) gives. This layer has tanh, which lies between −1 and 1.",
     activates<hyperbolic_tangent>, [](At at) -> Made { return sigmoid(at[0]); }},
    {"bias-after-activation", error, "b_1 added after the activation",
     "This is what comes out when b_1 is added after the activation. Add it before.", activates_with_bias,
     bias_after_activation},
    {"tanh-as-activation", error, "tanh instead of the activation",
     "This is what tanh gives. The layer has another activation.", activates_otherwise<hyperbolic_tangent>,
     [](At at) -> Made { return attn::tanh(at[0]); }},
    {"relu-as-activation", error, "ReLU instead of the activation",
     "This is what ReLU gives, max(x, 0). The layer has another activation.",
     activates<silu_function, hyperbolic_tangent, logistic>, [](At at) -> Made { return relu(at[0]); }},
    {"gelu-as-activation", error, "GELU instead of the activation",
     "This is what GELU gives. The layer has another activation.",
     activates<silu_function, hyperbolic_tangent, logistic>, [](At at) -> Made { return gelu(at[0]); }},
    {"sigmoid-as-activation", error, "1 / (1 + exp(−x)) instead of the activation",
     "This is what 1 / (1 + exp(−x)) gives. The layer has another activation.",
     activates<gelu_function, gelu_by_tanh_function>, [](At at) -> Made { return sigmoid(at[0]); }},
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

}  // namespace

std::span<const Mistake> mistakes_of_feed_forward() { return mistakes_in_feed_forward; }

namespace {

Made leaky(At at, double slope) { return add(relu(at[0]), times(subtract(at[0], relu(at[0])), plain_number(slope))); }
Made sigmoid_unit(At at, double number) { return multiply(at[0], sigmoid(times(at[0], plain_number(number)))); }
Made added_times(At at, double number) { return add(at[0], times(at[1], plain_number(number))); }

}  // namespace

namespace {

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

}  // namespace

std::span<const MistakeWithNumber> numbers_in_layers() { return numbers_of_layers; }

// --- maps
// Mistakes with learned maps outside of attention.

namespace {

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
     multiplies_by_square, [](At at) -> Made { return matmul_transposed(at[0], at[1]); }},
    {"bias-missing", error, "no bias", "This is what comes out without the bias. Add it after the product.", adds_bias,
     left_out},
};

}  // namespace

std::span<const Mistake> mistakes_of_maps() { return mistakes_in_maps; }

// --- recurrence
// Mistakes with the states of recurrent networks, and with attention between an encoder and a decoder.

namespace {

// A new state, or what a gated unit would make its new state.
bool is_bent(const Node& node) {
  const Function* const function = node.op ? node.op->function : nullptr;
  return has_role<role::h, role::state, role::candidate>(node) && function == &hyperbolic_tangent;
}

// x W + h U, without the bias.
bool joins_both(const Node& node) {
  const Node *const of_x = operand(node, 0), *const of_h = operand(node, 1);
  return of_h && has_role<role::x_h, role::x_r, role::x_z>(*of_x) && has_role<role::h_h, role::h_r, role::h_z>(*of_h);
}

// candidate + z ⊙ (h − candidate), with 1 − z in the place of z: h + z ⊙ (candidate − h).
bool is_gated(const Node& node) {
  const Node *const update = node.beside(role::update), *const candidate = node.beside(role::candidate);
  return has_role<role::h, role::state>(node) && update && candidate && uses(node, *candidate);
}
Made update_gate_exchanged(At at) {
  const Node& difference = *at.node.operands[1]->operands[1];
  const Value h = at.of(*difference.operands[0]), candidate = at.beside(role::candidate);
  return add(h, multiply(at.beside(role::update), subtract(candidate, h)));
}

// r ⊙ (h U) in the place of (r ⊙ h) U.
bool is_of_remembered(const Node& node) {
  return node.is(role::h_h) && node.beside(role::reset) && node.beside(role::remembered);
}
Made reset_after_product(At at) {
  const Node& h = *at.node.beside(role::remembered)->operands[1];
  return multiply(at.beside(role::reset), matmul(at.of(h), at[1]));
}

// --- attention of a recurrent decoder

// The scope of the output for which a node is computed: that of the first name behind it.
const NamedScope* scope_of_output(const Node& node) {
  const auto& nodes = node.graph->nodes();
  for (std::size_t i = node.index; i < nodes.size(); ++i) {
    if (nodes[i].name.empty()) continue;
    const NamedScope* const number = nodes[i].within(scope::number);
    return number && nodes[i].within(scope::decoder) ? number : nullptr;
  }
  return nullptr;
}

const Node* state_before(const Graph& graph, std::size_t output) {
  return graph.find({{scope::decoder, {scope::number, output - 1}}, role::state});
}

// The states of a decoder before the output for which a node is computed; none where it is for no output.
std::vector<const Node*> own_states(const Node& node) {
  const NamedScope* const output = scope_of_output(node);
  std::vector<const Node*> states;
  for (std::size_t t = 1; output && output->number && t <= *output->number; ++t) {
    const Node* const state = state_before(*node.graph, t);
    if (!state) return {};
    states.push_back(state);
  }
  return states;
}

// What each state of the encoder and the query are summed to, before the scores of an additive alignment.
bool is_hidden_of_query(const Node& node) { return node.is(role::hidden) && node.beside(role::query); }
bool is_scored_by_hidden(const Node& node) {
  return node.is(role::scores) && node.beside(role::hidden) && node.beside(role::query);
}

// The decoder looks back at its own states. There are as many as outputs so far, and other operations must
// know how many there are.
bool differs_with_own_states(const Node& node) {
  const Node* const encoded = node.graph->find(role::h);
  if (!encoded || !node.op || is_gradient(node) || node.is_alias()) return false;
  if (is_hidden_of_query(node)) return true;
  const bool is_product = node.op == &op::matmul || node.op == &op::matmul_transposed;
  return (is_scored_by_hidden(node) || (is_product && uses(node, *encoded))) && !own_states(node).empty();
}
Made states_of_decoder(At at) {
  if (is_hidden_of_query(at.node)) return pairwise_sum(at[0], at[1]);
  std::vector<Value> states;
  for (const Node* state : own_states(at.node)) states.push_back(at.of(*state));
  const Value own = stack(states);
  if (is_scored_by_hidden(at.node)) return unpair(at[0], at.beside(role::query), own);
  if (at.node.op == &op::matmul_transposed) return matmul_transposed(at[0], own);
  const bool is_second = &at.node.operands[1]->original() == &at.node.graph->find(role::h)->original();
  return is_second ? matmul(at[0], own) : matmul(own, at[1]);
}

// Whether the new state is made of the context, which is made with the query.
bool context_enters_cell(const Node& query) {
  const Node *const x = query.beside(role::x), *const context = query.beside(role::context);
  return x && context && uses(*x, *context);
}

bool is_query_of_old_state(const Node& node) {
  const Node* const state = node.is(role::query) ? node.beside(role::state) : nullptr;
  return state && !uses(node, *state) && !context_enters_cell(node);
}

// The state before the one that is the query; null where another is the query.
const Node* state_before_query(const Node& node) {
  const Node* const state = node.is(role::query) ? node.beside(role::state) : nullptr;
  const NamedScope* const output = node.within(scope::number);
  return state && output && uses(node, *state) ? state_before(*node.graph, *output->number) : nullptr;
}

bool joins_context(const Node& node) {
  const Node* const context = has_role<role::joined, role::x>(node) ? node.beside(role::context) : nullptr;
  return context && node.operands.size() == 2 && uses(node, *context);
}

constexpr Mistake mistakes_in_recurrence[] = {
    {"tanh-missing", error, "a state without tanh", "This is what goes into tanh. Apply tanh to it.", is_bent,
     left_out},
    {"sigmoid-for-the-state", error, "1 / (1 + exp(−x)) instead of tanh",
     "This is what 1 / (1 + exp(−x)) gives. A state goes through tanh.", is_bent,
     [](At at) -> Made { return sigmoid(at[0]); }},
    {"previous-state-missing", error, "a state without the one before it",
     "This is what comes out without the previous state. Add the previous state times its matrix.", joins_both,
     left_out},
    {"input-missing", error, "a state without its input",
     "This is what comes out without the input. Add the input times its matrix.", joins_both, second_alone},
    {"update-gate-exchanged", convention, "z and 1 − z exchanged",
     "This is what comes out when z takes the new state and 1 − z keeps the old one, as in some later papers. "
     "Here z keeps the old one, as in the first paper on gated units and in PyTorch.",
     is_gated, update_gate_exchanged},
    {"reset-after-the-product", convention, "the reset gate after the product",
     "This is what comes out when the reset gate multiplies the product with the matrix, as in PyTorch and cuDNN. Here it multiplies the state before the product, as in the first paper on gated units.",
     is_of_remembered, reset_after_product},
    {"reset-gate-missing", error, "no reset gate",
     "This is what comes out without the reset gate. Multiply the previous state by it before the product.",
     has_role<role::remembered>, second_alone},
    {"states-of-the-decoder", error, "states of the decoder instead of the encoder",
     "This is what comes out when the decoder attends to its own earlier states. "
     "It attends to the states of the encoder.",
     differs_with_own_states, states_of_decoder},
    {"query-is-the-new-state", convention, "the new state as the query",
     "This is what the new state gives as the query, as in Luong's attention. "
     "In this variant the previous state is the query.",
     is_query_of_old_state, [](At at) -> Made { return labelled(at.beside(role::state), at.node.frame.rows); }},
    {"query-is-the-previous-state", convention, "the previous state as the query",
     "This is what the previous state gives as the query, as in Bahdanau's attention. "
     "In this variant the new state is the query.",
     has<state_before_query>,
     [](At at) -> Made { return labelled(at.of(*state_before_query(at.node)), at.node.frame.rows); }},
    {"context-last", convention, "the context after what it is concatenated with",
     "This is what comes out when the context stands last. Here it stands first. "
     "The learned matrix decides which order is right: its rows belong to the columns.",
     joins_context,
     [](At at) -> Made {
       return concatenate({at[1], at[0]});
     }},
};

}  // namespace

std::span<const Mistake> mistakes_of_recurrence() { return mistakes_in_recurrence; }

}  // namespace attn
