#include "core/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/graph/run.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- graph

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

// The number of the head that a name lies within; 0: none.
std::size_t head_of(std::string_view name) {
  const Name named = name_from_text(name);
  for (const ScopeName& scope : named.scopes()) {
    if (scope.kind == &scope::head) return scope.number.value_or(0);
  }
  return 0;
}

// A head that is not there is told as such, and not as a name.
void require_head(std::string_view pattern, const std::vector<std::string>& names) {
  const std::size_t asked = head_of(pattern);
  if (asked == 0) return;
  std::size_t last = 0;
  for (const std::string& name : names) last = std::max(last, head_of(name));
  if (asked <= last) return;
  if (last == 0) fail("there is no head {}: no matrix here belongs to one head alone. Leave out the head", asked);
  fail("there is no head {}: there {:is # head|are # heads}", asked, Count{last});
}

// --- node

std::vector<Formula> symbols_of(const Node& node, std::string_view scope = {}) {
  std::vector<Formula> symbols;
  for (const Node* operand : node.operands) {
    symbols.push_back(operand->name.empty() ? formula_of(*operand->op, operand->use(), symbols_of(*operand, scope))
                                            : symbol(*operand, scope));
  }
  return symbols;
}

}  // namespace

// --- graph

std::vector<std::size_t> matching_places(std::string_view pattern, const std::vector<std::string>& names) {
  std::vector<std::size_t> found;
  std::vector<bool> taken(names.size(), false);
  const auto take = [&](std::size_t i) {
    if (!taken[i]) found.push_back(i);
    taken[i] = true;
  };
  for (const std::string_view one : split_at(pattern, '|')) {
    // An exact name goes before those that only match.
    const auto exact = std::ranges::find(names, one);
    if (exact != names.end()) {
      take(static_cast<std::size_t>(exact - names.begin()));
      continue;
    }
    bool matches_any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!matches_one(one, names[i])) continue;
      matches_any = true;
      take(i);
    }
    if (matches_any) continue;
    require_head(one, names);
    fail_unknown("matrix", one, names);
  }
  return found;
}

bool matches(std::string_view pattern, std::string_view name) {
  const std::vector<std::string_view> patterns = split_at(pattern, '|');
  return std::ranges::any_of(patterns, [&](std::string_view one) { return matches_one(one, name); });
}

Keep keep_everything() {
  return [](const Node&) { return true; };
}

Keep keep_nothing() {
  return [](const Node&) { return false; };
}

Keep keep_matching(std::string pattern) {
  return [pattern = std::move(pattern)](const Node& node) { return !node.name.empty() && matches(pattern, node.name); };
}

Graph::Graph(Keep keep) : run_(std::make_unique<Run>(*this, std::move(keep))) {}

Graph::~Graph() = default;

Value Graph::input(const Name& name, Matrix matrix, Axis rows, Axis columns) {
  return input(name, std::make_shared<const Matrix>(std::move(matrix)), std::move(rows), std::move(columns));
}

Value Graph::input(const Name& name, std::shared_ptr<const Matrix> matrix, Axis rows, Axis columns) {
  Node& node = add({matrix->shape(), std::move(rows), std::move(columns)});
  node.given = std::move(matrix);
  give_name(node, name);
  return Value(node);
}

Value Graph::input(const Name& name, MakeRows make, Frame frame) {
  Node& node = add(std::move(frame));
  node.made = std::move(make);
  give_name(node, name);
  return Value(node);
}

Value Graph::input(const Name& name, Frame frame) { return input(name, MakeRows(), std::move(frame)); }

void Graph::tell_origin(const Node& input, std::string origin, bool is_random) {
  nodes_[input.index].origin = std::move(origin);
  nodes_[input.index].is_random = is_random;
}

void Graph::tell_random(const Node& input, std::string_view from) {
  tell_origin(input, fmt::format("is random ({})", from), true);
}

void Graph::tell_scoring(const Node& scores, const ScoringFunction& function) {
  nodes_[scores.index].scored_by = &function;
}

Value Graph::apply(const Op& op, const std::vector<Value>& operands, OpSettings settings) {
  std::vector<const Node*> nodes;
  // What was computed is what an explanation leads back to, whatever other names it bears.
  for (const Value& operand : operands) nodes.push_back(&operand.node().original());
  Frame frame = frame_of(op, {nodes, settings});
  return Value(add(op, std::move(settings), std::move(nodes), std::move(frame)));
}

