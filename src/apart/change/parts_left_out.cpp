#include "apart/change/alteration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "core/math/matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "school/mistake/mistake.hpp"
#include "school/mistake/parts.hpp"

namespace attn {

namespace {

// --- parts

bool is_feed_forward(const Node& node) {
  const bool is_of_layer = node.is(role::output) && node.place && node.place->is(scope::feed_forward);
  return node.op && (is_of_layer || node.is(role::feed_forward));
}

bool is_added_mask(const Node& node) { return !node.op && has_role<role::bias, role::cross_bias>(node); }
std::optional<NodeReplacement> all_zeros(RewriteSite at) { return Matrix(at.node.frame.shape, 0.0); }

// Beside a residual connection it adds nothing; without one what goes in goes on.
std::optional<NodeReplacement> nothing_fed_forward(RewriteSite at) {
  const Graph& graph = *at.node.graph;
  const bool has_residual = std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.is(role::sum); });
  const Node* const inner = at.node.beside(role::inner);
  const auto taken = inner ? linear_nodes(*inner) : std::nullopt;
  if (!has_residual && taken && taken->x->frame.shape == at.node.frame.shape) return at.of(*taken->x);
  return all_zeros(at);
}

// A number for each distance, which is added to the scores. Where it is a product of the query, the scores without it
// have a name.
bool is_bias_of_distances(const Node& node) { return makes(node, role::relative) && !node.beside(role::distances); }

AblationRule as_change(const Change& change) { return {change.where, change.instead}; }

std::vector<AblationRule> as_mistakes(std::initializer_list<std::string_view> names,
                                      std::vector<AblationRule> changes = {}) {
  for (const std::string_view name : names) changes.push_back(as_change(look_up(mistakes(), name, "mistake")));
  return changes;
}

// What is only another name for a matrix follows it.
bool can_be_made(const AblationRule& change, const Node& node) {
  return !node.is_alias() && node.family == &family::forward && change.where(node);
}

bool has_part(const Graph& graph, const Ablation& part) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return std::ranges::any_of(part.changes, [&](const AblationRule& change) { return can_be_made(change, node); });
  });
}

// --- heads

bool is_head(const Node& node) {
  if (!node.op || node.is_alias()) return false;
  return node.is(role::head) || (node.is(role::output) && node.place && node.place->is(scope::head));
}

std::size_t number_of_head(const Node& output) {
  const NamedScope* const head = output.within(scope::head);
  return head && head->number ? *head->number : 1;
}

std::optional<std::size_t> layer_of_head(const Node& output) {
  for (const ScopeKind* kind : {&scope::number, &scope::layer}) {
    const NamedScope* const layer = output.within(*kind);
    if (layer && layer->number) return layer->number;
  }
  return std::nullopt;
}

// "1.2" in layer 1, "2" where there are no layers.
std::string short_name_of_head(const Node& output) {
  const std::optional<std::size_t> layer = layer_of_head(output);
  return layer ? fmt::format("{}.{}", *layer, number_of_head(output)) : std::to_string(number_of_head(output));
}

// Whether "2", "1.2" or "encoder.1.self_attention.head.2" names it.
bool names_head(std::string_view name, const Node& output) {
  return name == std::to_string(number_of_head(output)) || name == short_name_of_head(output) ||
         name == name_of_head(output);
}

std::string parts_there_are(const Graph& graph) {
  constexpr std::size_t most = 12;
  std::vector<std::string> names;
  for (const Ablation& part : ablations()) {
    if (has_part(graph, part)) names.emplace_back(part.name);
  }
  std::vector<std::string> heads;
  for (const Node* output : head_outputs(graph)) {
    std::string name = fmt::format("'head {}'", short_name_of_head(*output));
    if (std::ranges::find(heads, name) == heads.end()) heads.push_back(std::move(name));
  }
  const bool has_more = heads.size() > most;
  if (has_more) heads.resize(most);
  names.insert(names.end(), heads.begin(), heads.end());
  if (has_more) names.emplace_back("…");
  if (names.empty()) return "This computation has no part that can be left out";
  return fmt::format("This computation has: {}", fmt::join(names, ", "));
}

