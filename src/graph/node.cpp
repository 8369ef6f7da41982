#include <algorithm>
#include <iterator>

#include "graph/graph.hpp"
#include "graph/run.hpp"

namespace attn {
namespace {

std::vector<Formula> symbols_of(const Node& node, std::string_view scope = {}) {
  std::vector<Formula> symbols;
  for (const Node* operand : node.operands) {
    symbols.push_back(operand->name.empty() ? operand->operation->formula(symbols_of(*operand, scope))
                                            : symbol(*operand, scope));
  }
  return symbols;
}

// A node without a name cannot be pointed to: what stands behind its cell takes its place.
Expression with_names_only(Expression expression) {
  if (expression.kind == Expression::Kind::cell && expression.cell.node->name.empty()) {
    return explain(expression.cell).expression;
  }
  for (Expression& part : expression.parts) part = with_names_only(std::move(part));
  return expression;
}

}  // namespace

const Node* Node::beside(const Role& other) const {
  return graph->find(place, {*family, other});
}

bool Node::is(const Role& other) const {
  return role == &other && family == &family::forward;
}

Content Node::content() const {
  return role && family->keeps_facts ? role->content : Content::numbers;
}

bool Node::rows_sum_to_one() const {
  return role && family->keeps_facts && role->rows_sum_to_one;
}

// A node without a name may be the sum of scores and a mask.
bool Node::may_be_masked() const {
  return !role || (family->keeps_facts && role->may_be_masked);
}

const Matrix& Node::matrix() const {
  return *cells();
}

std::shared_ptr<const Matrix> Node::cells() const {
  return graph->run().at(*this);
}

double Node::cell(std::size_t row, std::size_t column) const {
  return graph->run().cell(*this, row, column);
}

std::vector<double> Node::row(std::size_t i) const {
  return graph->run().row(*this, i);
}

std::string Node::title() const {
  if (!name.empty()) return name;
  return "(" + operation->formula(symbols_of(*this)).plain + ")";
}

std::string_view Node::scope() const {
  return place ? std::string_view(place->prefix) : std::string_view();
}

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

std::string_view Node::leaf() const {
  return std::string_view(name).substr(scope().size());
}

bool Node::is_alias() const {
  return alias_of != nullptr;
}

const Node& Node::original() const {
  return alias_of ? *alias_of : *this;
}

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
  const std::string latex = node.letter.empty() ? written_out(node.plain_leaf()) : std::string(node.letter);
  const std::string_view outer(told.data(), told.size() - leaf.size());
  return symbol(outer.substr(0, outer.empty() ? 0 : outer.size() - 1), leaf,
                std::string(node.family->before) + latex);
}

Formula formula_of(const Node& node, std::string_view scope) {
  const Formula left = symbol(node, scope);
  if (!node.operation) return left;
  const Formula right = node.operation->formula(symbols_of(node, scope));
  if (node.name.empty()) return right;
  return {left.plain + " = " + right.plain, left.latex + " = " + right.latex};
}

Explanation explain(const Cell& cell) {
  if (!cell.node->operation) {
    const std::string origin = cell.node->origin.empty() ? "is given" : cell.node->origin;
    return {number(cell.value()), cell.node->name + " " + origin + ", not computed"};
  }
  Explanation explanation = cell.node->operation->explain(cell.node->operands, cell.row, cell.column);
  explanation.expression = with_names_only(std::move(explanation.expression));
  return explanation;
}

std::string told_within(std::string sentence, const Node& node, std::string_view scope) {
  std::vector<const Node*> mentioned = node.operands;
  mentioned.push_back(&node);
  for (const Node* one : mentioned) {
    const std::string &name = one->name, told = one->name_within(scope);
    if (told == name) continue;
    for (std::size_t at = sentence.find(name); at != std::string::npos;
         at = sentence.find(name, at + told.size())) {
      sentence.replace(at, name.size(), told);
    }
  }
  return sentence;
}

}  // namespace attn
