#include "tell/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace attn {
namespace {

// A matrix that has a box of its own, and what stands in it.
struct BoxOf {
  const Role& role;
  std::string_view title;
  bool is_cut = false;  // every head has its own columns of it
};

constexpr BoxOf boxes[] = {{role::x, "x"},
                           {role::positioned, "x + positions"},
                           {role::memory, "memory"},
                           {role::q, "q", true},
                           {role::k, "k", true},
                           {role::v, "v", true},
                           {role::scores, "scores"},
                           {role::weights, "weights"},
                           {role::concat, "concat"},
                           {role::output, "output"},
                           {role::feed_forward, "feed-forward"}};

const BoxOf* box_of(const Node& node) {
  const auto found = std::ranges::find_if(boxes, [&](const BoxOf& box) { return node.is(box.role); });
  return node.is_alias() || found == std::end(boxes) ? nullptr : found;
}

// Whether it is not one of the first head, the first layer or the first sentence; the averaging of layers is
// another computation.
bool is_elsewhere(const NamedScope* place) {
  for (const ScopeKind* kind : {&scope::head, &scope::layer, &scope::sentence}) {
    if (!place || !place->is(*kind)) continue;
    if (place->number != 1) return true;
    place = place->outer;
  }
  return place != nullptr;
}

class Picture {
 public:
  explicit Picture(const Problem& problem) : problem_(problem) {}

  Flow of(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (has_box(node)) add(node);
    }
    if (problem_.layers > 1 && !flow_.boxes.empty()) add_layers_above();
    return std::move(flow_);
  }

 private:
  bool has_box(const Node& node) const {
    const BoxOf* const box = box_of(node);
    return box && !is_elsewhere(node.place) && (node.within(scope::head) || !is_cut_for_heads(*box));
  }

  bool is_cut_for_heads(const BoxOf& box) const { return problem_.heads > 1 && box.is_cut; }

  static bool is_of_another_head(const Node& node) {
    const NamedScope* const head = node.within(scope::head);
    return head && head->number != 1;
  }

  void add(const Node& node) {
    std::string title(box_of(node)->title);
    if (node.within(scope::head)) title += fmt::format(" × {} heads", problem_.heads);
    std::set<const Node*> seen;
    std::vector<std::size_t> from;
    find_sources(node, seen, from);
    std::ranges::sort(from);
    places_[&node] = flow_.boxes.size();
    flow_.boxes.push_back({std::move(title), to_string(node.frame.shape), std::move(from)});
  }

  // The boxes that lead to a node, whatever lies between. The first head's stand for those of all.
  void find_sources(const Node& node, std::set<const Node*>& seen, std::vector<std::size_t>& from) const {
    for (const Node* operand : node.operands) {
      if (!seen.insert(operand).second || is_of_another_head(*operand)) continue;
      if (const auto found = places_.find(operand); found != places_.end()) {
        from.push_back(found->second);
      } else {
        find_sources(*operand, seen, from);
      }
    }
  }

  void add_layers_above() {
    const std::string layers =
        problem_.layers == 2 ? "layer 2" : fmt::format("layers 2 to {}", problem_.layers);
    flow_.boxes.push_back({layers + ": the same again", flow_.boxes.back().detail, {flow_.boxes.size() - 1}});
  }

  const Problem& problem_;
  Flow flow_;
  std::map<const Node*, std::size_t> places_;
};

}  // namespace

Flow picture_of(const Graph& graph, const Problem& problem) {
  return Picture(problem).of(graph);
}

}  // namespace attn