Value Graph::name(const Name& name, const Value& value) {
  Node* node = &nodes_[value.node().index];
  if (!node->name.empty()) {
    Node& original = nodes_[node->original().index];
    node = &add(op::identity, {}, {&original}, original.frame);
    node->alias_of = &original;
    original.aliases.push_back(node);
  }
  give_name(*node, name);
  return Value(*node);
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
  const std::vector<const Node*> all = named();
  std::vector<const Node*> found;
  for (const std::size_t i : attn::matching_places(pattern, names())) found.push_back(all[i]);
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

Node& Graph::add(Frame frame) {
  if (nodes_.size() == most_nodes) {
    fail("this would take more than {} matrices: give fewer words, steps, heads or layers", most_nodes);
  }
  constexpr std::uint64_t work_of_adding = 20000;
  Budget::take_work(work_of_adding);
  Node& node = nodes_.emplace_back();
  node.graph = this;
  node.index = nodes_.size() - 1;
  node.frame = std::move(frame);
  return node;
}

Node& Graph::add(const Op& op, OpSettings settings, std::vector<const Node*> operands, Frame frame) {
  Node& node = add(std::move(frame));
  node.op = &op;
  node.settings = std::move(settings);
  node.operands = std::move(operands);
  return node;
}

const NamedScope* Graph::scope_within(const NamedScope* outer, const ScopeName& name) {
  const std::string prefix = (outer ? outer->prefix : "") + name.text + '.';
  const Family* const around = outer ? outer->family : &family::forward;
  const NamedScope made{name.kind, name.number, outer, name.kind->family ? name.kind->family : around, prefix};
  return &scopes_.emplace(prefix, made).first->second;
}

const NamedScope* Graph::scope_like(const NamedScope* of_another) {
  if (!of_another) return nullptr;
  const std::size_t outer = of_another->outer ? of_another->outer->prefix.size() : 0;
  ScopeName name(*of_another->kind, of_another->title().substr(outer));
  name.number = of_another->number;
  return scope_within(scope_like(of_another->outer), name);
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

Graph::Scope::~Scope() { graph_.scope_ = outer_; }

Value name(const Name& name, const Value& value) { return value.graph().name(name, value); }

Value apply(const Op& op, const std::vector<Value>& operands, OpSettings settings) {
  return operands.front().graph().apply(op, operands, std::move(settings));
}

// --- node

const Node* Node::beside(const Role& other) const { return graph->find(place, {*family, other}); }

bool Node::is(const Role& other) const { return role == &other && family == &family::forward; }

Content Node::content() const { return role && family->keeps_facts ? role->content : Content::numbers; }

bool Node::rows_sum_to_one() const { return role && family->keeps_facts && role->rows_sum_to_one; }

// A node without a name may be the sum of scores and a mask.
bool Node::may_be_masked() const { return !role || (family->keeps_facts && role->may_be_masked); }

const Matrix& Node::matrix() const { return *cells(); }

std::shared_ptr<const Matrix> Node::cells() const { return graph->run().at(*this); }

double Node::cell(std::size_t row, std::size_t column) const { return graph->run().cell(*this, row, column); }

std::vector<double> Node::row(std::size_t i) const { return graph->run().row(*this, i); }

std::string Node::title() const {
  if (!name.empty()) return name;
  return "(" + formula_of(*op, use(), symbols_of(*this)).plain + ")";
}

std::string_view Node::scope() const { return place ? std::string_view(place->prefix) : std::string_view(); }

std::string_view Node::scope_name() const {
  const std::string_view whole = scope();
  return whole.substr(0, whole.empty() ? 0 : whole.size() - 1);
}

std::string Node::name_within(std::string_view scope) const {
  if (scope.empty() || !name.starts_with(scope)) return name;
  std::string rest = name.substr(scope.size());
  const bool is_numbered = rest.front() >= '0' && rest.front() <= '9';
  return is_numbered || graph->find(rest) ? name : rest;
}

std::string_view Node::leaf() const { return std::string_view(name).substr(scope().size()); }

bool Node::is_alias() const { return alias_of != nullptr; }

const Node& Node::original() const { return alias_of ? *alias_of : *this; }

std::vector<const Node*> Node::named_operands() const {
  std::vector<const Node*> named;
  for (const Node* operand : operands) {
    if (!operand->name.empty()) {
      named.push_back(operand);
    } else {
      std::ranges::copy(operand->named_operands(), std::back_inserter(named));
    }
  }
  return named;
}

Formula symbol(const Node& node, std::string_view scope) {
  const std::string told = node.name_within(scope);
  const std::string_view leaf = node.leaf();
  const std::string latex = node.letter.empty() ? latex_of_name(node.plain_leaf()) : std::string(node.letter);
  const std::string_view outer(told.data(), told.size() - leaf.size());
  return symbol(outer.substr(0, outer.empty() ? 0 : outer.size() - 1), leaf, std::string(node.family->before) + latex);
}

Formula formula_of(const Node& node, std::string_view scope) {
  const Formula left = symbol(node, scope);
  if (!node.op) return left;
  const Formula right = formula_of(*node.op, node.use(), symbols_of(node, scope));
  if (node.name.empty()) return right;
  return {left.plain + " = " + right.plain, left.latex + " = " + right.latex};
}

std::string with_short_names(std::string sentence, const Node& node, std::string_view scope) {
  std::vector<const Node*> mentioned = node.operands;
  mentioned.push_back(&node);
  for (const Node* one : mentioned) {
    const std::string &name = one->name, told = one->name_within(scope);
    if (told == name) continue;
    for (std::size_t at = sentence.find(name); at != std::string::npos; at = sentence.find(name, at + told.size())) {
      sentence.replace(at, name.size(), told);
    }
  }
  return sentence;
}

}  // namespace attn
