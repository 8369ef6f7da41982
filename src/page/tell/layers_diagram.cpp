#include "page/tell/model_diagram.hpp"

#include <fmt/format.h>

#include <set>

#include "core/model/layer_cost.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

constexpr std::string_view kinds[] = {"self-attention", "recurrent", "convolution"};

std::set<StackLink> links_on(const std::vector<StackPlace>& way) {
  std::set<StackLink> links;
  for (std::size_t i = 0; i + 1 < way.size(); ++i) links.insert({way[i], way[i + 1]});
  return links;
}

class LayersDiagram {
 public:
  LayersDiagram(std::size_t n, std::size_t k) : n_(n), k_(k) {}

  Diagram drawn() && {
    diagram_.title = "Which positions a layer reaches";
    for (const std::string_view name : kinds) add(look_up(layer_kinds(), name, "kind of layer"));
    diagram_.description += ".";
    return std::move(diagram_);
  }

 private:
  void add(const LayerKind& kind) {
    const std::optional<Meeting> meeting = search_meeting(kind, n_, k_, n_);
    const std::size_t layers = meeting ? meeting->layers : 1;
    const std::size_t lane = diagram_.lanes.size();
    const std::string path = meeting ? fmt::format("path {}", meeting->length) : "never meet";
    diagram_.lanes.push_back(fmt::format("{}: {}", kind.name, path));
    diagram_.description +=
        fmt::format("{}{}: {}, x_1 and x_{} {}", lane == 0 ? "" : "; ", kind.name, count_of(layers, "layer"), n_,
                    meeting ? fmt::format("meet after {}", count_of(meeting->length, "position")) : "do not meet");
    std::set<StackLink> on_way;
    std::set<StackPlace> reached;
    if (meeting) {
      on_way = links_on(meeting->way_from_first);
      on_way.merge(links_on(meeting->way_from_last));
    }
    for (const StackLink& link : on_way) reached.insert(link.to);
    const std::size_t first = diagram_.things.size();
    const auto thing_at = [&](StackPlace place) { return first + place.layer * n_ + place.position; };
    for (std::size_t layer = 0; layer <= layers; ++layer) {
      for (std::size_t i = 0; i < n_; ++i) {
        const std::string sign = reached.contains({layer, i}) ? "●" : "○";
        diagram_.things.push_back({{layer == 0 ? fmt::format("x{}", i + 1) : sign}, {lane, layer, i}, false});
      }
    }
    // Where lines cannot cross, only what leads to the positions on the way is drawn.
    for (const StackLink& link : stack_links(kind, n_, k_, layers)) {
      diagram_.links.push_back({.from = thing_at(link.from),
                                .to = thing_at(link.to),
                                .strength = on_way.contains(link) ? 1.0 : 0.25,
                                .is_background = meeting && !reached.contains(link.to)});
    }
  }

  std::size_t n_, k_;
  Diagram diagram_;
};

}  // namespace

Diagram layers_diagram(std::size_t n, std::size_t k) { return LayersDiagram(n, k).drawn(); }

}  // namespace attn
