#include "command/backward/through_time.hpp"

#include <fmt/format.h>

#include <cmath>

#include "command/backward/reach.hpp"
#include "core/support/number.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

// The states of the encoder, one after another; none: this is no recurrent network.
std::vector<const Node*> states_of(const Graph& graph) {
  std::vector<const Node*> states;
  while (const Node* state = graph.find({{scope::encoder, {scope::number, states.size() + 1}}, role::h}))
    states.push_back(state);
  return states;
}

struct Ways {
  Matrix by_attention, by_states;  // ‖∂ output t / ∂ state i‖  [outputs, states]
};

Ways ways_back(const Node& outputs, const std::vector<const Node*>& states, const Node* stacked) {
  std::vector<const Node*> wanted = states;
  if (stacked) wanted.push_back(stacked);
  Sensitivity back(outputs, wanted);
  const Shape shape{outputs.frame.shape.rows, states.size()};
  Ways ways{Matrix(shape, 0.0), Matrix(shape, 0.0)};
  for (std::size_t t = 0; t < shape.rows; ++t) {
    back.take(t, 0);
    const auto shortcut = stacked ? back.by(states.size()) : nullptr;
    for (std::size_t i = 0; i < shape.columns; ++i) {
      const auto whole = back.by(i);
      double direct = 0.0, along = 0.0;
      for (std::size_t c = 0; whole && c < whole->size(); ++c) {
        const double one = (*whole)(0, c), other = shortcut ? (*shortcut)(i, c) : 0.0;
        direct += other * other;
        along += (one - other) * (one - other);
      }
      ways.by_attention(t, i) = std::sqrt(direct);
      ways.by_states(t, i) = std::sqrt(along);
    }
  }
  return ways;
}

}  // namespace

void add_through_time(QuantityPage& page, const Node& outputs) {
  const Graph& graph = *outputs.graph;
  const std::vector<const Node*> states = states_of(graph);
  if (states.size() < 2 || outputs.frame.shape.columns != 1) return;
  const Node* const stacked = graph.find(role::h);
  const Ways ways = ways_back(outputs, states, stacked);
  const Axis& words = graph.at({{scope::encoder}, role::x}).frame.rows;
  const bool attends = graph.find(role::alignment) != nullptr;
  page.head(2, "Through the states, and through attention");
  page.say(
      "The size of the gradient of each output's logit (rows) with respect to each state of the encoder (columns). " +
      std::string(
          attends
              ? "Along the states are all paths except the direct ones of attention: they go through later states of the encoder, if there are any, and leave them by attention, or from the final state into the decoder."
              : "All paths lead along the states: through the later states of the encoder, if there are any, and from the final state into the decoder."));
  page.matrix("along_states", ways.by_states, outputs.frame.rows, words, Heat::around_zero);
  const std::size_t n = states.size();
  const double first = ways.by_states(0, 0), last = ways.by_states(0, n - 1);
  if (first > 0.0 && last > 0.0) {
    page.say(
        fmt::format("For output 1, the gradient along the states is {} at the final state and {} at the first: "
                    "{} times as large, after {}.",
                    written_digits(last, 4), written_digits(first, 4), written_digits(first / last, 4),
                    count_of(n - 1, "more state")));
  } else if (last > 0.0) {
    page.say("For output 1, nothing of the gradient along the states reaches the first state.");
  }
  if (!attends) {
    page.say("This variant has no attention: the gradient has no other path.");
    return;
  }
  page.say(
      "Through attention each output has a direct way to each state, whatever lies between. "
      "Its gradient depends on the weights, and not on the distance.");
  page.matrix("through_attention", ways.by_attention, outputs.frame.rows, words, Heat::around_zero);
  std::size_t stronger = 0;
  for (std::size_t k = 0; k < ways.by_states.size(); ++k) {
    if (cells(ways.by_attention)[k] > cells(ways.by_states)[k]) ++stronger;
  }
  page.say(fmt::format(
      "The way through attention carries more than the way along the states in {} of {} pairs of an output and a state.",
      stronger, ways.by_states.size()));
}

}  // namespace attn
