#include "tell/steps.hpp"

#include <algorithm>
#include <array>

#include "attention/averaging.hpp"
#include "attention/feed_forward.hpp"
#include "tell/meanings.hpp"

namespace attn {
namespace {

bool in_head(const Node& node) {
  return node.within(scope::head) != nullptr;
}

bool outside_heads(const Node& node) {
  return !in_head(node);
}

bool weighs(const Node& node) {
  return node.operands.front()->is(role::weights);
}

bool projects(const Node& node) {
  return outside_heads(node) && !weighs(node);
}

bool of_layer(const Node& node) {
  return activation_of(node) != nullptr;
}

bool of_scores(const Node& node) {
  return !of_layer(node);
}

constexpr ShownRole positions[] = {{role::positions}, {role::positioned}};
constexpr ShownRole projections[] = {
    {role::q, outside_heads}, {role::k, outside_heads}, {role::v, outside_heads}};
// What scores are made of, whichever function compares, and then they themselves.
constexpr ShownRole scores[] = {{role::scores},    {role::content},  {role::relative},
                                {role::distances}, {role::expanded}, {role::dot},
                                {role::half_q},    {role::half_k},   {role::projected_q},
                                {role::unit_q},    {role::unit_k},   {role::activated, of_scores},
                                {role::hidden},    {role::hidden_q}, {role::hidden_k},
                                {role::rotated_q}, {role::rotated_k}};
constexpr ShownRole scaled[] = {{role::scaled}, {role::capped}};
constexpr ShownRole masked[] = {{role::masked}};
constexpr ShownRole weights[] = {{role::weights}};
constexpr ShownRole weighted_sums[] = {{role::output, weighs}, {role::head, weighs}};
constexpr ShownRole heads[] = {{role::q, in_head},
                               {role::k, in_head},
                               {role::v, in_head},
                               {role::output, in_head},
                               {role::head, outside_heads}};
constexpr ShownRole joined[] = {{role::concat}, {role::output, projects}};
constexpr ShownRole feed_forward_layer[] = {
    {role::inner}, {role::rectified}, {role::activated, of_layer}, {role::feed_forward}};

constexpr std::array table = {
    Step{"add-positions", "Positional encoding", "add a vector for each position to the embeddings",
         meaning_of_positions, "‹positions› sinusoidal with ‹x› or ‹text›", Extent::projections, positions},
    Step{"project", "Projection", "queries, keys and values from the embeddings", meaning_of_projection,
         "‹x› with ‹w_q›, ‹w_k› or ‹w_v›", Extent::projections, projections, names_of_projections},
    Step{"scores", "Scores", "compare every query with every key", meaning_of_similarity,
         "‹q› and ‹k›, or ‹x› with ‹w_q› and ‹w_k›", Extent::weights, scores},
    Step{"scale", "Scaling", "divide the scores by √d_k", meaning_of_scaled,
         "‹scores› with ‹scale›, or ‹q› and ‹k›", Extent::weights, scaled},
    Step{"mask",
         "Mask",
         "replace the scores of masked keys by −∞",
         meaning_of_masked,
         "‹scores› with ‹mask›, ‹causal› or ‹valid_length›, or ‹q› and ‹k›",
         Extent::weights,
         masked,
         {},
         heading_of_masked},
    Step{"softmax", "Softmax", "attention weights: each row nonnegative, with sum one", meaning_of_weights,
         "‹scores›, or ‹q› and ‹k›", Extent::weights, weights},
    Step{"weigh", "Weighted sum", "the weighted sum of the values", meaning_of_sum,
         "‹weights› and ‹v›, or ‹scores› and ‹v›, or ‹q›, ‹k› and ‹v›", Extent::output, weighted_sums},
    Step{"heads", "Heads", "split q, k and v into heads; the output of each head", meaning_of_heads,
         "‹heads› N with N above 1, or try the example animal", Extent::output, heads},
    Step{"concat", "Concatenation", "concatenate the heads and apply the output projection",
         meaning_of_joined, "‹heads› N with N above 1, or ‹w_o›, or try the example animal", Extent::output,
         joined},
    Step{"feed-forward", "Feed-forward layer",
         "two linear layers with ReLU between them, applied to each position separately",
         meaning_of_feed_forward, "‹d_ff› N for random parameters, or ‹w_1› and ‹w_2›", Extent::output,
         feed_forward_layer},
    Step{"averaging",
         "One averaging",
         "compare stacked layers with a single averaging of the words",
         meaning_of_averaging,
         "‹layers› 2 with one head",
         Extent::output,
         {},
         {},
         nullptr,
         &family::averaging},
};

}  // namespace

std::span<const Step> steps() {
  return table;
}

std::string heading_of(const Step& step, const Node& result) {
  return step.heading ? step.heading(result) : std::string(step.title);
}

bool Step::shows(const Node& node) const {
  const auto is_shown = [&](const ShownRole& one) { return &one.role == node.role && one.where(node); };
  return node.operation && node.role && node.family == family &&
         (shown.empty() || std::ranges::any_of(shown, is_shown));
}

const Step* step_of(const Node& node) {
  const auto found = std::ranges::find_if(table, [&](const Step& step) { return step.shows(node); });
  return found == table.end() ? nullptr : &*found;
}

bool leads_to_scores(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == scores && !node.is(role::scores);
}

bool is_weighted_sum(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == weighted_sums;
}

const NamedScope* place_in_walk(const Node& node) {
  const NamedScope* const averaging = node.within(scope::averaging);
  return averaging ? averaging : node.place;
}

}  // namespace attn
