#include "page/tell/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/feed_forward.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/score.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"

namespace attn {

// --- steps

namespace {

bool in_head(const Node& node) { return node.within(scope::head) != nullptr; }

bool outside_heads(const Node& node) { return !in_head(node); }

bool has_weights(const Node& node) { return node.operands.front()->is(role::weights); }

bool projects(const Node& node) { return outside_heads(node) && !has_weights(node); }

bool of_layer(const Node& node) { return activation_of(node) != nullptr; }

bool belongs_to_scores(const Node& node) { return !of_layer(node); }

constexpr ShownRole roles_of_positions[] = {{role::positions}, {role::positioned}};
constexpr ShownRole roles_of_projections[] = {
    {role::q, outside_heads}, {role::k, outside_heads}, {role::v, outside_heads}};
// What scores are made of, whichever function compares, and then they themselves.
constexpr ShownRole roles_of_scores[] = {{role::scores},    {role::content},  {role::relative},
                                         {role::distances}, {role::expanded}, {role::dot},
                                         {role::half_q},    {role::half_k},   {role::projected_q},
                                         {role::unit_q},    {role::unit_k},   {role::activated, belongs_to_scores},
                                         {role::hidden},    {role::hidden_q}, {role::hidden_k},
                                         {role::rotated_q}, {role::rotated_k}};
constexpr ShownRole roles_of_scaled[] = {{role::scaled}, {role::capped}};
constexpr ShownRole roles_of_masked[] = {{role::masked}};
constexpr ShownRole roles_of_weights[] = {{role::weights}};
constexpr ShownRole roles_of_weighted_sums[] = {{role::output, has_weights}, {role::head, has_weights}};
constexpr ShownRole roles_of_heads[] = {
    {role::q, in_head}, {role::k, in_head}, {role::v, in_head}, {role::output, in_head}, {role::head, outside_heads}};
constexpr ShownRole joined_heads[] = {{role::concat}, {role::output, projects}};
constexpr ShownRole feed_forward_layer[] = {
    {role::inner}, {role::rectified}, {role::activated, of_layer}, {role::feed_forward}};

constexpr std::array step_table = {
    Step{"add-positions", "Positional encoding", "add a vector for each position to the embeddings",
         meaning_of_positions, "‹positions› sinusoidal with ‹x› or ‹text›", Extent::projections, roles_of_positions},
    Step{"project", "Projection", "queries, keys and values from the embeddings", meaning_of_projection,
         "‹x› with ‹w_q›, ‹w_k› or ‹w_v›", Extent::projections, roles_of_projections, names_of_projections},
    Step{"scores", "Scores", "compare every query with every key", meaning_of_similarity,
         "‹q› and ‹k›, or ‹x› with ‹w_q› and ‹w_k›", Extent::weights, roles_of_scores},
    Step{"scale", "Scaling", "divide the scores by √d_k", meaning_of_scaled, "‹scores› with ‹scale›, or ‹q› and ‹k›",
         Extent::weights, roles_of_scaled},
    Step{"mask",
         "Mask",
         "replace the scores of masked keys by −∞",
         meaning_of_masked,
         "‹scores› with ‹mask›, ‹causal› or ‹valid_length›, or ‹q› and ‹k›",
         Extent::weights,
         roles_of_masked,
         {},
         heading_of_masked},
    Step{"softmax", "Softmax", "attention weights: each row nonnegative, with sum one", meaning_of_weights,
         "‹scores›, or ‹q› and ‹k›", Extent::weights, roles_of_weights},
    Step{"weigh", "Weighted sum", "the weighted sum of the values", meaning_of_sum,
         "‹weights› and ‹v›, or ‹scores› and ‹v›, or ‹q›, ‹k› and ‹v›", Extent::output, roles_of_weighted_sums},
    Step{"heads", "Heads", "split q, k and v into heads; the output of each head", meaning_of_heads,
         "‹heads› N with N above 1, or try the example animal", Extent::output, roles_of_heads},
    Step{"concat", "Concatenation", "concatenate the heads and apply the output projection", meaning_of_joined,
         "‹heads› N with N above 1, or ‹w_o›, or try the example animal", Extent::output, joined_heads},
    Step{"feed-forward", "Feed-forward layer",
         "two linear layers with ReLU between them, applied to each position separately", meaning_of_feed_forward,
         "‹d_ff› N for random parameters, or ‹w_1› and ‹w_2›", Extent::output, feed_forward_layer},
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

std::span<const Step> steps() { return step_table; }

std::string heading_of(const Step& step, const Node& result) {
  return step.heading ? step.heading(result) : std::string(step.title);
}

bool Step::shows(const Node& node) const {
  const auto is_shown = [&](const ShownRole& one) { return &one.role == node.role && one.where(node); };
  return node.operation && node.role && node.family == family &&
         (shown.empty() || std::ranges::any_of(shown, is_shown));
}

const Step* step_of(const Node& node) {
  const auto found = std::ranges::find_if(step_table, [&](const Step& step) { return step.shows(node); });
  return found == step_table.end() ? nullptr : &*found;
}

bool leads_to_scores(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == roles_of_scores && !node.is(role::scores);
}

bool is_weighted_sum(const Node& node) {
  const Step* const step = step_of(node);
  return step && step->shown.data() == roles_of_weighted_sums;
}

const NamedScope* place_in_walk(const Node& node) {
  const NamedScope* const averaging = node.within(scope::averaging);
  return averaging ? averaging : node.place;
}

// --- meanings

namespace {

// A query whose keys are all masked has no weights: a row of zeros, which sums to 0.
bool has_row_without_keys(const Node& masked) {
  const Matrix& scores = masked.matrix();
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    if (std::ranges::all_of(row(scores, i), [](double score) { return std::isinf(score); })) return true;
  }
  return false;
}

bool adds(const Node& masked, const Role& role) {
  return std::ranges::any_of(masked.named_operands(), [&](const Node* node) { return node->is(role); });
}

std::string meaning_of_added(const Node& node) {
  std::string meaning;
  if (adds(node, role::bias)) {
    meaning =
        "The numbers of the mask are added to the scores: −∞ masks a key, and a negative number lowers its score.";
  }
  if (adds(node, role::relative)) {
    meaning += std::string(meaning.empty() ? "" : " ") +
               "Relative position bias: a number for the distance between the words is added to each score.";
  }
  return meaning;
}

// With biases a row of zero weights differs: each layer adds its bias after it.
std::string what_averaging_shows(const Graph& graph, const NamedScope* outer) {
  const auto is_computed = [&](const Node& node, const Role& role) {
    return node.operation && node.is(role) && lies_within(node.place, outer);
  };
  const auto& nodes = graph.nodes();
  const auto is_activated = [&](const Node& node) { return activation_of(node) && lies_within(node.place, outer); };
  if (const auto found = std::ranges::find_if(nodes, is_activated); found != nodes.end()) {
    return fmt::format(
        "The {} of the feed-forward layers is a nonlinearity, so stacked layers are in general more than one averaging.",
        activation_of(*found)->title);
  }
  const bool zero_rows = std::ranges::any_of(nodes, [&](const Node& node) {
    return is_computed(node, role::weights) && has_row_without_keys(*node.operands.front());
  });
  if (zero_rows) {
    return "A query whose keys are all masked has only weights of 0. "
           "Its row is no average, and with biases it can differ.";
  }
  return "Once their weights are known, layers of attention alone are one averaging again: there is no nonlinearity between them.";
}

}  // namespace

std::string meaning_of_projection(const Node&) {
  return "Linear layers turn each embedding into new vectors. "
         "A query says what the word looks for, a key what it can be found by, and a value what it passes on.";
}

std::string meaning_of_similarity(const Node& node) {
  const std::string rotated =
      node.beside(role::rotated_q)
          ? " Before that, rotary positional encoding turns each query and each key by angles that grow with its position."
          : "";
  return meaning_of_scores(node) + rotated + " In the table, queries are rows and keys are columns.";
}

std::string meaning_of_scaled(const Node& node) {
  const Node* const capped = node.is(role::scaled) ? node.beside(role::capped) : &node;
  const std::string cap =
      capped ? fmt::format("A soft cap keeps the scores between −{0} and {0}: scores far below {0} hardly change.",
                           number_of(*capped->operation)->notation.plain)
             : "";
  if (&node == capped) return cap;
  if (node.is_alias()) return "The scores are not divided here." + (capped ? " " + cap : "");
  std::string meaning =
      "Dot products of long vectors tend to be large, and softmax then puts nearly all weight on one key. "
      "The usual divisor is √d_k, the square root of the key size: it keeps the scores moderate.";
  const Scalar* by = number_of(*node.operation);
  if (by && !by->in_words.empty()) {
    meaning += fmt::format(" Here the scores are {} by {}.", is_division(*node.operation) ? "divided" : "multiplied",
                           by->in_words);
  }
  return meaning + (capped ? " " + cap : "");
}

std::string meaning_of_masked(const Node& node) {
  if (node.is_alias()) return "No mask applies here: every query may attend to every key.";
  if (!node.operation->is(op::mask)) return meaning_of_added(node);
  const std::string added = adds(node, role::bias) || adds(node, role::relative) ? meaning_of_added(node) + " " : "";
  const double fill = mask_fill(*node.operation);
  if (std::ranges::all_of(cells(node.operands[1]->matrix()), [](double allowed) { return allowed != 0.0; })) {
    return added + "The mask allows every key to every query: no score is replaced.";
  }
  if (!std::isfinite(fill)) return added + "Masked scores are replaced by −∞, so their weights are exactly 0.";
  std::string meaning =
      added + fmt::format(
                  "Masked scores are replaced by {0}. "
                  "The weight of a masked key is close to 0 only if {0} is far below the other scores.",
                  fill);
  if (has_row_without_keys(node)) {
    meaning += " A row whose keys are all masked is set to −∞ instead, so that all its weights are 0.";
  }
  return meaning;
}

std::string heading_of_masked(const Node& node) {
  if (!adds(node, role::relative)) return "Mask";
  const bool masks = node.operation->is(op::mask) || adds(node, role::bias);
  return masks ? "Relative position bias and mask" : "Relative position bias";
}

std::string meaning_of_weights(const Node& node) {
  std::string meaning =
      "Softmax turns each row of scores into attention weights between 0 and 1 that sum to one: how much each query takes from each key.";
  if (has_row_without_keys(*node.operands.front())) {
    meaning += " A query whose keys are all masked has only weights of 0, which sum to 0.";
  }
  return meaning;
}

std::string meaning_of_sum(const Node& node) {
  if (!node.operands.front()->operation) {
    return "Each row is the sum of the values, each multiplied by its weight. "
           "It is an average if no weight is negative and the weights of the row sum to one.";
  }
  return "Each value is multiplied by its attention weight. The sum over all keys is the output for the query.";
}

std::string meaning_of_heads(const Node& node) {
  if (!node.within(scope::head)) return "There is one head. It uses all columns of q, k and v.";
  return "Each head works on its own columns of q, k and v, so one head can attend to one thing while another attends to something else.";
}

std::string meaning_of_joined(const Node& node) {
  const Node* output = node.beside(role::output);
  const bool projected = output && !output->is_alias();
  const Node* concat = node.beside(role::concat);
  const std::string joined = concat && concat->is_alias()
                                 ? "There is one head, so nothing is concatenated."
                                 : "The outputs of the heads are concatenated, one row per query.";
  return joined + (projected ? " The output projection, a linear layer, turns each row into one vector." : "");
}

std::string meaning_of_positions(const Node&) {
  return "Attention by itself treats its keys as a set: it does not know which word comes first. "
         "Positional encoding adds a vector for each position to the embeddings. "
         "So the same word can have a different vector at a different position.";
}

std::string meaning_of_feed_forward(const Node& node) {
  const Activation& activation = *activation_beside(node);
  return fmt::format(
      "Attention alone only averages values. "
      "The feed-forward layer works on each position separately: a linear layer to the inner size d_ff, {} ({}), and a linear layer back.",
      activation.title, activation.effect);
}

std::string meaning_of_averaging(const Node& node) {
  const Graph& graph = *node.graph;
  const NamedScope* const averaging = node.within(scope::averaging);
  const NamedScope* const outer = averaging->outer;
  const Node* top = nullptr;
  for (const Node& other : graph.nodes()) {
    const NamedScope* const layer = other.within(scope::layer);
    const bool is_of_layer = other.operation && layer && layer->outer == outer;
    if (is_of_layer && (other.is(role::output) || other.is(role::feed_forward))) top = &other;
  }
  const double difference = largest_difference(top->matrix(), graph.find(averaging, role::output)->matrix());
  return fmt::format(
      "Compare the stacked layers with a simpler model: apply all layers to each word separately, then mix the words once, with the product of the layers' weights. "
      "The largest difference from {} is {}. {}",
      top->name, written_difference(difference), what_averaging_shows(graph, outer));
}

std::string meaning_of_alignment(const Node& alignment) {
  const Node& weights = *alignment.operands.front();
  std::string meaning = "The attention weights transposed: a column for each query and a row for each key.";
  if (!weights.operation || !weights.operation->is(op::softmax)) return meaning;
  meaning += " Each column sums to one.";
  if (has_row_without_keys(*weights.operands.front())) {
    meaning += " A column sums to 0 if all keys of its query are masked.";
  }
  return meaning;
}

}  // namespace attn
