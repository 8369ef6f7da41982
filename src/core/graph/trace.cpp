#include "core/graph/trace.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/plan.hpp"

namespace attn {
namespace {

TracedMatrix traced(const Node& node, std::shared_ptr<const Graph> graph, const Cost& cost) {
  std::vector<std::string> operands;
  for (const Node* operand : node.named_operands()) operands.push_back(operand->name);
  return {.name = node.name,
          .role = node.role,
          .family = node.family,
          .operation = std::string(node.op ? node.op->name : "input"),
          .operands = std::move(operands),
          .formula = formula_of(node),
          .frame = node.frame,
          .cost = cost,
          .cells = [&node, graph = std::move(graph)] { return node.cells(); }};
}

}  // namespace

Trace::Trace() = default;
Trace::Trace(std::vector<TracedMatrix> matrices) : matrices_(std::move(matrices)) {}
Trace::Trace(const std::vector<const Node*>& nodes) { add(nodes); }
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

void Trace::add(const Node& node) { nodes_.push_back({&node, node.graph->weak_from_this().lock()}); }

void Trace::add(const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) add(*node);
}

const std::vector<TracedMatrix>& Trace::matrices() const {
  if (nodes_.empty()) return matrices_;
  // What every named node of the graphs cost, with the nodes without a name behind it.
  std::set<const Graph*> graphs;
  for (const Waiting& waiting : nodes_) graphs.insert(waiting.node->graph);
  std::map<const Node*, Cost> costs;
  for (const Graph* graph : graphs) {
    for (const NamedWork& named : work_by_name(*graph)) costs[named.node] = named.work.cost;
  }
  for (Waiting& waiting : nodes_)
    matrices_.push_back(traced(*waiting.node, std::move(waiting.graph), costs[waiting.node]));
  nodes_.clear();
  return matrices_;
}

const TracedMatrix* Trace::find(std::string_view name) const {
  const std::vector<TracedMatrix>& all = matrices();
  for (; placed_ < all.size(); ++placed_) places_.emplace(all[placed_].name, placed_);
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &all[found->second];
}

std::vector<TracedMatrix> Trace::matching(std::string_view pattern) const {
  std::vector<std::string> names;
  for (const TracedMatrix& matrix : matrices()) names.push_back(matrix.name);
  std::vector<TracedMatrix> found;
  for (const std::size_t i : attn::matching_places(pattern, names)) found.push_back(matrices_[i]);
  return found;
}

}  // namespace attn
