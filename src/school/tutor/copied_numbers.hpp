#pragma once

#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/learner_knowledge.hpp"

namespace attn {

/// Numbers of the question, and of the tables before it, that were taken for the answer: what each of them is on the
/// way to it, and what there is to do with it. A number of the question that has no place there is only told to be one.
std::vector<RecognizedAnswer> copied_numbers(const std::vector<Term>& paths, const LearnerKnowledge& known);

}  // namespace attn
