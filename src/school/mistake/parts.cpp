#include "school/mistake/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/attention/score.hpp"
#include "school/mistake/rewriting.hpp"

namespace attn {

// --- parts

const Node* operand(const Node& node, std::size_t i) { return i < node.operands.size() ? node.operands[i] : nullptr; }

bool uses(const Node& node, const Node& operand) {
  return std::ranges::any_of(node.operands, [&](const Node* one) { return &one->original() == &operand.original(); });
}

Value on_others(const Node& node, const std::function<Made(const Node& operand)>& other, Rewriting& again) {
  std::vector<Value> operands;
  for (const Node* one : node.operands) {
    const Made exchanged = other(*one);
    operands.push_back(exchanged ? *exchanged : again.of(*one));
  }
  return operation_on(node, operands, again.graph());
}

namespace {

// The nodes that a node is made of, itself among them, as far back as `first`, in order.
std::set<std::size_t> behind(const Node& last, const Node& first) {
  std::set<std::size_t> found;
  std::vector<const Node*> open = {&last};
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    if (node.index <= first.index || !found.insert(node.index).second) continue;
    open.insert(open.end(), node.operands.begin(), node.operands.end());
  }
  return found;
}

}  // namespace

Value put(const Node& result, const Node& from, const Value& value, Rewriting& again) {
  const Node &first = from.original(), &last = result.original();
  std::map<const Node*, Value> made = {{&first, value}};
  const auto now = [&](const Node& one) {
    const auto found = made.find(&one);
    return found == made.end() ? Made() : Made(found->second);
  };
  for (const std::size_t i : behind(last, first)) {
    const Node& node = first.graph->nodes()[i];
    if (std::ranges::any_of(node.operands, [&](const Node* one) { return made.contains(one); }))
      made.emplace(&node, on_others(node, now, again));
  }
  const Made changed = now(last);
  return changed ? *changed : again.of(last);
}

Value constant_like(const Value& column, double number) {
  // Every row of one column is the whole of its columns.
  return times(uniform(column), plain_number(number));
}

Scalar plain_number(double value) {
  const std::string written = fmt::format("{}", value);
  return {value, {written, written}};
}

bool is_gradient(const Node& node) {
  const auto is_named_so = [](const Node& one) { return one.family == &family::gradient; };
  return is_named_so(node) || std::ranges::any_of(node.operands, [&](const Node* one) { return is_named_so(*one); });
}

// --- attention nodes

bool makes(const Node& node, const Role& role) { return node.is(role) && node.operation && !node.is_alias(); }

bool is_any_softmax(const Node& node) {
  return node.operation && node.operation->is(op::softmax) && node.rows_sum_to_one();
}

bool is_softmax_of_attention(const Node& node) { return node.is(role::weights) && is_any_softmax(node); }

bool sums_values(const Node& node) {
  return node.operation && node.operation->is(op::matmul) && node.operands[0]->is(role::weights);
}

bool compares(const Node& node) {
  return (makes(node, role::scores) || makes(node, role::content)) && node.operation->is(op::matmul_transposed);
}

const Node* comparison_of(const Node& scores) {
  const Node* const content = scores.beside(role::content);
  const Node& node = (content ? *content : scores).original();
  return node.operation && node.operation->is(op::matmul_transposed) ? &node : nullptr;
}

std::optional<LinearNodes> linear_nodes(const Node& node) {
  if (!node.operation || node.operands.empty()) return std::nullopt;
  const bool is_product = node.operation->is(op::matmul);
  const Node& product = is_product ? node : *node.operands[0];
  const bool has_bias = !is_product && node.operands.size() == 2 && product.name.empty();
  if (!product.operation || !product.operation->is(op::matmul) || (!is_product && !has_bias)) return std::nullopt;
  return LinearNodes{product.operands[0], product.operands[1], has_bias ? node.operands[1] : nullptr};
}

const Node* shared_by_heads(const Node& node, const Role& role) {
  return node.graph->find(around(node.place, scope::head), role);
}

std::vector<const Node*> of_all_heads(const Node& node, const Role& role) {
  const NamedScope* const outer = around(node.place, scope::head);
  std::vector<const Node*> found;
  while (const Node* one = node.graph->find(outer, Name({{scope::head, found.size() + 1}}, role))) found.push_back(one);
  return found;
}

std::optional<std::size_t> head_of(const Node& node) {
  const NamedScope* const head = node.within(scope::head);
  if (!head || !head->number) return std::nullopt;
  return *head->number - 1;
}

Made on_named(const Node& node, const Role& role, Rewriting& again) {
  if (!node.operation || node.is_alias()) return std::nullopt;
  const auto changed_name = [&](const Node& operand) -> const Node* {
    for (const Node* alias : operand.aliases) {
      if (alias->is(role) && again.changes(*alias)) return alias;
    }
    return nullptr;
  };
  if (std::ranges::none_of(node.operands, changed_name, [](const Node* operand) -> const Node& { return *operand; }))
    return std::nullopt;
  std::vector<Value> operands;
  for (const Node* operand : node.operands) {
    const Node* const named = changed_name(*operand);
    operands.push_back(again.of(named ? *named : *operand));
  }
  return again.graph().apply(node.operation, operands);
}

Value scores_with(double fill, const Node& softmax, Rewriting& again) {
  const Node& scores = *softmax.operands[0];
  if (!scores.operation || !scores.operation->is(op::mask)) return again.of(scores);
  return replace(again.of(*scores.operands[0]), again.of(*scores.operands[1]), fill);
}

Value scores_before_mask(const Node& softmax, Rewriting& again) {
  const Node& scores = *softmax.operands[0];
  return again.of(scores.operation && scores.operation->is(op::mask) ? *scores.operands[0] : scores);
}

Value masked_like(const Node& softmax, const Value& scores, Rewriting& again) {
  const Node& masked = *softmax.operands[0];
  if (!masked.operation || !masked.operation->is(op::mask)) return scores;
  return again.graph().apply(masked.operation, {scores, again.of(*masked.operands[1])});
}

Value zero_where_masked(const Node& softmax, const Value& weights, Rewriting& again) {
  const Node& masked = *softmax.operands[0];
  if (!masked.operation || !masked.operation->is(op::mask)) return weights;
  return replace(weights, again.of(*masked.operands[1]), 0.0);
}

Scalar root_of(std::size_t n) { return *divisor("sqrt-dk", {.d_k = n}); }

}  // namespace attn
