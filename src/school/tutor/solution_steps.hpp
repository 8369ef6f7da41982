#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// The first step of the solution, in numbers: "0.7 · 10 = 7". It is not the answer. Empty: there is none to
/// show.
std::string first_step(const SolvedQuestion& solved);

/// What the number that is asked for is worked out from: the expression of the question, and of a single cell
/// the terms with which it is explained. A softmax has its scores as they are, where that can be computed.
Term last_steps(const Term& asked);

/// The ways to a number that is asked for: those that the question's author wrote, or else its last steps.
std::vector<Term> taught_paths(const SolvedQuestion& solved);

/// The last steps of a softmax as it is done by hand: with the smallest score subtracted, and with the largest. None of
/// anything else.
std::vector<Term> steps_by_hand(const Term& asked);

/// A question may give its numbers rounded: with those in the place of the cells that they stand for.
Term with_numbers(Term working, const std::vector<double>& given);

}  // namespace attn
