#include "core/graph/plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace attn {

namespace {

// Moving numbers is no sequential operation.
bool computes(const Node& node) { return node.op && !node.op->moves; }

bool is_result(const Node& node) { return node.op && !node.is_alias(); }

std::uint64_t bytes_of_node(const Node& node) { return node.frame.shape.cells() * sizeof(double); }

// How many computing operations come one after another until each node is there. A graph's nodes are in the
// order of the computation.
std::map<const Node*, std::uint64_t> depths(const Graph& graph) {
  std::map<const Node*, std::uint64_t> depth;
  for (const Node& node : graph.nodes()) {
    std::uint64_t latest = 0;
    for (const Node* operand : node.operands) latest = std::max(latest, depth[operand]);
    depth[&node] = latest + (computes(node) ? 1 : 0);
  }
  return depth;
}

// Adds a node and the unnamed ones behind it that nothing has counted yet.
void add_work(const Node& node, std::map<const Node*, bool>& counted, Work& work) {
  if (!is_result(node) || std::exchange(counted[&node], true)) return;
  work.cost += cost_of(node);
  work.bytes += bytes_of_node(node);
  for (const Node* operand : node.operands) {
    if (operand->name.empty()) add_work(*operand, counted, work);
  }
}

}  // namespace

Cost cost_of(const Node& node) {
  if (!node.op) return {};
  return cost_of(*node.op, node.use(), shapes_of(node));
}

Work work_of(const Graph& graph) {
  Work work;
  for (const Node& node : graph.nodes()) {
    if (!is_result(node)) continue;
    work.cost += cost_of(node);
    work.bytes += bytes_of_node(node);
  }
  for (const auto& [node, depth] : depths(graph)) work.sequential = std::max(work.sequential, depth);
  return work;
}

std::uint64_t bytes_of_inputs(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const Node& node : graph.nodes()) bytes += node.op ? 0 : bytes_of_node(node);
  return bytes;
}

std::vector<OperationWork> work_by_operation(const Graph& graph) {
  std::vector<OperationWork> all;
  for (const Node& node : graph.nodes()) {
    if (!is_result(node)) continue;
    auto found = std::ranges::find(all, node.op->name, &OperationWork::operation);
    if (found == all.end()) found = all.insert(all.end(), {node.op->name, 0, {}});
    ++found->times;
    found->work.cost += cost_of(node);
    found->work.bytes += bytes_of_node(node);
  }
  return all;
}

std::vector<NamedWork> work_by_name(const Graph& graph) {
  std::vector<NamedWork> all;
  const auto depth = depths(graph);
  std::map<const Node*, bool> counted;
  for (const Node& node : graph.nodes()) {
    if (node.name.empty() || !is_result(node)) continue;
    NamedWork named{&node, {.sequential = depth.at(&node)}};
    add_work(node, counted, named.work);
    all.push_back(std::move(named));
  }
  return all;
}

}  // namespace attn
