#include "school/check/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// The scope of a node, or of what a node without a name is made of.
const NamedScope* scope_of(const Node& node) {
  const Node* now = &node;
  while (now->name.empty() && !now->operands.empty()) now = now->operands.front();
  return now->place;
}

constexpr std::array kinds_of_parts = {&scope::norm, &scope::self_attention, &scope::cross_attention, &scope::number,
                                       &scope::head, &scope::encoder,        &scope::decoder,         &scope::sentence};

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

const Node& named_for(const Node& node) {
  const Node* now = &node;
  const auto& nodes = node.graph->nodes();
  for (std::size_t i = node.index + 1; i < nodes.size() && now->name.empty(); ++i) {
    const auto& operands = nodes[i].operands;
    if (std::ranges::find(operands, now) != operands.end()) now = &nodes[i];
  }
  return *now;
}

std::string name_in_any_head(const Node& node) {
  const NamedScope* const head = node.within(scope::head);
  if (!head) return node.name;
  const std::string outer = head->outer ? head->outer->prefix : std::string();
  return outer + "head.*." + node.name.substr(head->prefix.size());
}

std::vector<Variant> mistakes_in_one_part(const SearchGround& ground, std::size_t place) {
  std::vector<Variant> variants;
  const auto add = [&](const Mistake& mistake, Mistake::Instead instead, const NodesWhere& all) {
    const CountInParts count(ground.graph, all);
    for (const NamedScope* part : count.parts()) {
      for (const bool is_within : {true, false}) {
        if (!is_within && !count.has_several_others(*part)) continue;  // that is the other part alone
        const NodesWhere places =
            all.only(ground.graph, [&](const Node& node) { return lies_within(scope_of(node), part) == is_within; });
        if (!places.first() || places.first()->index > ground.compared[place].node->index) continue;
        const Change change({[places](const Node& node) { return places.has(node); }, instead});
        const std::string_view where = is_within ? "in {} alone" : "everywhere but in {}";
        variants.push_back({&mistake, fmt::format(fmt::runtime(where), part->title()), places, change,
                            is_within && !part->is(scope::head)});
      }
    }
  };
  for (const PlacedMistake* placed : ground.possible_for(place)) add(*placed->mistake, placed->instead, placed->places);
  const NodesWhere masks(ground.graph, mask_left_out.where);
  if (masks.first()) add(mask_left_out, mask_left_out.instead, masks);
  return variants;
}

std::vector<Variant> mistakes_in_one_step(const SearchGround& ground, std::size_t place) {
  std::vector<Variant> variants;
  for (const PlacedMistake* placed : ground.possible_for(place)) {
    for (const std::string& name : independent_names(ground.graph, placed->places)) {
      const NodesWhere places = placed->places.only(
          ground.graph, [&](const Node& node) { return name_in_any_head(named_for(node)) == name; });
      if (!places.first() || places.first()->index > ground.compared[place].node->index) continue;
      const Change change({[places](const Node& node) { return places.has(node); }, placed->instead});
      variants.push_back({placed->mistake, fmt::format("in {} alone", name), places, change});
    }
  }
  return variants;
}

}  // namespace attn
