#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/learner_knowledge.hpp"

namespace attn {

// What nobody has seen and nobody can work out is no explanation of an answer: that its number is the same is a
// coincidence, and its name says nothing.

/// The other cells of the matrices in a question, the nearest first.
std::vector<RecognizedAnswer> neighbors(const Term& asked, const LearnerKnowledge& known);

/// What is like them elsewhere: the cells in the same place of another head.
std::vector<RecognizedAnswer> same_place_in_other_heads(const Term& asked, const Graph& graph,
                                                        const LearnerKnowledge& known);

/// The numbers of shown tables with which the answer is made, and the number in its place in a table that was shown of
/// another computation.
std::vector<RecognizedAnswer> other_numbers(const Term& asked, const Graph& graph, const LearnerKnowledge& known);

/// The other words of the row that is asked about.
std::vector<RecognizedAnswer> other_words(const Term& asked);

/// The shape turned around, and those of other matrices.
std::vector<RecognizedAnswer> other_shapes(const Term& asked, const Graph& graph, const LearnerKnowledge& known);

/// The other choices of a comparison, and what is compared.
std::vector<RecognizedAnswer> other_choices(const Term& asked, const SolvedQuestion& solved);

/// The numbers that a text has outside of quotations, with commas between thousands, and as words up to ten.
std::vector<double> numbers_in(std::string_view text);
/// The same without those that say which one: "row 2".
std::vector<double> data_in(std::string_view text);

/// A number with a minus sign, as sentences have it.
std::string number_in_sentence(double number);

}  // namespace attn
