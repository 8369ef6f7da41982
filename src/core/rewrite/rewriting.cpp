#include "core/rewrite/rewriting.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/graph/find.hpp"
#include "core/graph/run.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"

namespace attn {

namespace {

// --- rewriting

Name name_of_original(const Node& node) { return {*node.family, *node.role, std::string(node.plain_leaf())}; }

// --- other sizes

bool have_their_shapes(const Node& original, const std::vector<Value>& operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Frame &now = operands[i].node().frame, &before = original.operands[i]->frame;
    if (now.shape != before.shape || now.rows.batch != before.rows.batch) return false;
  }
  return true;
}

// Whether the settings say nothing of the rows or the columns of the result.
bool fits_all_shapes(const Node& original) {
  return !original.find(setting::frame) && !original.find(setting::axis) && !original.find(setting::parts) &&
         !original.find(setting::turned);
}

}  // namespace

// --- at a node

Value RewriteSite::operator[](std::size_t operand) const { return rewriting.of(*node.operands[operand]); }

std::vector<Value> RewriteSite::operands() const {
  std::vector<Value> all;
  for (const Node* operand : node.operands) all.push_back(rewriting.of(*operand));
  return all;
}

Value RewriteSite::of(const Node& other) const { return rewriting.of(other); }

Value RewriteSite::beside(const Role& role) const { return rewriting.of(*node.beside(role)); }

Value RewriteSite::itself() const {
  return change ? rewriting.left_by_changes_behind(node, *change) : rewriting.unchanged(node);
}

Value RewriteSite::redo(const Node& step, const std::vector<Value>& on) const {
  return rewriting.graph().apply(*step.op, on, step.settings);
}

Value RewriteSite::like(Matrix matrix) const { return rewriting.input_like(node, std::move(matrix)); }

// --- rewriting

Rewriting::Rewriting(const Graph& original, std::vector<Change> changes)
    : changes_(std::move(changes)),
      graph_(std::make_shared<Graph>(keep_nothing())),
      states_(original.nodes().size(), State::unknown),
      nodes_(original.nodes().size()),
      taken_(std::make_shared<std::vector<std::optional<Value>>>(original.nodes().size())) {
  if (original.run().is_single()) graph_->run().round_to_single();
}

Rewriting::Rewriting(const Graph& original, Change change)
    : Rewriting(original, std::vector<Change>{std::move(change)}) {}

Rewriting::Rewriting(Rewriting& before, const std::vector<Change>& more, std::size_t first)
    : changes_(before.changes_),
      graph_(before.graph_),
      states_(before.states_.size(), State::unknown),
      nodes_(before.nodes_.size()),
      taken_(before.taken_),
      shares_graph_(true) {
  changes_.insert(changes_.end(), more.begin(), more.end());
  std::copy_n(before.states_.begin(), first, states_.begin());
  std::copy_n(before.nodes_.begin(), first, nodes_.begin());
}

Value Rewriting::of(const Node& original) {
  settle(original);
  std::optional<Value>& node = nodes_[original.index];
  if (!node) node = taken_over(original);
  return *node;
}

Value Rewriting::unchanged(const Node& original) {
  if (!original.op) return taken_over(original);
  return operation_on(original, RewriteSite{original, *this}.operands(), *graph_);
}

Value Rewriting::left_by_changes_behind(const Node& original, std::size_t change) {
  const std::optional<Value> made = made_by_a_change(original, change + 1);
  return made ? *made : unchanged(original);
}

Value Rewriting::input_like(const Node& original, Matrix matrix) {
  const Graph::Scope scope(*graph_, graph_->scope_like(original.place));
  // What a change behind another has made has the name already.
  if (shares_graph_ || graph_->find(original.name)) {
    const Name number(role::other, std::to_string(graph_->nodes().size()));
    return graph_->input(number, std::move(matrix), original.frame.rows, original.frame.columns);
  }
  return graph_->input(name_of_original(original), std::move(matrix), original.frame.rows, original.frame.columns);
}

bool Rewriting::changes(const Node& original) {
  settle(original);
  return states_[original.index] == State::changed;
}