Alteration left_out_head(const Graph& graph, std::string_view name) {
  std::vector<std::string> heads;
  for (const Node* output : head_outputs(graph)) {
    if (names_head(name, *output)) heads.push_back(output->name);
  }
  if (heads.empty()) fail("--without 'head {}': there is no such head. {}", name, parts_there_are(graph));
  const bool is_concatenated = graph.at(heads.front()).within(scope::head) != nullptr;
  const std::string told =
      fmt::format("Left out: head {}. {}: {}.", name,
                  is_concatenated ? "It gives 0 to the concatenation" : "Its output is 0", fmt::join(heads, ", "));
  return {told, [names = std::move(heads)](const Graph& other) {
            std::vector<const Node*> outputs;
            for (const std::string& one : names) {
              if (const Node* const output = other.find(one)) outputs.push_back(&output->original());
            }
            return AlteredNodes{
                [outputs](const Node& node) { return std::ranges::find(outputs, &node) != outputs.end(); },
                [](RewriteSite at, const std::optional<NodeReplacement>&) { return all_zeros(at); }};
          }};
}

}  // namespace

// --- parts

std::span<const Ablation> ablations() {
  static const std::vector<Ablation> all = {
      {"scale", "the scores are not scaled", as_mistakes({"not-scaled"})},
      {"mask", "the mask hides no key", {as_change({masks_scores, left_out}), {is_added_mask, all_zeros}}},
      {"positions", "positions change neither vectors nor scores",
       as_mistakes({"positions-missing", "rotary-missing", "distance-missing"}, {{is_bias_of_distances, all_zeros}})},
      {"residual", "what goes into a sub-layer is not added to its result", as_mistakes({"residual-missing"})},
      {"norm", "nothing is normalized", as_mistakes({"norm-missing"})},
      {"feed-forward", "the feed-forward layers add nothing", {{is_feed_forward, nothing_fed_forward}}},
  };
  return all;
}

std::vector<const Node*> head_outputs(const Graph& graph) {
  std::vector<const Node*> outputs;
  for (const Node& node : graph.nodes()) {
    if (is_head(node)) outputs.push_back(&node);
  }
  return outputs;
}

std::string name_of_head(const Node& output) {
  return output.within(scope::head) ? std::string(output.scope_name()) : output.name;
}

Change without_head(const Node& output) {
  return {[&output](const Node& node) { return &node == &output; },
          [](RewriteSite at) -> std::optional<Value> { return at.like(Matrix(at.node.frame.shape, 0.0)); }};
}

Alteration ablation_of(const Graph& graph, std::string_view part) {
  constexpr std::string_view head = "head ";
  const std::string_view name = trimmed(part);
  if (name.starts_with(head)) return left_out_head(graph, trimmed(name.substr(head.size())));
  const Ablation* const row = find_row(ablations(), name);
  if (!row) {
    std::vector<std::string> names = names_of(ablations());
    names.emplace_back("head N");
    fail("{}", unknown("part for --without,", name, names));
  }
  if (!has_part(graph, *row))
    fail("--without {}: there is nothing of it to leave out. {}", name, parts_there_are(graph));
  const auto find = [row](const Node& node) -> const AblationRule* {
    const auto found =
        std::ranges::find_if(row->changes, [&](const AblationRule& change) { return can_be_made(change, node); });
    return found == row->changes.end() ? nullptr : &*found;
  };
  return {fmt::format("Left out: {}. This means: {}.", row->name, row->summary), [find](const Graph&) {
            return AlteredNodes{
                [find](const Node& node) { return find(node) != nullptr; },
                [find](RewriteSite at, const std::optional<NodeReplacement>&) { return find(at.node)->instead(at); }};
          }};
}

}  // namespace attn
