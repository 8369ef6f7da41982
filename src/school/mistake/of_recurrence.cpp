#include <span>

#include "school/mistake/parts.hpp"

namespace attn {

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
Made update_gate_exchanged(RewriteSite at) {
  const Node& difference = *at.node.operands[1]->operands[1];
  const Value h = at.of(*difference.operands[0]), candidate = at.beside(role::candidate);
  return add(h, multiply(at.beside(role::update), subtract(candidate, h)));
}

// r ⊙ (h U) in the place of (r ⊙ h) U.
bool is_of_remembered(const Node& node) {
  return node.is(role::h_h) && node.beside(role::reset) && node.beside(role::remembered);
}
Made reset_after_product(RewriteSite at) {
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
Made states_of_decoder(RewriteSite at) {
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
     [](RewriteSite at) -> Made { return sigmoid(at[0]); }},
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
     is_query_of_old_state,
     [](RewriteSite at) -> Made { return labelled(at.beside(role::state), at.node.frame.rows); }},
    {"query-is-the-previous-state", convention, "the previous state as the query",
     "This is what the previous state gives as the query, as in Bahdanau's attention. "
     "In this variant the new state is the query.",
     has<state_before_query>,
     [](RewriteSite at) -> Made { return labelled(at.of(*state_before_query(at.node)), at.node.frame.rows); }},
    {"context-last", convention, "the context after what it is concatenated with",
     "This is what comes out when the context stands last. Here it stands first. "
     "The learned matrix decides which order is right: its rows belong to the columns.",
     joins_context,
     [](RewriteSite at) -> Made {
       return concatenate({at[1], at[0]});
     }},
};

}  // namespace

std::span<const Mistake> mistakes_of_recurrence() { return mistakes_in_recurrence; }

}  // namespace attn
