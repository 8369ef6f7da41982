#include <algorithm>
#include <array>

#include "mistake/parts.hpp"

// Mistakes with the states of recurrent networks, and with attention between an encoder and a decoder.

namespace attn {
namespace {

// A new state, or what a gated unit would make its new state.
bool is_bent(const Node& node) {
  const Function* const function = node.operation ? function_of(*node.operation) : nullptr;
  const bool is_state = node.is(role::h) || node.is(role::state) || node.is(role::candidate);
  return is_state && function == &hyperbolic_tangent;
}

bool is_state_part(const Node& node) {
  return node.is(role::h_h) || node.is(role::h_r) || node.is(role::h_z);
}
bool is_input_part(const Node& node) {
  return node.is(role::x_h) || node.is(role::x_r) || node.is(role::x_z);
}

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
  if (is_matmul(*node.operation)) {
    const bool is_second = &node.operands[1]->original() == &encoded->original();
    return is_second ? matmul(again.of(*node.operands[0]), own) : matmul(own, again.of(*node.operands[1]));
  }
  if (is_matmul_transposed(*node.operation)) return matmul_transposed(again.of(*node.operands[0]), own);
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

constexpr std::array table = {
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
            "This is what comes out when z takes the new state and 1 − z keeps the old one, as in some later "
            "papers. Here z keeps the old one, as in the first paper on gated units and in PyTorch.",
            update_gate_exchanged},
    Mistake{
        "reset-after-the-product", convention, "the reset gate behind the product",
        "This is what comes out when the reset gate multiplies the product with the matrix, as in PyTorch "
        "and cuDNN. Here it multiplies the state before the product, as in the first paper on gated units.",
        reset_after_product},
    Mistake{"reset-gate-missing", error, "no reset gate",
            "This is what comes out without the reset gate. Multiply the previous state by it before the "
            "product.",
            reset_missing},
    Mistake{"states-of-the-decoder", error, "states of the decoder instead of the encoder",
            "This is what comes out when the decoder looks at its own earlier states. It looks at the states "
            "of the encoder.",
            states_of_decoder},
    Mistake{"query-is-the-new-state", convention, "the new state as the query",
            "This is what the new state gives as the query, as in Luong's attention. In this variant the "
            "previous state is the query.",
            query_is_new_state},
    Mistake{"query-is-the-previous-state", convention, "the previous state as the query",
            "This is what the previous state gives as the query, as in Bahdanau's attention. In this variant "
            "the new state is the query.",
            query_is_previous_state},
    Mistake{"context-last", convention, "the context behind what it is concatenated with",
            "This is what comes out when the context stands last. Here it stands first. The learned matrix "
            "decides which order is right: its rows belong to the columns.",
            context_behind_state},
};

}  // namespace

std::span<const Mistake> mistakes_of_recurrence() {
  return table;
}

}  // namespace attn
