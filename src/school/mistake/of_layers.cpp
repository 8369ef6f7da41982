#include <algorithm>
#include <array>

#include "core/attention/feed_forward.hpp"
#include "core/support/text.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

// --- feed forward
// Mistakes with feed-forward layers and their activation.

namespace {

// The activation that makes a node of a feed-forward layer.
const Activation* activation_here(const Node& node) {
  return node.operation && !node.is_alias() && node.family == &family::forward ? activation_of(node) : nullptr;
}

// The activation of the layer whose result a node is.
const Activation* activation_before(const Node& node) {
  if (node.name.empty() || !node.operation || node.is_alias() || node.family != &family::forward) return nullptr;
  const std::vector<const Node*> named = node.named_operands();
  return named.empty() ? nullptr : activation_here(named.front()->original());
}

Made activation_missing(const Node& node, Rewriting& again) {
  return activation_here(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made activation_last(const Node& node, Rewriting& again) {
  if (activation_here(node)) return again.of(*node.operands[0]);
  const Activation* const activation = activation_before(node);
  return activation ? Made(activation->apply(again.unchanged(node))) : std::nullopt;
}

Made activation_twice(const Node& node, Rewriting& again) {
  const Activation* const activation = activation_before(node);
  return activation ? Made(activation->apply(again.unchanged(node))) : std::nullopt;
}

// The result of an activation, by another function than this one.
Made otherwise(const Node& node, Rewriting& again, const Function& from, Value (*to)(const Value& x)) {
  const Activation* const activation = activation_here(node);
  return activation && &activation->function == &from ? Made(to(again.of(*node.operands[0]))) : std::nullopt;
}

Made gelu_for_relu(const Node& node, Rewriting& again) { return otherwise(node, again, rectifier, gelu); }
Made gelu_by_tanh_for_relu(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, gelu_by_tanh);
}
Made silu_for_relu(const Node& node, Rewriting& again) { return otherwise(node, again, rectifier, silu); }
Made sigmoid_for_relu(const Node& node, Rewriting& again) { return otherwise(node, again, rectifier, sigmoid); }
Made negative_kept(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, [](const Value& x) { return subtract(x, relu(x)); });
}
Made size_kept(const Node& node, Rewriting& again) {
  return otherwise(node, again, rectifier, [](const Value& x) { return subtract(add(relu(x), relu(x)), x); });
}
Made relu_for_gelu(const Node& node, Rewriting& again) {
  if (const Made exact = otherwise(node, again, gelu_function, relu)) return exact;
  return otherwise(node, again, gelu_by_tanh_function, relu);
}
Made by_tanh(const Node& node, Rewriting& again) { return otherwise(node, again, gelu_function, gelu_by_tanh); }
Made by_error_function(const Node& node, Rewriting& again) {
  return otherwise(node, again, gelu_by_tanh_function, gelu);
}
// x σ(1.702 x)  (Hendrycks and Gimpel 2016, section 2)
Made by_sigmoid(const Node& node, Rewriting& again) {
  constexpr auto quick = [](const Value& x) { return multiply(x, sigmoid(times(x, plain_number(1.702)))); };
  if (const Made exact = otherwise(node, again, gelu_function, quick)) return exact;
  return otherwise(node, again, gelu_by_tanh_function, quick);
}
Made sigmoid_for_silu(const Node& node, Rewriting& again) { return otherwise(node, again, silu_function, sigmoid); }
Made sigmoid_for_tanh(const Node& node, Rewriting& again) {
  return otherwise(node, again, hyperbolic_tangent, sigmoid);
}

// The sum with a bias, and that bias.
const Node* sum_with(const Node& node, const Role& bias) {
  const Node* const added = operand(node, 1);
  return added && added->is(bias) && node.operands.size() == 2 ? &node : nullptr;
}

Made bias_after_activation(const Node& node, Rewriting& again) {
  if (!activation_here(node)) return std::nullopt;
  const Node* const sum = sum_with(node.operands[0]->original(), role::b_1);
  if (!sum) return std::nullopt;
  const Value without = again.of(*sum->operands[0]);
  return add(again.graph().apply(node.operation, {without}), again.of(*sum->operands[1]));
}

Made first_bias_missing(const Node& node, Rewriting& again) {
  return sum_with(node, role::b_1) ? Made(again.of(*node.operands[0])) : std::nullopt;
}
Made second_bias_missing(const Node& node, Rewriting& again) {
  return sum_with(node, role::b_2) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

constexpr std::array mistakes_in_feed_forward = {
    Mistake{"activation-missing", error, "no activation between the two maps",
            "This is what the two maps give with nothing between them. "
            "Apply the activation to the result of the first.",
            activation_missing},
    Mistake{"activation-last", error, "the activation after the second map instead of between the two",
            "This is what the activation gives after the second map. It stands between the two maps.", activation_last},
    Mistake{"activation-twice", error, "the activation after the second map as well",
            "This is what the activation gives when it is applied once more after the second map. "
            "It stands only between the two.",
            activation_twice},
    Mistake{"gelu-for-relu", error, "GELU instead of ReLU", "This is what GELU gives. This layer has ReLU: max(x, 0).",
            gelu_for_relu},
    Mistake{"gelu-by-tanh-for-relu", error, "GELU with a tanh instead of ReLU",
            "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has ReLU: max(x, 0).",
            gelu_by_tanh_for_relu},
    Mistake{"silu-for-relu", error, "SiLU instead of ReLU",
            "This is what SiLU gives, x σ(x). This layer has ReLU: max(x, 0).", silu_for_relu},
    Mistake{"sigmoid-for-relu", error, "1 / (1 + exp(−x)) instead of ReLU",
            "This is what 1 / (1 + exp(−x)) gives. This layer has ReLU: max(x, 0).", sigmoid_for_relu},
    Mistake{"relu-keeps-negative-numbers", error, "min(x, 0) instead of max(x, 0)",
            "This is what min(x, 0) gives, which keeps the negative numbers. ReLU keeps the positive ones: "
            "max(x, 0).",
            negative_kept},
    Mistake{"relu-drops-the-sign", error, "|x| instead of max(x, 0)",
            "This is what |x| gives. With ReLU negative numbers become 0: max(x, 0).", size_kept},
    Mistake{"relu-for-gelu", error, "ReLU instead of GELU", "This is what ReLU gives. This layer has GELU: x Φ(x).",
            relu_for_gelu},
    Mistake{"gelu-by-tanh", convention, "GELU with a tanh in place of Φ",
            "This is what GELU gives with a tanh in place of Φ, as in GPT-2. This layer has x Φ(x) itself.", by_tanh},
    Mistake{"gelu-by-erf", convention, "GELU with Φ itself instead of a tanh",
            "This is what x Φ(x) gives, as PyTorch computes GELU unless told otherwise. "
            "This layer has the approximation by tanh, as in GPT-2.",
            by_error_function},
    Mistake{"gelu-by-sigmoid", convention, "GELU as x σ(1.702 x)",
            "This is what x σ(1.702 x) gives, as CLIP computes GELU. This layer computes it otherwise.", by_sigmoid},
    Mistake{"sigmoid-for-silu", error, "σ(x) instead of x σ(x)", "This is what σ(x) gives. SiLU multiplies it by x.",
            sigmoid_for_silu},
    Mistake{"sigmoid-for-tanh", error, "1 / (1 + exp(−x)) instead of tanh",
            "This is what 1 / (1 + exp(−x)) gives. This layer has tanh, which lies between −1 and 1.",
            sigmoid_for_tanh},
    Mistake{"bias-after-activation", error, "b_1 added after the activation",
            "This is what comes out when b_1 is added after the activation. Add it before.", bias_after_activation},
    Mistake{"first-bias-missing", error, "no b_1", "This is what comes out without b_1. Add it before the activation.",
            first_bias_missing},
    Mistake{"second-bias-missing", error, "no b_2", "This is what comes out without b_2. Add it at the end.",
            second_bias_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_feed_forward() { return mistakes_in_feed_forward; }

// --- maps
// Mistakes with learned maps outside of attention.

namespace {

bool has_role_among(const Node& node, std::span<const Role* const> some) {
  return std::ranges::any_of(some, [&](const Role* one) { return node.is(*one); });
}

// Those of attention have rows of their own, and so do the biases of feed-forward layers.
constexpr std::array matrices = {&role::w_1,  &role::w_2,  &role::w,    &role::w_s,  &role::w_xh,
                                 &role::w_hh, &role::w_xr, &role::w_hr, &role::w_xz, &role::w_hz};
constexpr std::array biases = {&role::b, &role::b_s, &role::b_h, &role::b_r, &role::b_z};

// A product with a square matrix, which also fits when it is transposed.
Made transposed(const Node& node, Rewriting& again) {
  if (!node.operation || !node.operation->is(op::matmul) || is_gradient(node)) return std::nullopt;
  const Node& w = *node.operands[1];
  if (!has_role_among(w, matrices) || w.frame.shape.rows != w.frame.shape.columns) return std::nullopt;
  return matmul_transposed(again.of(*node.operands[0]), again.of(w));
}

Made bias_missing(const Node& node, Rewriting& again) {
  const Node* const added = operand(node, 1);
  return added && has_role_among(*added, biases) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

constexpr std::array mistakes_in_maps = {
    Mistake{
        "maps-transposed", error, "square matrices used transposed",
        "This is what the transposed square matrices give, as if there were a row for each output (nn.Linear of PyTorch stores them so). "
        "Here a matrix has a row for each input: x W. A square matrix fits both ways.",
        transposed},
    Mistake{"bias-missing", error, "no bias", "This is what comes out without the bias. Add it after the product.",
            bias_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_maps() { return mistakes_in_maps; }

// --- recurrence
// Mistakes with the states of recurrent networks, and with attention between an encoder and a decoder.

namespace {

// A new state, or what a gated unit would make its new state.
bool is_bent(const Node& node) {
  const Function* const function = node.operation ? function_of(*node.operation) : nullptr;
  const bool is_state = node.is(role::h) || node.is(role::state) || node.is(role::candidate);
  return is_state && function == &hyperbolic_tangent;
}

bool is_state_part(const Node& node) { return node.is(role::h_h) || node.is(role::h_r) || node.is(role::h_z); }
bool is_input_part(const Node& node) { return node.is(role::x_h) || node.is(role::x_r) || node.is(role::x_z); }

// x W + h U, without the bias.
bool joins_both(const Node& node) {
  const Node *const of_x = operand(node, 0), *const of_h = operand(node, 1);
  return of_h && is_input_part(*of_x) && is_state_part(*of_h);
}

Made tanh_missing(const Node& node, Rewriting& again) {
  return is_bent(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made sigmoid_instead(const Node& node, Rewriting& again) {
  return is_bent(node) ? Made(sigmoid(again.of(*node.operands[0]))) : std::nullopt;
}

Made state_missing(const Node& node, Rewriting& again) {
  return joins_both(node) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

Made input_missing(const Node& node, Rewriting& again) {
  return joins_both(node) ? Made(again.of(*node.operands[1])) : std::nullopt;
}

// candidate + z ⊙ (h − candidate), with 1 − z in the place of z: h + z ⊙ (candidate − h).
Made update_gate_exchanged(const Node& node, Rewriting& again) {
  const Node *const update = node.beside(role::update), *const candidate = node.beside(role::candidate);
  const bool is_state = node.is(role::h) || node.is(role::state);
  if (!is_state || !update || !candidate || !uses(node, *candidate)) return std::nullopt;
  const Node& difference = *node.operands[1]->operands[1];
  const Value h = again.of(*difference.operands[0]), c = again.of(*candidate);
  return add(h, multiply(again.of(*update), subtract(c, h)));
}

// r ⊙ (h U) in the place of (r ⊙ h) U.
Made reset_after_product(const Node& node, Rewriting& again) {
  const Node *const reset = node.beside(role::reset), *const remembered = node.beside(role::remembered);
  if (!node.is(role::h_h) || !reset || !remembered) return std::nullopt;
  const Value product = matmul(again.of(*remembered->operands[1]), again.of(*node.operands[1]));
  return multiply(again.of(*reset), product);
}

Made reset_missing(const Node& node, Rewriting& again) {
  return node.is(role::remembered) ? Made(again.of(*node.operands[1])) : std::nullopt;
}

// --- attention of a recurrent decoder

// The scope of the output for which a node is computed: that of the first name behind it.
const NamedScope* output_of(const Node& node) {
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

// The states of a decoder before the output for which a node is computed.
Made own_states(const Node& node, Rewriting& again) {
  const NamedScope* const output = output_of(node);
  if (!output || !output->number) return std::nullopt;
  std::vector<Value> states;
  for (std::size_t t = 1; t <= *output->number; ++t) {
    const Node* const state = state_before(*node.graph, t);
    if (!state) return std::nullopt;
    states.push_back(again.of(*state));
  }
  return stack(states);
}

// The decoder looks back at its own states. There are as many as outputs so far, and other operations must
// know how many there are.
Made states_of_decoder(const Node& node, Rewriting& again) {
  const Node* const encoded = node.graph->find(role::h);
  if (!encoded || !node.operation || is_gradient(node) || node.is_alias()) return std::nullopt;
  const Node *const hidden = node.beside(role::hidden), *const query = node.beside(role::query);
  if (hidden && query && (&node == hidden || node.is(role::scores))) {
    if (&node == hidden) return pairwise_sum(again.of(*node.operands[0]), again.of(*node.operands[1]));
    const Made own = own_states(node, again);
    return own ? Made(unpair(again.of(*node.operands[0]), again.of(*query), *own)) : std::nullopt;
  }
  if (!uses(node, *encoded)) return std::nullopt;
  const Made states = own_states(node, again);
  if (!states) return std::nullopt;
  const Value& own = *states;
  if (node.operation->is(op::matmul)) {
    const bool is_second = &node.operands[1]->original() == &encoded->original();
    return is_second ? matmul(again.of(*node.operands[0]), own) : matmul(own, again.of(*node.operands[1]));
  }
  if (node.operation->is(op::matmul_transposed)) return matmul_transposed(again.of(*node.operands[0]), own);
  return std::nullopt;
}

// Whether the new state is made of the context, which is made with the query.
bool context_enters_cell(const Node& query) {
  const Node *const x = query.beside(role::x), *const context = query.beside(role::context);
  return x && context && uses(*x, *context);
}

Made query_is_new_state(const Node& node, Rewriting& again) {
  const Node* const state = node.is(role::query) ? node.beside(role::state) : nullptr;
  const bool is_other = state && !uses(node, *state) && !context_enters_cell(node);
  return is_other ? Made(labelled(again.of(*state), node.frame.rows)) : std::nullopt;
}

Made query_is_previous_state(const Node& node, Rewriting& again) {
  const Node* const state = node.is(role::query) ? node.beside(role::state) : nullptr;
  const NamedScope* const output = node.within(scope::number);
  if (!state || !output || !uses(node, *state)) return std::nullopt;
  const Node* const before = state_before(*node.graph, *output->number);
  return before ? Made(labelled(again.of(*before), node.frame.rows)) : std::nullopt;
}

Made context_behind_state(const Node& node, Rewriting& again) {
  const bool joins = (node.is(role::joined) || node.is(role::x)) && node.beside(role::context) &&
                     node.operands.size() == 2 && uses(node, *node.beside(role::context));
  return joins ? Made(concatenate({again.of(*node.operands[1]), again.of(*node.operands[0])})) : std::nullopt;
}

constexpr std::array mistakes_in_recurrence = {
    Mistake{"tanh-missing", error, "a state without tanh", "This is what goes into tanh. Apply tanh to it.",
            tanh_missing},
    Mistake{"sigmoid-for-the-state", error, "1 / (1 + exp(−x)) instead of tanh",
            "This is what 1 / (1 + exp(−x)) gives. A state goes through tanh.", sigmoid_instead},
    Mistake{"previous-state-missing", error, "a state without the one before it",
            "This is what comes out without the previous state. Add the previous state times its matrix.",
            state_missing},
    Mistake{"input-missing", error, "a state without its input",
            "This is what comes out without the input. Add the input times its matrix.", input_missing},
    Mistake{"update-gate-exchanged", convention, "z and 1 − z exchanged",
            "This is what comes out when z takes the new state and 1 − z keeps the old one, as in some later papers. "
            "Here z keeps the old one, as in the first paper on gated units and in PyTorch.",
            update_gate_exchanged},
    Mistake{
        "reset-after-the-product", convention, "the reset gate after the product",
        "This is what comes out when the reset gate multiplies the product with the matrix, as in PyTorch and cuDNN. Here it multiplies the state before the product, as in the first paper on gated units.",
        reset_after_product},
    Mistake{"reset-gate-missing", error, "no reset gate",
            "This is what comes out without the reset gate. Multiply the previous state by it before the product.",
            reset_missing},
    Mistake{"states-of-the-decoder", error, "states of the decoder instead of the encoder",
            "This is what comes out when the decoder attends to its own earlier states. "
            "It attends to the states of the encoder.",
            states_of_decoder},
    Mistake{"query-is-the-new-state", convention, "the new state as the query",
            "This is what the new state gives as the query, as in Luong's attention. "
            "In this variant the previous state is the query.",
            query_is_new_state},
    Mistake{"query-is-the-previous-state", convention, "the previous state as the query",
            "This is what the previous state gives as the query, as in Bahdanau's attention. "
            "In this variant the new state is the query.",
            query_is_previous_state},
    Mistake{"context-last", convention, "the context after what it is concatenated with",
            "This is what comes out when the context stands last. Here it stands first. "
            "The learned matrix decides which order is right: its rows belong to the columns.",
            context_behind_state},
};

}  // namespace

std::span<const Mistake> mistakes_of_recurrence() { return mistakes_in_recurrence; }

}  // namespace attn
