#include "command/attention/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace attn {
namespace {

// The matrices that have a box of their own, by the last part of their name.
constexpr std::string_view boxes[] = {"x",      "positioned", "memory", "q",      "k",           "v",
                                      "scores", "weights",    "concat", "output", "feed_forward"};

class Picture {
 public:
  explicit Picture(const Problem& problem) : problem_(problem) {
    if (problem.sequences.size() > 1) scope_ += "sentence.1.";
    layer_ = problem.layers > 1 ? scope_ + "layer.1." : scope_;
  }

  Flow of(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      if (has_box(node)) add(node);
    }
    if (problem_.layers > 1 && !flow_.boxes.empty()) add_layers_above();
    return std::move(flow_);
  }

 private:
  bool has_box(const Node& node) const {
    if (node.is_alias() || std::ranges::find(boxes, node.leaf()) == std::end(boxes)) return false;
    std::string_view scope = node.scope();
    if (!scope.starts_with(scope_) && !scope.empty()) return false;
    if (scope.starts_with(layer_)) {
      scope.remove_prefix(layer_.size());
    } else if (scope.starts_with(scope_)) {
      scope.remove_prefix(scope_.size());
    }
    if (scope == "head.1.") return true;
    return scope.empty() && !is_cut_for_heads(node);
  }

  // Whether every head has its own columns of it.
  bool is_cut_for_heads(const Node& node) const {
    return problem_.heads > 1 && (node.leaf() == "q" || node.leaf() == "k" || node.leaf() == "v");
  }

  static bool is_of_another_head(const Node& node) {
    return node.scope().find("head.") != std::string_view::npos && !node.scope().ends_with("head.1.");
  }

  void add(const Node& node) {
    const bool of_head = node.scope().ends_with("head.1.");
    std::string title(node.leaf());
    if (title == "positioned") title = "x + positions";
    if (title == "feed_forward") title = "feed-forward";
    if (of_head) title += fmt::format(" × {} heads", problem_.heads);
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
  std::string scope_;
  std::string layer_;
  Flow flow_;
  std::map<const Node*, std::size_t> places_;
};

}  // namespace

Flow picture_of(const Graph& graph, const Problem& problem) {
  return Picture(problem).of(graph);
}

}  // namespace attn
