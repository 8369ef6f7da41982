#pragma once

#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// One step of attention: the command of the same name shows it, and the walk shows all of them.
struct Step {
  std::string_view name;
  std::string_view title;
  std::string_view summary;    // for help
  std::string_view meaning;    // one sentence on what its result means
  std::string_view needs;      // the options that give it what it works on
  bool (*shows)(const Node&);  // whether a node is a result of this step
};

/// project, scores, scale, mask, softmax, weigh, heads, concat: in the order of the computation.
std::span<const Step> steps();

}  // namespace attn
