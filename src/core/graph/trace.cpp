#include "core/graph/trace.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/plan.hpp"

namespace attn {
namespace {

Traced traced(const Node& node, std::shared_ptr<const Graph> graph, const Cost& cost) {
  std::vector<std::string> operands;
  for (const Node* operand : node.named_operands()) operands.push_back(operand->name);
  return {.name = node.name,
          .role = node.role,
          .family = node.family,
          .operation = std::string(node.operation ? node.operation->name() : "input"),
          .operands = std::move(operands),
          .formula = formula_of(node),
          .frame = node.frame,
          .cost = cost,
          .cells = [&node, graph = std::move(graph)] { return node.cells(); }};
}

// Steps with symbols in place of nodes.
class Derivations {
 public:
  Derivations(std::size_t deepest, std::string_view scope, const TakeDerived& take)
      : deepest_(deepest), scope_(scope), take_(take) {}

  void add(const Cell& cell, std::size_t depth) {
    const bool is_given = !cell.node->operation && depth > 0;
    if (is_given || !seen_.insert(cell).second) return;
    Explanation explanation = explain(cell);
    const std::vector<Cell> terms = depth < deepest_ ? cells_of(explanation.expression) : std::vector<Cell>();
    take_({.matrix = symbol_of(*cell.node),
           .row = cell.row,
           .column = cell.column,
           .value = cell.value(),
           .depth = depth,
           .expression = detached(std::move(explanation.expression)),
           .reason = explanation.reason,
           .told_reason = told_within(explanation.reason, *cell.node, scope_)});
    for (const Cell& term : terms) add(term, depth + 1);
  }

 private:
  std::shared_ptr<const Symbol> symbol_of(const Node& node) {
    std::shared_ptr<const Symbol>& known = symbols_[&node];
    if (!known) {
      known = std::make_shared<const Symbol>(
          node.name.empty() ? Symbol{node.title(), {node.title(), "\\left(" + formula_of(node).latex + "\\right)"}}
                            : Symbol{node.name, symbol(node, scope_)});
    }
    return known;
  }

  Expression detached(Expression expression) {
    if (expression.cell.node) {
      expression.matrix = symbol_of(*expression.cell.node);
      expression.cell.node = nullptr;
    }
    for (Expression& part : expression.parts) part = detached(std::move(part));
    return expression;
  }

  std::size_t deepest_;
  std::string_view scope_;
  const TakeDerived& take_;
  std::set<Cell> seen_;
  std::map<const Node*, std::shared_ptr<const Symbol>> symbols_;
};

}  // namespace

void Trace::add(const Node& node) { nodes_.push_back({&node, node.graph->weak_from_this().lock()}); }

void Trace::add(const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) add(*node);
}

const std::vector<Traced>& Trace::matrices() const {
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

const Traced* Trace::find(std::string_view name) const {
  const std::vector<Traced>& all = matrices();
  for (; placed_ < all.size(); ++placed_) places_.emplace(all[placed_].name, placed_);
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &all[found->second];
}

std::vector<Traced> Trace::matching(std::string_view pattern) const {
  std::vector<std::string> names;
  for (const Traced& matrix : matrices()) names.push_back(matrix.name);
  std::vector<Traced> found;
  for (const std::size_t i : attn::matching(pattern, names)) found.push_back(matrices_[i]);
  return found;
}

void derive(const Cell& cell, std::size_t depth, std::string_view scope, const TakeDerived& take) {
  Derivations(depth, scope, take).add(cell, 0);
}

}  // namespace attn
