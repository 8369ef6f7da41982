#include "tell/meanings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/averaging.hpp"
#include "attention/feed_forward.hpp"
#include "attention/identities.hpp"
#include "attention/score.hpp"
#include "op/operations.hpp"
#include "support/number.hpp"

namespace attn {
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
        "The numbers of the mask are added to the scores: −∞ masks a key, and a negative number lowers its "
        "score.";
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
  const auto is_activated = [&](const Node& node) {
    return activation_of(node) && lies_within(node.place, outer);
  };
  if (const auto found = std::ranges::find_if(nodes, is_activated); found != nodes.end()) {
    return fmt::format(
        "The {} of the feed-forward layers is a nonlinearity, so stacked layers are in general more than one "
        "averaging.",
        activation_of(*found)->title);
  }
  const bool zero_rows = std::ranges::any_of(nodes, [&](const Node& node) {
    return is_computed(node, role::weights) && has_row_without_keys(*node.operands.front());
  });
  if (zero_rows) {
    return "A query whose keys are all masked has only weights of 0. Its row is no average, and with biases "
           "it can differ.";
  }
  return "Once their weights are known, layers of attention alone are one averaging again: there is no "
         "nonlinearity between them.";
}

}  // namespace

std::string meaning_of_projection(const Node&) {
  return "Linear layers turn each embedding into new vectors. A query says what the word looks for, a key "
         "what it can be found by, and a value what it passes on.";
}

std::string meaning_of_similarity(const Node& node) {
  const std::string rotated =
      node.beside(role::rotated_q)
          ? " Before that, rotary positional encoding turns each query and each key by "
            "angles that grow with its position."
          : "";
  return meaning_of_scores(node) + rotated + " In the table, queries are rows and keys are columns.";
}

std::string meaning_of_scaled(const Node& node) {
  const Node* const capped = node.is(role::scaled) ? node.beside(role::capped) : &node;
  const std::string cap =
      capped ? fmt::format(
                   "A soft cap keeps the scores between −{0} and {0}: scores far below {0} hardly change.",
                   number_of(*capped->operation)->notation.plain)
             : "";
  if (&node == capped) return cap;
  if (node.is_alias()) return "The scores are not divided here." + (capped ? " " + cap : "");
  std::string meaning =
      "Dot products of long vectors tend to be large, and softmax then puts nearly all weight on one key. "
      "The usual divisor is √d_k, the square root of the key size: it keeps the scores moderate.";
  const Scalar* by = number_of(*node.operation);
  if (by && !by->in_words.empty()) {
    meaning += fmt::format(" Here the scores are {} by {}.",
                           is_division(*node.operation) ? "divided" : "multiplied", by->in_words);
  }
  return meaning + (capped ? " " + cap : "");
}

std::string meaning_of_masked(const Node& node) {
  if (node.is_alias()) return "No mask applies here: every query may attend to every key.";
  if (!is_mask(*node.operation)) return meaning_of_added(node);
  const std::string added =
      adds(node, role::bias) || adds(node, role::relative) ? meaning_of_added(node) + " " : "";
  const double fill = mask_fill(*node.operation);
  if (std::ranges::all_of(cells(node.operands[1]->matrix()), [](double allowed) { return allowed != 0.0; })) {
    return added + "The mask allows every key to every query: no score is replaced.";
  }
  if (!std::isfinite(fill))
    return added + "Masked scores are replaced by −∞, so their weights are exactly 0.";
  std::string meaning = added + fmt::format(
                                    "Masked scores are replaced by {0}. The weight of a masked key is close "
                                    "to 0 only if {0} is far below "
                                    "the other scores.",
                                    fill);
  if (has_row_without_keys(node)) {
    meaning += " A row whose keys are all masked is set to −∞ instead, so that all its weights are 0.";
  }
  return meaning;
}

std::string heading_of_masked(const Node& node) {
  if (!adds(node, role::relative)) return "Mask";
  const bool masks = is_mask(*node.operation) || adds(node, role::bias);
  return masks ? "Relative position bias and mask" : "Relative position bias";
}

std::string meaning_of_weights(const Node& node) {
  std::string meaning =
      "Softmax turns each row of scores into attention weights between 0 and 1 that sum to one: how much "
      "each query takes from each key.";
  if (has_row_without_keys(*node.operands.front())) {
    meaning += " A query whose keys are all masked has only weights of 0, which sum to 0.";
  }
  return meaning;
}

std::string meaning_of_sum(const Node& node) {
  if (!node.operands.front()->operation) {
    return "Each row is the sum of the values, each multiplied by its weight. It is an average if no weight "
           "is negative and the weights of the row sum to one.";
  }
  return "Each value is multiplied by its attention weight. The sum over all keys is the output for the "
         "query.";
}

std::string meaning_of_heads(const Node& node) {
  if (!node.within(scope::head)) return "There is one head. It uses all columns of q, k and v.";
  return "Each head works on its own columns of q, k and v, so one head can attend to one thing while "
         "another attends to something else.";
}

std::string meaning_of_joined(const Node& node) {
  const Node* output = node.beside(role::output);
  const bool projected = output && !output->is_alias();
  const Node* concat = node.beside(role::concat);
  const std::string joined = concat && concat->is_alias()
                                 ? "There is one head, so nothing is concatenated."
                                 : "The outputs of the heads are concatenated, one row per query.";
  return joined +
         (projected ? " The output projection, a linear layer, turns each row into one vector." : "");
}

std::string meaning_of_positions(const Node&) {
  return "Attention by itself treats its keys as a set: it does not know which word comes first. Positional "
         "encoding adds a vector for each position to the embeddings. So the same word can have a different "
         "vector at a different position.";
}

std::string meaning_of_feed_forward(const Node& node) {
  const Activation& activation = *activation_beside(node);
  return fmt::format(
      "Attention alone only averages values. The feed-forward layer works on each position separately: a "
      "linear layer to the inner size d_ff, {} ({}), and a linear layer back.",
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
      "Compare the stacked layers with a simpler model: apply all layers to each word separately, then mix "
      "the words once, with the product of the layers' weights. The largest difference from {} is {}. {}",
      top->name, written_difference(difference), what_averaging_shows(graph, outer));
}

std::string meaning_of_alignment(const Node& alignment) {
  const Node& weights = *alignment.operands.front();
  std::string meaning = "The attention weights transposed: a column for each query and a row for each key.";
  if (!weights.operation || !is_softmax(*weights.operation)) return meaning;
  meaning += " Each column sums to one.";
  if (has_row_without_keys(*weights.operands.front())) {
    meaning += " A column sums to 0 if all keys of its query are masked.";
  }
  return meaning;
}

}  // namespace attn
