#include "school/check/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// --- another matrix

const Mistake another_matrix_taken = {
    "another-matrix-taken",
    error,
    "another matrix of the computation taken",
    "This is what comes out when a step takes another matrix than the one that belongs there.",
    nullptr,
    nullptr};

const Mistake matrix_left_out = {"matrix-left-out",
                                 error,
                                 "a matrix of the computation left out",
                                 "This is what comes out when a step does not take a matrix that belongs there.",
                                 nullptr,
                                 nullptr};

const Mistake matrix_added = {"matrix-added",
                              error,
                              "a matrix of the computation added",
                              "This is what comes out when a matrix of the computation is added to a result.",
                              nullptr,
                              nullptr};

const Mistake function_applied = {"function-applied",
                                  error,
                                  "a function applied to a matrix",
                                  "This is what comes out when a function is applied to each number of a matrix.",
                                  nullptr,
                                  nullptr};

// The node of this name in any head that stands in the head of another node; null: there is none.
const Node* in_head_of(const Node& node, const std::string& name) {
  const std::size_t at = name.find("head.*.");
  if (at == std::string::npos) return node.graph->find(name);
  const NamedScope* const head = node.within(scope::head);
  if (!head) return nullptr;
  return node.graph->find(fmt::format("{}head.{}.{}", name.substr(0, at), *head->number, name.substr(at + 7)));
}

// A node with another matrix in the place of an operand, which it takes itself or through nodes without a name.
Value with_other_operand(RewriteSite at, const Node& from, const Value& to) {
  return on_others(at, [&](const Node& one) -> Made {
    if (&one.original() == &from.original()) return to;
    if (!one.name.empty() || one.operands.empty()) return std::nullopt;
    return with_other_operand({one, at.rewriting}, from, to);
  });
}

// What words come in as, and not a parameter.
bool holds_words(const Node& node) {
  return node.op || has_role<role::x, role::memory, role::value_memory, role::positioned>(node);
}

bool may_be_taken(const Node& node) {
  return !node.name.empty() && (node.family == &family::forward || node.family == &family::gradient) &&
         !node.is_alias() && node.content() == Content::numbers && node.frame.shape.cells() > 1;
}

// A named operand that a step takes, through nodes without a name.
struct Taking {
  std::string step, taken;  // in any head
};

// --- functions

struct NamedFunction {
  std::string_view name;
  double (*function)(double);
};

