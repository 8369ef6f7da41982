#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "page/block/page.hpp"

namespace attn {

/// A gradient of a graph: the matrix that it is the gradient of, and the operation through which the last of
/// it flowed back, which is the first one that uses the matrix.
struct GradientStep {
  const Node* gradient;
  const Node* forward;
  const Node* user;    // null: the loss is taken of it
  const Node* result;  // the user, or the named matrix that it leads to; null as well
};

/// The gradient with respect to a node, or null.
using GradientBy = std::function<const Node*(const Node&)>;

/// The named gradients, in the order in which they are computed.
std::vector<GradientStep> gradient_steps(const Graph& graph, const GradientBy& by);

/// What a gradient means, in a sentence that follows from the operation through which it flowed back.
std::string meaning_of_gradient(const GradientStep& step);

/// What the page is under when the walk begins, with the gradient from which all others follow.
constexpr std::string_view heading_of_loss = "The loss";

/// Adds gradients in the order of the computation: a heading for each step back, and their formulas, tables
/// and meanings. Of one row of a softmax, the Jacobian as well. Under headings that name scopes, names leave
/// these out where `by_scope`.
void add_backward_walk(Page& page, const std::vector<GradientStep>& steps, bool by_scope);

/// The heading of a step back: "Softmax, backward (head.1)".
std::string heading_of(const GradientStep& step, bool by_scope);

}  // namespace attn
