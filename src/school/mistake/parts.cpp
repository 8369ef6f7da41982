#include "school/mistake/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/attention/score.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

// --- parts

const Node* operand(const Node& node, std::size_t i) { return i < node.operands.size() ? node.operands[i] : nullptr; }

bool uses(const Node& node, const Node& operand) {
  return std::ranges::any_of(node.operands, [&](const Node* one) { return &one->original() == &operand.original(); });
}

Made left_out(RewriteSite at) { return at[0]; }
Made second_alone(RewriteSite at) { return at[1]; }

Value multiplied(RewriteSite at, double factor) { return times(at.itself(), plain_number(factor)); }

Value on_others(RewriteSite at, const std::function<Made(const Node& operand)>& other) {
  std::vector<Value> operands;
  for (const Node* one : at.node.operands) {
    const Made exchanged = other(*one);
    operands.push_back(exchanged ? *exchanged : at.of(*one));
  }
  return operation_on(at.node, operands, at.rewriting.graph());
}

Value on_other(RewriteSite at, const Node& operand, const Value& other) {
  return on_others(at, [&](const Node& one) { return &one == &operand ? Made(other) : std::nullopt; });
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
      made.emplace(&node, on_others({node, again}, now));
  }
  const Made changed = now(last);
  return changed ? *changed : again.of(last);
}

// A row of uniform() is 1 over the number of its columns.
Value constant_like(const Value& x, double number) {
  return times(uniform(x), plain_number(number * static_cast<double>(x.shape().columns)));
}

Value sum_of_all(const std::vector<Value>& all) {
  return std::accumulate(all.begin() + 1, all.end(), all.front(),
                         [](const Value& a, const Value& b) { return add(a, b); });
}
Value mean_of_all(const std::vector<Value>& all) { return divide(sum_of_all(all), plain_number(all.size())); }

Value each_cell(RewriteSite at, const Matrix& matrix, double (*function)(double)) {
  Matrix result = matrix;
  for (double& x : cells(result)) x = function(x);
  return at.like(std::move(result));
}

Scalar plain_number(double value) {
  const std::string written = fmt::format("{}", value);
  return {value, {written, written}};
}
Scalar plain_number(std::size_t value) { return plain_number(static_cast<double>(value)); }

bool is_gradient(const Node& node) {
  const auto is_named_so = [](const Node& one) { return one.family == &family::gradient; };
  return is_named_so(node) || std::ranges::any_of(node.operands, [&](const Node* one) { return is_named_so(*one); });
}

// --- attention nodes

bool makes(const Node& node, const Role& role) { return node.is(role) && node.op && !node.is_alias(); }

bool is_any_softmax(const Node& node) { return node.op && node.op == &op::softmax && node.rows_sum_to_one(); }

bool is_softmax_of_attention(const Node& node) { return node.is(role::weights) && is_any_softmax(node); }

bool is_mask(const Node& node) { return node.op && node.op == &op::mask; }

bool masks_scores(const Node& node) { return makes(node, role::masked) && is_mask(node); }

bool sums_values(const Node& node) { return node.op && node.op == &op::matmul && node.operands[0]->is(role::weights); }

bool compares(const Node& node) {
  return (makes(node, role::scores) || makes(node, role::content)) && node.op == &op::matmul_transposed;
}

const Node* comparison_of(const Node& scores) {
  const Node* const content = scores.beside(role::content);
  const Node& node = (content ? *content : scores).original();
  return node.op && node.op == &op::matmul_transposed ? &node : nullptr;
}

std::optional<LinearNodes> linear_nodes(const Node& node) {
  if (!node.op || node.operands.empty()) return std::nullopt;
  const bool is_product = node.op == &op::matmul;
  const Node& product = is_product ? node : *node.operands[0];
  const bool has_bias = !is_product && node.operands.size() == 2 && product.name.empty();
  if (!product.op || product.op != &op::matmul || (!is_product && !has_bias)) return std::nullopt;
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

std::vector<const Node*> of_all_sentences(const Node& node) {
  const NamedScope* const sentence = node.within(scope::sentence);
  std::vector<const Node*> found;
  if (!sentence || node.name.empty()) return found;
  const std::string outer = sentence->outer ? sentence->outer->prefix : std::string();
  const std::string rest = node.name.substr(sentence->prefix.size());
  const auto called = [&](std::size_t number) {
    return node.graph->find(outer + ScopeName(scope::sentence, number).text + "." + rest);
  };
  while (const Node* one = called(found.size() + 1)) found.push_back(one);
  return found;
}

std::optional<std::size_t> head_of(const Node& node) {
  const NamedScope* const head = node.within(scope::head);
  if (!head || !head->number) return std::nullopt;
  return *head->number - 1;
}

std::vector<std::size_t> words_at_a_time(const Node& keys) {
  std::vector<std::size_t> counts;
  const Node* now = &keys.original();
  while (now->within(scope::head) && operand(*now, 0)) now = &now->operands[0]->original();
  for (; now->is(role::keys); now = &now->operands[0]->original())
    counts.insert(counts.begin(), now->operands[1]->frame.shape.rows);
  counts.insert(counts.begin(), now->frame.shape.rows);
  return counts;
}

bool is_made_of_named(const Node& node, const Role& role) {
  const auto has_name = [&](const Node* operand) {
    return std::ranges::any_of(operand->aliases, [&](const Node* alias) { return alias->is(role); });
  };
  return node.op && !node.is_alias() && std::ranges::any_of(node.operands, has_name);
}

Made on_named(RewriteSite at, const Role& role) {
  const auto changed_name = [&](const Node* operand) -> const Node* {
    const auto changed = std::ranges::find_if(
        operand->aliases, [&](const Node* alias) { return alias->is(role) && at.rewriting.changes(*alias); });
    return changed == operand->aliases.end() ? nullptr : *changed;
  };
  if (std::ranges::none_of(at.node.operands, changed_name)) return std::nullopt;
  return on_others(at, [&](const Node& operand) {
    const Node* const named = changed_name(&operand);
    return named ? Made(at.of(*named)) : std::nullopt;
  });
}

Value scores_with(double fill, RewriteSite softmax) {
  const Node& scores = *softmax.node.operands[0];
  return is_mask(scores) ? replace(softmax.of(*scores.operands[0]), softmax.of(*scores.operands[1]), fill) : softmax[0];
}

Value scores_before_mask(RewriteSite softmax) {
  const Node& scores = *softmax.node.operands[0];
  return softmax.of(is_mask(scores) ? *scores.operands[0] : scores);
}

Value masked_like(RewriteSite softmax, const Value& scores) {
  const Node& masked = *softmax.node.operands[0];
  return is_mask(masked) ? softmax.redo(masked, {scores, softmax.of(*masked.operands[1])}) : scores;
}

Value zero_where_masked(RewriteSite softmax, const Value& weights) {
  const Node& masked = *softmax.node.operands[0];
  return is_mask(masked) ? replace(weights, softmax.of(*masked.operands[1]), 0.0) : weights;
}

Waves waves(RewriteSite at) { return *waves_of(at.node); }
Waves with_base(RewriteSite at, double base) {
  Waves all = waves(at);
  all.base = base;
  return all;
}
Waves one_later(RewriteSite at) {
  Waves all = waves(at);
  all.positions = all.positions.later(1);
  return all;
}

Scalar root_of(std::size_t n) { return *divisor("sqrt-dk", {.d_k = n}); }

}  // namespace attn
