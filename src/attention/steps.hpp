#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/problem.hpp"
#include "graph/graph.hpp"

namespace attn {

/// One step of attention: the command of the same name shows it, and the walk shows all of them.
struct Step {
  std::string_view name;
  std::string_view title;
  std::string_view summary;  // for help
  std::string (*meaning)(
      const Node& result);           // what its result means, in a sentence that is true of this one
  std::string_view needs;            // the options that give it what it works on
  Extent extent;                     // how far a computation must go for it
  bool (*shows)(const Node&);        // whether a node is a result of this step
  std::string_view background = {};  // what only its own page has room for
};

/// Whether a node sums values with weights.
bool is_weighted_sum(const Node& node);

/// add-positions, project, scores, scale, mask, softmax, weigh, heads, concat, feed-forward, averaging: in
/// the order of the computation.
std::span<const Step> steps();

/// What weights are when they are transposed, in sentences that are true of these.
std::string meaning_of_alignment(const Node& alignment);

/// The first step that shows a node, or null: the output of a head belongs to the weighted sum, not to the
/// heads.
const Step* step_of(const Node& node);

}  // namespace attn
