#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/claims.hpp"

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
  std::string_view summary;                      // for help
  std::span<const Claim<Node>> meanings;         // what its result means
  std::string_view needs;                        // the options that give it what it works on
  Extent extent;                                 // how far a computation must go for it
  std::span<const ShownRole> shown;              // its results, by role; empty: all that are computed in its family
  std::string_view layout = {};                  // how its tables are read
  std::span<const Claim<Node>> background = {};  // what only its own page has room for
  std::string (*heading)(const Node& result) = nullptr;  // where the title does not say what it is; or null
  const Family* family = &family::forward;

  /// Whether a node is a result of this step.
  bool shows(const Node& node) const;
};

/// What stands above a result of a step: the step's title, or what it is in this computation.
std::string heading_of(const Step& step, const Node& result);

/// What is said of a mask whose numbers are added, on every page that has one.
inline constexpr std::string_view sentence_on_added_mask =
    "The numbers of the mask are added to the scores: −∞ masks a key, and a negative number lowers its score.";

/// add-positions, project, scores, scale, mask, softmax, weigh, heads, concat, feed-forward, averaging: in
/// the order of the computation.
std::span<const Step> steps();

/// Which columns rotary positions turn together, of queries or keys that are turned: "columns 1 and 2, 3 and 4 and so
/// on together", and whether they are some of them only.
std::string turned_columns(const Node& rotated);

/// The first step that shows a node, or null: the output of a head belongs to the weighted sum, not to the
/// heads.
const Step* step_of(const Node& node);

/// Whether a node is one of those of which scores are made, and not the scores.
bool leads_to_scores(const Node& node);

/// Whether a node sums values with weights.
bool is_weighted_sum(const Node& node);

/// Where nodes of one step belong together: their scope, or all of what layers would be as one averaging.
const NamedScope* place_in_walk(const Node& node);

/// What a result of a step means, in sentences that are true of it: they follow from how it was computed, and of masks
/// from where they are 0. Of transposed weights, what these are.
std::string meaning_of(const Step& step, const Node& result);
std::string meaning_of_alignment(const Node& alignment);

/// Every sentence that is said of some result of a step, in the order of the steps.
std::vector<const Claim<Node>*> claims_of_steps();

}  // namespace attn
