#include "command/backward/graph_copy.hpp"

#include <functional>
#include <map>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

namespace {

// An input with the numbers of another one. Its name is whole, since no scope is open.
Value as_input(const Node& node, Graph& graph, std::shared_ptr<const Matrix> numbers) {
  const Name name(node.role ? *node.role : role::other, node.title());
  return graph.input(name, std::move(numbers), node.frame.rows, node.frame.columns);
}

Value input_again(const Node& node, Graph& graph) {
  if (node.given) return as_input(node, graph, node.given);
  const Name name(*node.role, node.name);
  return node.made ? graph.input(name, node.made, node.frame) : graph.input(name, node.frame);
}

// The nodes that a node is computed from, itself among them, by index.
std::vector<bool> behind(const Node& last) {
  std::vector<bool> found(last.index + 1, false);
  found[last.index] = true;
  for (std::size_t i = last.index + 1; i-- > 0;) {
    if (!found[i]) continue;
    for (const Node* operand : last.graph->nodes()[i].operands) found[operand->index] = true;
  }
  return found;
}

}  // namespace

GraphCopy copy_up_to(const Node& asked) {
  const Node& last = asked.original();
  const std::vector<bool> needed = behind(last);
  GraphCopy copy{std::make_shared<Graph>(keep_nothing()), {}, {}};
  for (std::size_t i = 0; i <= last.index; ++i) {
    const Node& node = last.graph->nodes()[i];
    if (!needed[i]) continue;
    std::vector<Value> operands;
    for (const Node* operand : node.operands) operands.emplace_back(*copy.of.at(operand));
    const Value made = node.op ? copy.graph->apply(*node.op, operands, node.settings) : input_again(node, *copy.graph);
    copy.of.emplace(&node, &made.node());
    copy.originals.emplace(&made.node(), &node);
  }
  return copy;
}

PerturbedRun::PerturbedRun(const Node& of, const Node& result, const std::function<bool(const Node&)>& watched)
    : graph_(std::make_shared<Graph>(keep_nothing())), numbers_(std::make_shared<Matrix>(*of.cells())) {
  const Node &first = of.original(), &last = result.original();
  const std::vector<bool> needed = behind(last);
  std::map<const Node*, const Node*> made;
  made.emplace(&first, &as_input(first, *graph_, numbers_).node());
  const auto operand_of = [&](const Node& node) {
    const auto found = made.find(&node);
    if (found != made.end()) return Value(*found->second);
    const Value input = as_input(node, *graph_, node.cells());
    made.emplace(&node, &input.node());
    return input;
  };
  std::vector<bool> depends(last.index + 1, false);
  depends[first.index] = true;
  std::vector<const Node*> targets;
  for (std::size_t i = first.index + 1; i <= last.index; ++i) {
    const Node& node = last.graph->nodes()[i];
    for (const Node* operand : node.operands) depends[i] = depends[i] || depends[operand->index];
    if (!needed[i] || !depends[i]) continue;
    std::vector<Value> operands;
    for (const Node* operand : node.operands) operands.push_back(operand_of(*operand));
    const Value again = graph_->apply(*node.op, operands, node.settings);
    const Node& copy = again.node();
    made.emplace(&node, &copy);
    if (!watched(node)) continue;
    watched_.push_back(&copy);
    if (copy.operands.front()->op) targets.push_back(copy.operands.front());
  }
  result_ = made.at(&last);
  targets.push_back(result_);
  plan_ = graph_->run().plan_to_repeat(targets);
}

}  // namespace attn
