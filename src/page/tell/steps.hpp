#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"
#include "data/problem/problem.hpp"

namespace attn {

/// A role whose matrices belong to a step, and where they do.
struct ShownRole {
  const Role& role;
  bool (*where)(const Node& node) = [](const Node&) { return true; };
};

/// One step of attention: the command of the same name shows it, and the walk shows all of them.
struct Step {
  std::string_view name;
  std::string_view title;
  std::string_view summary;                    // for help
  std::string (*meaning)(const Node& result);  // what its result means, in a sentence that is true of this one
  std::string_view needs;                      // the options that give it what it works on
  Extent extent;                               // how far a computation must go for it
  std::span<const ShownRole> shown;            // its results, by role; empty: all that are computed in its family
  std::string_view background = {};            // what only its own page has room for
  std::string (*heading)(const Node& result) = nullptr;  // where the title does not say what it is; or null
  const Family* family = &family::forward;

  /// Whether a node is a result of this step.
  bool shows(const Node& node) const;
};

/// What stands above a result of a step: the step's title, or what it is in this computation.
std::string heading_of(const Step& step, const Node& result);

/// add-positions, project, scores, scale, mask, softmax, weigh, heads, concat, feed-forward, averaging: in
/// the order of the computation.
std::span<const Step> steps();

/// The first step that shows a node, or null: the output of a head belongs to the weighted sum, not to the
/// heads.
const Step* step_of(const Node& node);

/// Whether a node is one of those of which scores are made, and not the scores.
bool leads_to_scores(const Node& node);

/// Whether a node sums values with weights.
bool is_weighted_sum(const Node& node);

/// Where nodes of one step belong together: their scope, or all of what layers would be as one averaging.
const NamedScope* place_in_walk(const Node& node);

// What the results of the steps mean, in sentences that are true of these: they follow from how a matrix was
// computed, and of masks from where they are 0.

std::string meaning_of_projection(const Node&);
std::string meaning_of_similarity(const Node& node);
std::string meaning_of_scaled(const Node& node);
std::string meaning_of_masked(const Node& node);
/// "Mask", or where positions are added to the scores what that is.
std::string heading_of_masked(const Node& node);
std::string meaning_of_weights(const Node& node);
std::string meaning_of_sum(const Node& node);
std::string meaning_of_heads(const Node& node);
std::string meaning_of_joined(const Node& node);
std::string meaning_of_positions(const Node&);
std::string meaning_of_feed_forward(const Node&);
std::string meaning_of_averaging(const Node& node);

/// What weights are when they are transposed.
std::string meaning_of_alignment(const Node& alignment);

/// Why queries, keys and values are called so.  (Stenzel 2023, Transformer Pt. 1, appendix)
constexpr std::string_view names_of_projections =
    "The names come from looking things up in a database. "
    "The query is the question: in cross-attention it comes from the output, at the position that is being computed. "
    "Each key is matched against the query: "
    "it shows which parts of the input are relevant. "
    "The value is the answer: the content that is passed on. "
    "Keys and values come from the same words of the input, so each word is found by its key and read by its value. "
    "In self-attention, input and output are the same words, and each word has all three.";

}  // namespace attn
