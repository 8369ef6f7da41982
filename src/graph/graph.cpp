#include "graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "graph/op/operations.hpp"
#include "support/list.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// After a mismatch only the last star can take more: the product of both sizes at most, whatever
// the pattern.
bool matches_whole(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, after_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Leading scopes may be left out of a pattern.
bool matches_one(std::string_view pattern, std::string_view name) {
  while (true) {
    if (matches_whole(pattern, name)) return true;
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

Matrix Value::take() && {
  const std::shared_ptr<Matrix> cells = std::move(cells_);
  if (cells.use_count() == 1) return std::move(*cells);
  return *cells;
}

bool matches(std::string_view pattern, std::string_view name) {
  const std::vector<std::string_view> patterns = pieces_of(pattern, '|');
  return std::ranges::any_of(patterns, [&](std::string_view one) { return matches_one(one, name); });
}

Keep keep_everything() {
  return [](const Node&) { return true; };
}

Keep keep_nothing() {
  return [](const Node&) { return false; };
}

Keep keep_matching(std::string pattern) {
  return [pattern = std::move(pattern)](const Node& node) {
    return !node.name.empty() && matches(pattern, node.name);
  };
}

Value Graph::input(const Name& name, Matrix matrix, Axis rows, Axis columns) {
  return input(name, std::make_shared<const Matrix>(std::move(matrix)), std::move(rows), std::move(columns));
}

Value Graph::input(const Name& name, std::shared_ptr<const Matrix> matrix, Axis rows, Axis columns) {
  const Shape shape = matrix->shape();
  Node& node = add(nullptr, {}, {shape, std::move(rows), std::move(columns)});
  node.kept = std::move(matrix);
  give_name(node, name);
  return value(node);
}

void Graph::tell_origin(const Node& input, std::string origin) {
  const_cast<Node&>(input).origin = std::move(origin);
}

void Graph::tell_scoring(const Node& scores, const ScoringFunction& function) {
  const_cast<Node&>(scores).scored_by = &function;
}

Value Graph::placeholder(const Name& name, Frame frame) {
  Node& node = add(nullptr, {}, std::move(frame));
  give_name(node, name);
  return {&node, nullptr};
}

Value Graph::value(const Node& node) {
  if (evaluation_ == Evaluation::never) return {const_cast<Node*>(&node), nullptr};
  if (!node.kept) throw std::logic_error("the cells of " + node.title() + " were not kept");
  // The node holds the cells as well, so that nobody who takes them gets the memory itself.
  return {const_cast<Node*>(&node), std::const_pointer_cast<Matrix>(node.kept)};
}

Value Graph::apply(std::unique_ptr<const Operation> operation, std::vector<Value> operands) {
  std::vector<const Node*> nodes;
  // What was computed is what an explanation leads back to, whatever other names it bears.
  for (const Value& operand : operands) nodes.push_back(&operand.node().original());
  Frame frame = operation->frame(nodes);
  Node& node = add(std::move(operation), std::move(nodes), std::move(frame));
  if (evaluation_ == Evaluation::never) return {&node, nullptr};
  if (!fits(node.frame.shape)) require_size(node.title(), node.frame.shape);
  auto cells = std::make_shared<Matrix>(node.operation->compute(operands));
  if (keep_(node)) node.kept = cells;
  return {&node, std::move(cells)};
}

Value Graph::name(const Name& name, Value value) {
  Node* node = value.node_;
  if (!node->name.empty()) {
    node = &add(make_identity(), {&node->original()}, node->frame);
  }
  give_name(*node, name);
  if (evaluation_ == Evaluation::at_once && keep_(*node)) node->kept = value.cells_;
  return {node, std::move(value.cells_)};
}

const Node* Graph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Node* Graph::find(const NamedScope* place, const Name& name) const {
  return find((place ? place->prefix : "") + name.text());
}

const Node& Graph::at(std::string_view name) const {
  if (const Node* node = find(name)) return *node;
  fail_unknown("matrix", name, names());
}

std::vector<const Node*> Graph::matching(std::string_view pattern) const {
  std::vector<const Node*> found;
  for (const std::string_view one : pieces_of(pattern, '|')) {
    std::vector<const Node*> more = matching_one(one);
    if (more.empty()) fail_unknown("matrix", one, names());
    std::erase_if(more, [&](const Node* node) { return std::ranges::find(found, node) != found.end(); });
    std::ranges::move(more, std::back_inserter(found));
  }
  return found;
}

// An exact name goes before those that only match.
std::vector<const Node*> Graph::matching_one(std::string_view pattern) const {
  if (const Node* node = find(pattern)) return {node};
  std::vector<const Node*> found;
  for (const Node& node : nodes_) {
    if (!node.name.empty() && matches_one(pattern, node.name)) found.push_back(&node);
  }
  return found;
}

std::vector<const Node*> Graph::named() const {
  std::vector<const Node*> found;
  for (const Node& node : nodes_) {
    if (!node.name.empty()) found.push_back(&node);
  }
  return found;
}

std::vector<std::string> Graph::names() const {
  std::vector<std::string> names;
  for (const Node& node : nodes_) {
    if (!node.name.empty()) names.push_back(node.name);
  }
  return names;
}

Node& Graph::add(std::unique_ptr<const Operation> operation, std::vector<const Node*> operands, Frame frame) {
  Node& node = nodes_.emplace_back();
  node.graph = this;
  node.operation = std::move(operation);
  node.operands = std::move(operands);
  node.frame = std::move(frame);
  return node;
}

const NamedScope* Graph::scope_within(const NamedScope* outer, const ScopeName& name) {
  const std::string prefix = (outer ? outer->prefix : "") + name.text + '.';
  const Family* const around = outer ? outer->family : &family::forward;
  const NamedScope made{name.kind, name.number, outer, name.kind->family ? name.kind->family : around,
                        prefix};
  return &scopes_.emplace(prefix, made).first->second;
}

void Graph::give_name(Node& node, const Name& name) {
  node.place = scope_;
  for (const ScopeName& scope : name.scopes()) node.place = scope_within(node.place, scope);
  node.role = &name.role();
  node.family = &name.family(node.place ? *node.place->family : family::forward);
  node.letter = name.letter();
  node.name = fmt::format("{}{}{}", node.scope(), node.family->prefix, name.leaf());
  const bool is_new = by_name_.emplace(node.name, &node).second;
  if (!is_new) throw std::logic_error("two nodes are called " + node.name);
}

Graph::Scope::Scope(Graph& graph, const ScopeName& name) : graph_(graph), outer_(graph.scope_) {
  graph_.scope_ = graph_.scope_within(outer_, name);
}

Graph::Scope::Scope(Graph& graph, const NamedScope* again) : graph_(graph), outer_(graph.scope_) {
  graph_.scope_ = again;
}

Graph::Scope::~Scope() {
  graph_.scope_ = outer_;
}

Value name(const Name& name, Value value) {
  Graph& graph = value.graph();
  return graph.name(name, std::move(value));
}

}  // namespace attn
