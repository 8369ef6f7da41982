#pragma once

#include <string_view>
#include <vector>

#include "problem/problem_recipe.hpp"

namespace attn {

/// One sequence of a problem, and how far its computation goes.
struct SequenceTask {
  const Sequence* sequence;
  std::vector<std::size_t> valid_lengths;
  Extent extent;
};

/// Computes what the problem asks for one of its sequences, within the open scope.
/// Throws InputError when the matrices do not fit together.
void evaluate_sequence(const Problem& problem, const Parameters& parameters, const SequenceTask& task,
                       Graph& graph);

/// Throws InputError when there are labels, but not one for each.
void require_labels(std::string_view name, const Axis& axis, std::size_t size);

}  // namespace attn
