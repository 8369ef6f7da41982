#pragma once

#include "page/page.hpp"
#include "tell/gradient_steps.hpp"

namespace attn {

/// What the page is under when the walk begins, with the gradient from which all others follow.
constexpr std::string_view heading_of_loss = "The loss";

/// Adds gradients in the order of the computation: a heading for each step back, and their formulas, tables
/// and meanings. Of one row of a softmax, the Jacobian as well. Under headings that name scopes, names leave
/// these out where `by_scope`.
void add_backward_walk(Page& page, const std::vector<GradientStep>& steps, bool by_scope);

/// The heading of a step back: "Softmax, backward (head.1)".
std::string heading_of(const GradientStep& step, bool by_scope);

}  // namespace attn
