#include "mistake/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mistake/other_sizes.hpp"

namespace attn {

const Node* operand(const Node& node, std::size_t i) {
  return i < node.operands.size() ? node.operands[i] : nullptr;
}

bool uses(const Node& node, const Node& operand) {
  return std::ranges::any_of(node.operands,
                             [&](const Node* one) { return &one->original() == &operand.original(); });
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
  return is_named_so(node) ||
         std::ranges::any_of(node.operands, [&](const Node* one) { return is_named_so(*one); });
}

}  // namespace attn
