#include "page/tell/model_diagram.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// A step of a model: what makes up one box.
struct Unit {
  enum class Kind {
    words,
    vectors,
    memory,
    embedding,
    positions,
    attention,
    feed_forward,
    norm,
    sum,
    transform,
    linear,
    softmax
  };

  Kind kind;
  const Node* first;   // of its nodes
  const Node* result;  // the last of them
  std::size_t lane;    // 0: the encoder's, 1: the decoder's
  bool is_in_layer;
  std::vector<std::string> from = {};  // keys of units
  std::vector<const Node*> nodes = {};
  std::set<const Node*> masks = {};
  bool is_normalized = false;  // a sum, and then its norm
};

struct PlaceOfRole {
  const Role& role;
  Unit::Kind kind;
};
constexpr PlaceOfRole by_role[] = {{role::ids, Unit::Kind::words},
                                   {role::x, Unit::Kind::embedding},
                                   {role::scaled_x, Unit::Kind::embedding},
                                   {role::typed, Unit::Kind::embedding},
                                   {role::with_class, Unit::Kind::embedding},
                                   {role::patches, Unit::Kind::vectors},
                                   {role::scaled_output, Unit::Kind::linear},
                                   {role::positions, Unit::Kind::positions},
                                   {role::positioned, Unit::Kind::positions},
                                   {role::sum, Unit::Kind::sum},
                                   {role::memory, Unit::Kind::memory},
                                   {role::logits, Unit::Kind::linear},
                                   {role::distribution, Unit::Kind::softmax}};

struct PlaceOfScope {
  const ScopeKind& scope;
  Unit::Kind kind;
  std::string_view title;
};
constexpr PlaceOfScope places_of_scopes[] = {{scope::self_attention, Unit::Kind::attention, "self-attention"},
                                             {scope::cross_attention, Unit::Kind::attention, "cross-attention"},
                                             {scope::feed_forward, Unit::Kind::feed_forward, "feed-forward"},
                                             {scope::norm, Unit::Kind::norm, "norm"},
                                             {scope::post_norm, Unit::Kind::norm, "norm"},
                                             {scope::output, Unit::Kind::transform, ""}};

const PlaceOfScope* part_of_layer(const Node& node) {
  const auto found =
      std::ranges::find_if(places_of_scopes, [&](const PlaceOfScope& row) { return node.within(row.scope); });
  return found == std::end(places_of_scopes) ? nullptr : found;
}

// The key of what was encoded in a part that is not shown.
constexpr std::string_view elsewhere = "elsewhere";

bool is_mask(const Node& node) {
  return node.is(role::mask) || node.is(role::local_mask) || node.is(role::cross_mask) || node.is(role::bias) ||
         node.is(role::cross_bias);
}

bool is_of_encoder(const Node& node, const Transformer& model) {
  const NamedScope* const side = outermost(node.place);
  return !model.kind->decodes || (side && (side->is(scope::source) || side->is(scope::encoder)));
}

class ModelDiagram {
 public:
  ModelDiagram(const Graph& graph, const std::vector<const Node*>& nodes, const Transformer& model)
      : model_(model), shown_(nodes.begin(), nodes.end()) {
    for (const Node& node : graph.nodes()) {
      if (shown_.contains(&node) && !node.is_alias()) take(node);
    }
    join_norms();
  }

  Diagram drawn() && {
    place();
    add_links();
    add_groups();
    diagram_.title = "The layers of the model";
    diagram_.description = description();
    return std::move(diagram_);
  }

 private:
  // --- from the graph

  static const NamedScope* layer_of(const Node& node) { return node.within(scope::number); }

  static std::optional<Unit::Kind> kind_of(const Node& node) {
    if (const PlaceOfScope* part = part_of_layer(node)) return part->kind;
    const auto found = std::ranges::find_if(by_role, [&](const PlaceOfRole& row) { return node.is(row.role); });
    if (found == std::end(by_role)) return std::nullopt;
    const bool is_given = found->kind == Unit::Kind::embedding && !node.op;
    return is_given ? Unit::Kind::vectors : found->kind;
  }

  // The same for what is alike in all layers.
  std::string key_of(const Node& node, Unit::Kind kind) const {
    const std::string lane = is_of_encoder(node, model_) ? "encoder" : "decoder";
    const PlaceOfScope* const part = part_of_layer(node);
    std::string inner = kind == Unit::Kind::sum ? std::string(node.leaf()) : fmt::format("{}", static_cast<int>(kind));
    if (part) {
      const NamedScope* const own = node.within(part->scope);
      inner = own->prefix.substr(own->outer && layer_of(node) ? own->outer->prefix.size() : 0);
    }
    return fmt::format("{} {} {}", lane, layer_of(node) ? "layer" : "", inner);
  }

  void take(const Node& node) {
    const std::optional<Unit::Kind> kind = kind_of(node);
    if (!kind) return;
    if (const NamedScope* const layer = layer_of(node); layer && layer->number != 1) return;
    const std::string key = key_of(node, *kind);
    auto found = units_.find(key);
    if (found == units_.end()) {
      order_.push_back(key);
      found =
          units_
              .emplace(key, Unit{*kind, &node, &node, is_of_encoder(node, model_) ? 0u : 1u, layer_of(node) != nullptr})
              .first;
    }
    Unit& unit = found->second;
    unit.nodes.push_back(&node);
    unit.result = &node;
    std::set<const Node*> seen;
    find_sources(node, key, unit, seen);
  }

