#include "core/op/backward_pass.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "core/op/gradient_operations.hpp"

namespace attn {

std::span<const Op* const> operations() {
  static constexpr const Op* all[] = {
#define OP(name) &op::name,
#include "core/op/operations.def"
#undef OP
  };
  return all;
}

CheckpointRule checkpoint_everything() {
  return [](const Node&) { return true; };
}

Backward::Backward(const Value& from, const Value& d_from, const std::vector<const Node*>& to, CheckpointRule stands)
    : graph_(from.graph()), from_(from.node().original()), stands_(std::move(stands)) {
  const std::vector<bool> wanted = lies_behind(to);
  const std::deque<Node>& nodes = graph_.nodes();
  flows_[&from_].push_back(d_from);
  // An operation stands behind its operands: everything has flowed back to a node when its turn comes.
  for (std::size_t i = from_.index + 1; i-- > 0;) {
    if (wanted[i] && flows_.contains(&nodes[i])) flow_back(nodes[i], wanted);
  }
}

const Node* Backward::by(const Node& node) const {
  const auto found = gradients_.find(&node.original());
  return found == gradients_.end() ? nullptr : &found->second.node();
}

std::vector<bool> Backward::lies_behind(const std::vector<const Node*>& to) const {
  const std::deque<Node>& nodes = graph_.nodes();
  std::vector<bool> behind(nodes.size(), false);
  for (const Node* node : to) behind[node->original().index] = true;
  for (const Node& node : nodes) {
    if (!node.op && to.empty()) behind[node.index] = true;
    for (const Node* operand : node.operands) {
      if (behind[operand->index]) behind[node.index] = true;
    }
  }
  return behind;
}

void Backward::flow_back(const Node& node, const std::vector<bool>& wanted) {
  const std::vector<Value> flows = std::move(flows_.extract(&node).mapped());
  const Value gradient = sum_of_flows(flows);
  name_gradient(node, gradient);
  gradients_.emplace(&node, gradient);
  if (!node.op) return;
  std::vector<Value> operands;
  for (const Node* operand : node.operands) operands.push_back(standing(*operand));
  if (!node.op->gradients)
    fail("{} has no gradient of its own: a gradient of gradients cannot go through it", node.op->name);
  const Gradients back = node.op->gradients(node.use(), standing(node), gradient, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Node& operand = *node.operands[i];
    if (!back.at(i) || !wanted[operand.index]) continue;
    if (back[i]->shape() != operand.frame.shape) {
      throw std::logic_error(fmt::format("{}: the gradient of operand {} is {} and not {}", node.op->name, i + 1,
                                         to_string(back[i]->shape()), to_string(operand.frame.shape)));
    }
    flows_[&operand].push_back(*back[i]);
  }
}

void Backward::name_gradient(const Node& node, const Value& gradient) {
  std::vector<const Node*> named = node.aliases;
  named.insert(named.begin(), &node);
  for (const Node* one : named) {
    if (one->name.empty()) continue;
    const Graph::Scope scope(graph_, one->place);
    const Name name(family::gradient, *one->role, std::string(one->plain_leaf()));
    const Node* const there = graph_.find(one->place, name);
    if (!there) {
      graph_.name(name, gradient);
    } else if (&there->original() != &gradient.node().original()) {
      throw std::logic_error("a second gradient is called " + there->name);
    }
  }
}

Value Backward::standing(const Node& node) { return !node.op || stands_(node) ? Value(node) : computed_again(node); }

// A chain of nodes that do not stand is as long as a layer.
Value Backward::computed_again(const Node& node) {
  if (const auto found = again_.find(&node); found != again_.end()) return found->second;
  std::vector<Value> operands;
  for (const Node* operand : node.operands) operands.push_back(standing(*operand));
  return again_.emplace(&node, graph_.apply(*node.op, operands, node.settings)).first->second;
}

}  // namespace attn