constexpr NamedFunction applied_functions[] = {
    {"max(x, 0)", [](double x) { return std::max(x, 0.0); }},
    {"|x|", [](double x) { return std::fabs(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"the square", [](double x) { return x * x; }},
    {"1 / (1 + exp(−x))", [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {"−x", [](double x) { return -x; }},
    {"the logarithm of |x|", [](double x) { return std::log(std::fabs(x)); }},
    {"clamping to −1 to 1", [](double x) { return std::clamp(x, -1.0, 1.0); }},
};

}  // namespace

// --- another matrix

std::vector<Variant> other_matrices_taken(const SearchGround& ground, std::size_t place) {
  const Graph& graph = ground.graph;
  const std::size_t last = ground.compared[place].node->original().index;
  // What is taken, in which steps, and by which part.
  std::map<std::string, std::vector<std::string>> steps_of;
  std::vector<Taking> takings;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Node* node : graph.named()) {
    if (node->index > last || !node->op || node->is_alias()) continue;
    for (const Node* named : node->named_operands()) {
      const Node& taken = named->original();
      if (!may_be_taken(taken)) continue;
      Taking taking{name_in_any_head(*node), name_in_any_head(taken)};
      if (!seen.insert({taking.step, taking.taken}).second) continue;
      steps_of[taking.taken].push_back(taking.step);
      takings.push_back(std::move(taking));
    }
  }
  std::vector<const Node*> others;
  std::set<std::string> names_of_others;
  for (const Node* node : graph.named()) {
    if (node->index <= last && may_be_taken(*node) && names_of_others.insert(name_in_any_head(*node)).second)
      others.push_back(node);
  }
  std::vector<Variant> variants;
  const auto add = [&](const std::vector<std::string>& steps, const std::string& taken, const Node& other,
                       const std::string& where) {
    const Node* const first = graph.find(taken.find("head.*.") == std::string::npos
                                             ? taken
                                             : std::string(taken).replace(taken.find("head.*."), 6, "head.1"));
    if (!first || first->frame.shape != other.frame.shape) return;
    const std::string name = name_in_any_head(other);
    if (name == taken) return;
    if (holds_words(*first) != holds_words(other) || first->family != other.family) return;
    // From scores to weights, one step may be left out at a time; two are two mistakes.
    if (has_role<role::scaled, role::capped, role::masked, role::weights>(*first)) {
      const std::vector<const Node*> before = first->named_operands();
      const bool is_step_before = std::ranges::any_of(
          before, [&](const Node* one) { return name_in_any_head(one->original()) == name_in_any_head(other); });
      if (!is_step_before && has_role<role::scores, role::scaled, role::capped, role::masked>(other)) return;
    }
    // Residual connections and what sub-layers and projections take; other steps take what is near.
    const Node* const step = graph.find(steps.front());
    const bool is_likely = step && has_role<role::sum, role::q, role::k, role::v, role::inner>(*step) &&
                           (!holds_words(other) || other.within(scope::head) == nullptr);
    const auto is_step = [steps](const Node& node) {
      return !node.name.empty() && node.op && !node.is_alias() &&
             std::ranges::find(steps, name_in_any_head(node)) != steps.end();
    };
    // A step cannot take what is made of it.
    for (const Node& node : graph.nodes()) {
      if (!is_step(node)) continue;
      const Node* const its = in_head_of(node, name);
      if (!its || its->index > node.index) return;
    }
    NodesWhere places(graph, is_step);
    if (!places.first() || places.first()->index > last) return;
    const Change change({[places](const Node& node) { return places.has(node); },
                         [taken, name](RewriteSite at) -> std::optional<Value> {
                           const Node *const from = in_head_of(at.node, taken), *const to = in_head_of(at.node, name);
                           if (!from || !to) return std::nullopt;
                           return with_other_operand(at, *from, at.of(*to));
                         }});
    variants.push_back(
        {&another_matrix_taken, fmt::format("{} in place of {} {}", name, taken, where), places, change, is_likely});
  };
  for (const Taking& taking : takings) {
    for (const Node* other : others) add({taking.step}, taking.taken, *other, "in " + taking.step);
  }
  for (const Taking& taking : takings) {
    const auto is_step = [step = taking.step](const Node& node) {
      return !node.name.empty() && node.op && !node.is_alias() && name_in_any_head(node) == step;
    };
    NodesWhere places(graph, is_step);
    if (!places.first() || places.first()->index > last) continue;
    const Change change({[places](const Node& node) { return places.has(node); },
                         [taken = taking.taken](RewriteSite at) -> std::optional<Value> {
                           const Node* const from = in_head_of(at.node, taken);
                           if (!from) return std::nullopt;
                           return with_other_operand(at, *from, times(at.of(*from), plain_number(0.0)));
                         }});
    variants.push_back({&matrix_left_out, fmt::format("{} in {}", taking.taken, taking.step), places, change});
  }
  // All steps of one part that take it.
  for (const auto& [taken, steps] : steps_of) {
    if (steps.size() < 2) continue;
    std::map<std::string, std::vector<std::string>> in_part;
    for (const std::string& step : steps) {
      const std::size_t dot = step.rfind('.');
      if (dot == std::string::npos) continue;
      in_part[step.substr(0, dot)].push_back(step);
      const Node* const node = graph.find(step);
      const NamedScope* const layer = node ? node->within(scope::number) : nullptr;
      if (layer) in_part[layer->title()].push_back(step);
    }
    for (const auto& [part, some] : in_part) {
      if (some.size() < 2) continue;
      for (const Node* other : others) add(some, taken, *other, "in " + part);
    }
  }
  return variants;
}

std::vector<Variant> matrices_added(const SearchGround& ground, std::size_t place) {
  const Graph& graph = ground.graph;
  const std::size_t last = ground.compared[place].node->original().index;
  std::vector<Variant> variants;
  std::set<std::string> seen;
  for (const Node* node : graph.named()) {
    const std::string name = name_in_any_head(*node);
    if (node->index > last || !node->op || !may_be_taken(*node) || !seen.insert(name).second) continue;
    NodesWhere places(graph, [name](const Node& one) {
      return !one.name.empty() && one.op && !one.is_alias() && name_in_any_head(one) == name;
    });
    if (!places.first()) continue;
    std::set<std::string> added;
    for (const Node* other : graph.named()) {
      const std::string its = name_in_any_head(*other);
      if (other->index >= node->index || !may_be_taken(*other) || !holds_words(*other) ||
          other->family != node->family || other->frame.shape != node->frame.shape || !added.insert(its).second)
        continue;
      const Change change({[places](const Node& one) { return places.has(one); },
                           [its](RewriteSite at) -> std::optional<Value> {
                             const Node* const to = in_head_of(at.node, its);
                             if (!to) return std::nullopt;
                             return attn::add(at.itself(), at.of(*to));
                           }});
      variants.push_back({&matrix_added, fmt::format("{} to {}", its, name), places, change});
    }
  }
  return variants;
}

// --- functions

std::vector<Variant> functions_applied(const SearchGround& ground, std::size_t place) {
  std::vector<Variant> variants;
  const Graph& graph = ground.graph;
  const std::size_t last = ground.compared[place].node->original().index;
  std::set<std::string> seen;
  for (const Node* node : graph.named()) {
    if (node->index > last || !node->op || !may_be_taken(*node)) continue;
    const std::string name = name_in_any_head(*node);
    if (!seen.insert(name).second) continue;
    const auto is_it = [name](const Node& one) {
      return !one.name.empty() && one.op && !one.is_alias() && name_in_any_head(one) == name;
    };
    NodesWhere places(graph, is_it);
    if (!places.first()) continue;
    for (const NamedFunction& row : applied_functions) {
      const Change change({[places](const Node& one) { return places.has(one); },
                           [function = row.function](RewriteSite at) -> std::optional<Value> {
                             return each_cell(at, at.itself().matrix(), function);
                           }});
      variants.push_back({&function_applied, fmt::format("{} of {}", row.name, name), places, change});
    }
  }
  return variants;
}

}  // namespace attn