  // The units that lead to one, whatever lies between.
  void find_sources(const Node& node, const std::string& key, Unit& unit, std::set<const Node*>& seen) {
    for (const Node* operand : node.operands) {
      const Node& source = operand->original();
      if (!seen.insert(&source).second) continue;
      if (is_mask(source)) {
        unit.masks.insert(&source);
        continue;
      }
      const std::optional<Unit::Kind> kind = kind_of(source);
      if (!kind) {
        find_sources(source, key, unit, seen);
        continue;
      }
      if (!source.op && *kind != Unit::Kind::words && *kind != Unit::Kind::memory && *kind != Unit::Kind::vectors)
        continue;  // a parameter
      const std::string from = shown_.contains(&source) ? key_of(source, *kind) : named_memory(source);
      if (from != key && std::ranges::find(unit.from, from) == unit.from.end()) unit.from.push_back(from);
    }
  }

  // What comes from a part that is not shown.
  std::string named_memory(const Node& source) {
    const std::string key(elsewhere);
    if (units_.emplace(key, Unit{Unit::Kind::memory, &source, &source, 0, false, {}, {&source}}).second)
      order_.push_back(key);
    return key;
  }

  // A norm of nothing but a sum, which nothing else uses, is drawn with it.
  void join_norms() {
    for (const std::string& key : std::vector(order_)) {
      const auto found = units_.find(key);
      if (found == units_.end() || found->second.kind != Unit::Kind::norm || found->second.from.size() != 1) continue;
      const std::string before = found->second.from.front();
      const auto sum = units_.find(before);
      if (sum == units_.end() || sum->second.kind != Unit::Kind::sum ||
          sum->second.is_in_layer != found->second.is_in_layer)
        continue;
      const bool is_used_elsewhere = std::ranges::any_of(units_, [&](const auto& item) {
        return item.first != key && std::ranges::find(item.second.from, before) != item.second.from.end();
      });
      if (is_used_elsewhere) continue;
      sum->second.is_normalized = true;
      sum->second.result = found->second.result;
      for (auto& [name, unit] : units_) std::ranges::replace(unit.from, key, before);
      units_.erase(key);
      std::erase(order_, key);
    }
  }

  // --- words

  static const Node* find(const Unit& unit, const Role& role) {
    const auto found = std::ranges::find_if(unit.nodes, [&](const Node* node) { return node->is(role); });
    return found == unit.nodes.end() ? nullptr : *found;
  }

  std::string norm_title() const { return fmt::format("{} norm", model_.recipe.norm_kind->name); }

  std::string title_of(const Unit& unit) const {
    const bool is_source = unit.lane == 0;
    switch (unit.kind) {
      case Unit::Kind::words:
        return is_source ? "source words" : "target words";
      case Unit::Kind::vectors:
        return is_source ? "source vectors" : "target vectors";
      case Unit::Kind::memory:
        return "encoder output";
      case Unit::Kind::embedding:
        return "embedding";
      case Unit::Kind::positions:
        return "add positions";
      case Unit::Kind::attention:
      case Unit::Kind::feed_forward:
        return std::string(part_of_layer(*unit.first)->title);
      case Unit::Kind::norm:
        return norm_title();
      case Unit::Kind::sum:
        return unit.is_normalized ? "add & " + norm_title() : "add";
      case Unit::Kind::transform:
        return fmt::format("linear & {}", model_.recipe.activation->title);
      case Unit::Kind::linear:
        return "linear";
      case Unit::Kind::softmax:
        return "softmax";
    }
    return "";
  }

  // The layers are drawn as the first one is: which of them have another mask.
  std::string where_window_is(const Node& mask) const {
    const bool has_other = mask.graph->find(mask.place, role::local_mask) != nullptr;
    if (!has_other || mask.is(role::cross_mask)) return "";
    const std::string layers = "in " + model_.recipe.local_layers();
    return mask.is(role::local_mask) ? fmt::format(", the window only {}", layers)
                                     : fmt::format(", and a window {}", layers);
  }

