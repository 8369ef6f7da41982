#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// A gradient of a graph: the matrix that it is the gradient of, and the operation through which the last of
/// it flowed back, which is the first one that uses the matrix.
struct GradientStep {
  const Node* gradient;
  const Node* forward;
  const Node* user;    // null: the loss is taken of it
  const Node* result;  // the user, or the named matrix that it leads to; null as well
};

/// The gradient by a node, or null.
using GradientBy = std::function<const Node*(const Node&)>;

/// The named gradients, in the order in which they are computed.
std::vector<GradientStep> gradient_steps(const Graph& graph, const GradientBy& by);

/// What a gradient means, in a sentence that follows from the operation through which it flowed back.
std::string meaning_of_gradient(const GradientStep& step);

}  // namespace attn
