#include "apart/change/changed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/graph/find.hpp"

namespace attn {

std::string ChangedMatrix::place() const { return address_of({node, moved.row, moved.column}); }

namespace {

// What stands in the place of a node, by the name of the node: it may have another one of its own.
const Node& now_named(const Node& node, Rewriting& again) {
  const Value remade = again.of(node);
  const Node& now = remade.node();
  const Node* const named = again.graph().find(node.name);
  return named && &named->original() == &now.original() ? *named : now;
}

}  // namespace

std::vector<ChangedMatrix> changed_matrices(const Graph& graph, Rewriting& again) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    if (!node->is_alias()) nodes.push_back(node);
  }
  return changed_matrices(nodes, again);
}

std::vector<ChangedMatrix> changed_matrices(std::span<const Node* const> nodes, Rewriting& again) {
  std::vector<ChangedMatrix> all;
  for (const Node* node : nodes) {
    if (node->family != &family::forward || !again.changes(*node)) continue;
    const Node& now = now_named(*node, again);
    all.push_back({node, &now, difference(node->matrix(), now.matrix())});
  }
  return all;
}

const Node* result_of(const Graph& graph) {
  const Node* last = nullptr;
  const Node* logits = nullptr;
  for (const Node* node : graph.named()) {
    if (!node->op || node->family != &family::forward) continue;
    last = node;
    if (node->is(role::logits)) logits = node;
  }
  return logits ? logits : last;
}

std::vector<const Node*> results_of(const Graph& graph) {
  const Node* const last = result_of(graph);
  if (!last) return {};
  std::vector<const Node*> alike;
  for (const Node* node : graph.named()) {
    if (node->op && node->role == last->role && node->family == last->family && !node->is_alias())
      alike.push_back(node);
  }
  if (std::ranges::find(alike, last) == alike.end()) alike.push_back(last);
  std::set<const Node*> behind;  // of any of them
  std::vector<const Node*> left;
  for (const Node* node : alike) {
    const Node& original = node->original();
    left.insert(left.end(), original.operands.begin(), original.operands.end());
  }
  while (!left.empty()) {
    const Node* const node = left.back();
    left.pop_back();
    if (behind.insert(node).second) left.insert(left.end(), node->operands.begin(), node->operands.end());
  }
  std::set<const Node*> seen;
  std::erase_if(alike, [&](const Node* node) {
    return behind.contains(&node->original()) || !seen.insert(&node->original()).second;
  });
  return alike;
}

const Node* distribution_of(const Graph& graph) {
  const Node* last = nullptr;
  for (const Node* node : graph.named()) {
    if (node->is(role::distribution)) last = node;
  }
  return last;
}

std::string address_of(const Cell& cell) {
  return fmt::format("{}[{},{}]", cell.node->name, name_of_place(cell.node->frame.rows, cell.row),
                     name_of_place(cell.node->frame.columns, cell.column));
}

std::string place_in_brackets(const Cell& cell) {
  const std::string address = address_of(cell);
  return address.substr(cell.node->name.size());
}

}  // namespace attn