// Operands stand before what is made of them, but a mistake may ask for a node that comes later.
void Rewriting::settle(const Node& last) {
  if (states_[last.index] == State::changed || states_[last.index] == State::unchanged) return;
  std::vector<std::size_t> open;
  std::vector<bool> is_open(states_.size(), false);
  std::vector<const Node*> found = {&last};
  while (!found.empty()) {
    const Node& node = *found.back();
    found.pop_back();
    if (states_[node.index] == State::being_settled) fail("{}: what is made in its place is made of it", node.title());
    if (states_[node.index] != State::unknown || is_open[node.index]) continue;
    is_open[node.index] = true;
    open.push_back(node.index);
    found.insert(found.end(), node.operands.begin(), node.operands.end());
  }
  std::ranges::sort(open);
  for (const std::size_t i : open) {
    if (states_[i] == State::unknown) settle_alone(last.graph->nodes()[i]);
  }
}

std::optional<Value> Rewriting::made_by_a_change(const Node& node, std::size_t from) {
  for (std::size_t i = from; i < changes_.size(); ++i) {
    if (!changes_[i].where(node)) continue;
    if (std::optional<Value> made = changes_[i].instead({node, *this, i})) return made;
  }
  return std::nullopt;
}

// What a change makes of a node, or what the node is behind one.
std::optional<Value> Rewriting::made_otherwise(const Node& node) {
  std::optional<Value> made = made_by_a_change(node);
  const auto is_changed = [&](const Node* operand) { return states_[operand->index] == State::changed; };
  if (!made && std::ranges::any_of(node.operands, is_changed))
    made = node.is_alias() ? of(node.original()) : unchanged(node);
  return made;
}

void Rewriting::settle_alone(const Node& node) {
  states_[node.index] = State::being_settled;
  std::optional<Value> made;
  try {
    made = made_otherwise(node);
  } catch (const InputError&) {
    states_[node.index] = State::unknown;  // it is refused again where it is asked for again
    throw;
  }
  states_[node.index] = made ? State::changed : State::unchanged;
  if (!made) return;
  name_as(node, *made);
  nodes_[node.index] = std::move(made);
}

void Rewriting::name_as(const Node& original, const Value& value) {
  if (original.name.empty() || shares_graph_) return;
  const Graph::Scope scope(*graph_, graph_->scope_like(original.place));
  if (graph_->find(original.name)) return;  // an input like it
  const Value named = graph_->name(name_of_original(original), value);
  if (original.scored_by) graph_->tell_scoring(named.node(), *original.scored_by);
}

// What has a name keeps the numbers that it has in the original.
Value Rewriting::taken_over(const Node& original) {
  if (original.name.empty()) return unchanged(original);
  std::optional<Value>& taken = (*taken_)[original.index];
  if (!taken) taken = input_of(original);
  return *taken;
}

Value Rewriting::input_of(const Node& original) {
  const Graph::Scope scope(*graph_, graph_->scope_like(original.place));
  const Node& first = original.original();
  const auto taken = [&] {
    if (first.made) return graph_->input(name_of_original(original), first.made, original.frame);
    if (!first.op && !first.given) return graph_->input(name_of_original(original), original.frame);
    return graph_->input(name_of_original(original), original.cells(), original.frame.rows, original.frame.columns);
  };
  const Value input = taken();
  if (first.is_random) graph_->tell_origin(input.node(), first.origin, first.is_random);
  return input;
}

// --- part

std::shared_ptr<Graph> part_of(const Graph& original, const std::vector<const Node*>& nodes) {
  const std::set<const Node*> within(nodes.begin(), nodes.end());
  Rewriting part(original, {{[&](const Node& node) { return node.op && within.contains(&node); },
                             [](RewriteSite at) -> std::optional<Value> { return at.itself(); }}});
  for (const Node* node : nodes) part.of(*node);
  for (const Node* node : part.graph().named()) {
    if (node->op) continue;
    const Node& from = original.at(node->name);
    part.graph().tell_origin(*node, from.op ? "is an input of this part" : from.origin, follows_from_random(from));
  }
  return part.graph().shared_from_this();
}

// --- other sizes

Value operation_on(const Node& original, const std::vector<Value>& operands, Graph& graph) {
  if (have_their_shapes(original, operands) || fits_all_shapes(original))
    return graph.apply(*original.op, operands, original.settings);
  fail("{}: the matrices that it is made of have other shapes now", original.title());
}

}  // namespace attn
