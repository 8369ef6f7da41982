#include "school/check/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "school/mistake/parts.hpp"

namespace attn {

// --- in one part

namespace {

// The scope of a node, or of what a node without a name is made of.
const NamedScope* scope_of(const Node& node) {
  const Node* now = &node;
  while (now->name.empty() && !now->operands.empty()) now = now->operands.front();
  return now->place;
}

constexpr std::array kinds_of_parts = {&scope::norm, &scope::self_attention, &scope::cross_attention, &scope::number,
                                       &scope::head, &scope::encoder,        &scope::decoder,         &scope::sentence};

}  // namespace

namespace {

// A name with any number in place of that of its head.
std::string name_in_any_head(const Node& node) {
  const NamedScope* const head = node.within(scope::head);
  if (!head) return node.name;
  const std::string outer = head->outer ? head->outer->prefix : std::string();
  return outer + "head.*." + node.name.substr(head->prefix.size());
}

// The node itself, or the first with a name that is made of it.
const Node& named_for(const Node& node) {
  const Node* now = &node;
  const auto& nodes = node.graph->nodes();
  for (std::size_t i = node.index + 1; i < nodes.size() && now->name.empty(); ++i) {
    const auto& operands = nodes[i].operands;
    if (std::ranges::find(operands, now) != operands.end()) now = &nodes[i];
  }
  return *now;
}

// The names of nodes in any head, where there are several and none of the nodes is made of another one.
std::vector<std::string> independent_names(const Graph& graph, const NodesWhere& places) {
  std::vector<std::string> names;
  std::vector<bool> depends(graph.nodes().size(), false);
  for (const Node& node : graph.nodes()) {
    depends[node.index] =
        std::ranges::any_of(node.operands, [&](const Node* one) { return depends[one->index] || places.has(*one); });
    if (!places.has(node)) continue;
    if (depends[node.index] || node.is_alias()) return {};
    std::string name = name_in_any_head(named_for(node));
    if (name.empty()) return {};
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names.size() > 1 ? names : std::vector<std::string>();
}

const Mistake mask_left_out = {"mask-left-out",
                               error,
                               "scores that are not masked",
                               "This is what the scores give when they are not masked. Mask them.",
                               masks_scores,
                               left_out};

// Parts of which a computation has several that are alike: norms of a layer, attentions, layers, heads.
bool is_side(const NamedScope& part) { return part.is(scope::encoder) || part.is(scope::decoder); }
bool scopes_are_alike(const NamedScope& one, const NamedScope& other) {
  const auto is_attention = [](const NamedScope& part) {
    return part.is(scope::self_attention) || part.is(scope::cross_attention);
  };
  return one.outer == other.outer &&
         (one.kind == other.kind || (is_attention(one) && is_attention(other)) || (is_side(one) && is_side(other)));
}

// How often a mistake is made in each part, and in what is around it.
class CountInParts {
 public:
  CountInParts(const Graph& graph, const NodesWhere& places) {
    for (const Node& node : graph.nodes()) {
      if (!places.has(node)) continue;
      for (const NamedScope* now = scope_of(node);; now = now->outer) {
        if (counts_[now]++ == 0 && now) order_.push_back(now);
        if (!now) break;
      }
    }
  }

  // The parts in which it can be made alone: of several that are alike, in which it is made equally often.
  std::vector<const NamedScope*> parts() const {
    std::vector<const NamedScope*> found;
    for (const NamedScope* part : order_) {
      if (std::ranges::find(kinds_of_parts, part->kind) == kinds_of_parts.end()) continue;
      std::size_t others = 0, in_them = 0;
      bool are_equal = true;
      for (const NamedScope* other : order_) {
        if (!scopes_are_alike(*part, *other)) continue;
        ++others;
        in_them += counts_.at(other);
        are_equal = are_equal && (counts_.at(other) == counts_.at(part) || is_side(*part));
      }
      if (others > 1 && are_equal && in_them == counts_.at(part->outer)) found.push_back(part);
    }
    return found;
  }
  // Whether a part has more than one that is like it.
  bool has_several_others(const NamedScope& part) const {
    return std::ranges::count_if(order_, [&](const NamedScope* other) { return scopes_are_alike(part, *other); }) > 2;
  }

 private:
  std::map<const NamedScope*, std::size_t> counts_;  // of null: in all
  std::vector<const NamedScope*> order_;
};

}  // namespace

std::vector<Variant> mistakes_in_one_part(const SearchGround& ground, std::size_t place) {
  std::vector<Variant> variants;
  const auto add = [&](const Mistake& mistake, const NodesWhere& all) {
    const CountInParts count(ground.graph, all);
    for (const NamedScope* part : count.parts()) {
      for (const bool is_within : {true, false}) {
        if (!is_within && !count.has_several_others(*part)) continue;  // that is the other part alone
        const NodesWhere places =
            all.only(ground.graph, [&](const Node& node) { return lies_within(scope_of(node), part) == is_within; });
        if (!places.first() || places.first()->index > ground.compared[place].node->index) continue;
        const Change change({[places](const Node& node) { return places.has(node); }, mistake.instead});
        const std::string_view where = is_within ? "in {} alone" : "everywhere but in {}";
        variants.push_back({&mistake, fmt::format(fmt::runtime(where), part->title()), places, change,
                            is_within && !part->is(scope::head)});
      }
    }
  };
  for (const PlacedMistake* placed : ground.possible_for(place)) add(*placed->mistake, placed->places);
  const NodesWhere masks(ground.graph, mask_left_out.where);
  if (masks.first()) add(mask_left_out, masks);
  return variants;
}

std::vector<Variant> mistakes_in_one_step(const SearchGround& ground, std::size_t place) {
  std::vector<Variant> variants;
  for (const PlacedMistake* placed : ground.possible_for(place)) {
    for (const std::string& name : independent_names(ground.graph, placed->places)) {
      const NodesWhere places = placed->places.only(
          ground.graph, [&](const Node& node) { return name_in_any_head(named_for(node)) == name; });
      if (!places.first() || places.first()->index > ground.compared[place].node->index) continue;
      const Change change({[places](const Node& node) { return places.has(node); }, placed->mistake->instead});
      variants.push_back({placed->mistake, fmt::format("in {} alone", name), places, change});
    }
  }
  return variants;
}

// --- another matrix

namespace {

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
Value with_other_operand(At at, const Node& from, const Value& to) {
  return on_others(at, [&](const Node& one) -> Made {
    if (&one.original() == &from.original()) return to;
    if (!one.name.empty() || one.operands.empty()) return std::nullopt;
    return with_other_operand({one, at.again}, from, to);
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

}  // namespace

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
                         [taken, name](At at) -> std::optional<Value> {
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
                         [taken = taking.taken](At at) -> std::optional<Value> {
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
                           [its](At at) -> std::optional<Value> {
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

namespace {

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
                           [function = row.function](At at) -> std::optional<Value> {
                             return each_cell(at, at.itself().matrix(), function);
                           }});
      variants.push_back({&function_applied, fmt::format("{} of {}", row.name, name), places, change});
    }
  }
  return variants;
}

}  // namespace attn