  std::vector<std::string> details_of(const Unit& unit) const {
    std::vector<std::string> lines;
    if (unit.kind == Unit::Kind::embedding && find(unit, role::scaled_x))
      lines.push_back(fmt::format("times √{}", unit.result->frame.shape.columns));
    if (unit.kind == Unit::Kind::embedding && find(unit, role::typed)) lines.emplace_back("and token types");
    if (unit.kind == Unit::Kind::embedding && find(unit, role::with_class)) lines.emplace_back("behind a class token");
    if (unit.kind == Unit::Kind::positions) lines.emplace_back(model_.recipe.positions->name);
    if (unit.kind == Unit::Kind::attention) {
      const HeadCounts heads = model_.sizes.all_heads();
      const Node* const weights = find(unit, role::weights);
      lines.push_back(count_of(heads.of_queries, "head") +
                      (weights ? fmt::format(", weights {}", to_string(weights->frame.shape)) : ""));
      if (heads.of_keys != heads.of_queries) lines.push_back(fmt::format("{} of keys and values", heads.of_keys));
      if (&part_of_layer(*unit.first)->scope == &scope::self_attention && model_.sizes.buckets > 0)
        lines.push_back(fmt::format("positions: {}", count_of(model_.sizes.buckets, "bucket")));
      if (find(unit, role::rotated_q)) lines.push_back(fmt::format("positions: {}", model_.recipe.positions->name));
      for (const Node* mask : unit.masks) lines.push_back("mask: " + mask_source(*mask) + where_window_is(*mask));
    }
    if (unit.kind == Unit::Kind::feed_forward) {
      if (const Node* inner = find(unit, role::inner))
        lines.push_back(fmt::format("inner {}, {}{}", to_string(inner->frame.shape), model_.recipe.activation->title,
                                    find(unit, role::gate) ? " of a gate" : ""));
    }
    if (unit.kind == Unit::Kind::linear && model_.recipe.tied_output) lines.emplace_back("weights of the embedding");
    return lines;
  }

  static bool has_box(Unit::Kind kind) {
    return kind != Unit::Kind::words && kind != Unit::Kind::vectors && kind != Unit::Kind::memory;
  }

  // --- places

  void place() {
    const bool has_source = std::ranges::any_of(units_, [](const auto& item) { return item.second.lane == 0; });
    const bool has_target = std::ranges::any_of(units_, [](const auto& item) { return item.second.lane == 1; });
    const bool only_memory = units_.contains(std::string(elsewhere));
    // A side alone needs no title.
    const bool both = has_source && has_target && !only_memory;
    if (has_source) diagram_.lanes.emplace_back(both ? "Encoder" : "");
    if (has_target) diagram_.lanes.emplace_back(both ? "Decoder" : "");
    std::size_t rows[2] = {0, 0};
    for (const std::string& key : order_) {
      const Unit& unit = units_.at(key);
      std::vector<std::string> lines = {fmt::format("{}  {}", title_of(unit), to_string(unit.result->frame.shape))};
      std::ranges::copy(details_of(unit), std::back_inserter(lines));
      places_[key] = diagram_.things.size();
      diagram_.things.push_back(
          {std::move(lines), {has_source ? unit.lane : 0, rows[unit.lane]++, 0}, has_box(unit.kind)});
    }
    // What was encoded elsewhere stands beside what uses it.
    for (const std::string& key : order_) {
      const Unit& memory = units_.at(key);
      if (memory.kind != Unit::Kind::memory) continue;
      for (const std::string& other : order_) {
        if (std::ranges::find(units_.at(other).from, key) != units_.at(other).from.end())
          diagram_.things[places_.at(key)].place.row = diagram_.things[places_.at(other)].place.row;
      }
    }
  }

  void add_links() {
    for (const std::string& key : order_) {
      for (const std::string& from : units_.at(key).from) {
        if (const auto source = places_.find(from); source != places_.end())
          diagram_.links.push_back({source->second, places_.at(key)});
      }
    }
  }

  void add_groups() {
    for (const std::size_t lane : {0u, 1u}) {
      Diagram::Group group;
      for (const std::string& key : order_) {
        const Unit& unit = units_.at(key);
        if (unit.lane == lane && unit.is_in_layer) group.things.push_back(places_.at(key));
      }
      if (group.things.empty() || layers(lane) == 1) continue;
      group.title = fmt::format(" {}× ", layers(lane));
      diagram_.groups.push_back(std::move(group));
    }
  }

  std::size_t layers(std::size_t lane) const {
    return lane == 0 ? model_.sizes.encoder_layers : model_.sizes.decoder_layers;
  }

  std::string description() const {
    std::string sentence;
    for (const std::size_t lane : {0u, 1u}) {
      std::vector<std::string> before, within, after;
      for (const std::string& key : order_) {
        const Unit& unit = units_.at(key);
        if (unit.lane != lane || key == elsewhere) continue;
        (unit.is_in_layer ? within : within.empty() ? before : after).push_back(title_of(unit));
      }
      if (before.empty() && within.empty()) continue;
      if (!within.empty())
        before.push_back(fmt::format("{} of {}", count_of(layers(lane), "layer"), fmt::join(within, ", ")));
      std::ranges::copy(after, std::back_inserter(before));
      sentence += fmt::format("{}{}: {}", sentence.empty() ? "" : ". ", lane == 0 ? "Encoder" : "Decoder",
                              fmt::join(before, "; "));
    }
    return sentence + ".";
  }

  const Transformer& model_;
  std::set<const Node*> shown_;
  std::vector<std::string> order_;  // of the computation
  std::map<std::string, Unit> units_;
  std::map<std::string, std::size_t> places_;
  Diagram diagram_;
};

}  // namespace

Diagram model_diagram(const Graph& graph, const std::vector<const Node*>& nodes, const Transformer& model) {
  return ModelDiagram(graph, nodes, model).drawn();
}

}  // namespace attn
