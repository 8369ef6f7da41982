#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/learner_knowledge.hpp"

namespace attn {

/// A slip in writing the number: its sign, per cent, the decimal point, the rest instead of the part.
/// What it is as the question wants it rounded, says whether its digits are its own.
std::vector<RecognizedAnswer> slips_of_writing(double answer, double rounded, bool is_share);

/// Slips on a way to the answer: a number on the way, taken for the end; a term or a factor left out, a fraction
/// upside down, a function not taken. They are made with the numbers of the computation, and with those that the
/// question gives, which may be rounded.
/// Nobody takes e to the power of a number that they do not have: there are none where the steps need one.
std::vector<RecognizedAnswer> slips_on(const Term& path, const LearnerKnowledge& known);

/// What only a cell has: the steps of a softmax by hand, a product of two matrices in the other order, the division
/// that comes only after it.
std::vector<RecognizedAnswer> slips_of_cell(const Term& asked, const Graph& graph, const LearnerKnowledge& known);

/// A number that is related to the correct one: its square, its reciprocal.
std::vector<RecognizedAnswer> related_numbers(double answer);

// What the files of slips share.

/// How likely a slip is: a function that is left out or taken for another; one that many make; one that is only
/// believed where hardly anything else could be meant.
enum class SlipLikelihood { function, usual, rare };

/// A working with a slip, and what is said to it.
struct Slip {
  Term working;
  std::string says;
  SlipLikelihood often = SlipLikelihood::usual;
};
using Slips = std::vector<Slip>;

/// A larger working has no slips looked for, a longer sum or product not those of each of its terms.
constexpr std::size_t most_parts = 120, most_terms = 16;
/// Columns of what is told in numbers.
constexpr std::size_t longest_in_numbers = 44;

/// How many parts it has, itself among them.
std::size_t size_of(const Term& working);

Term without_part(Term working, std::size_t i);
Term with_part(Term working, std::size_t i, Term part);

/// In numbers, behind `before`, where that is short.
std::string numbers_if_short(const Term& working, std::string_view before, std::string_view otherwise);

bool is_inverse(const Term& working);
bool is_negative(const Term& working);
bool is_fraction(const Term& working);

/// Whether any of its numbers has a minus sign.
bool has_minus(const Term& working);

/// Without its minus signs; those within calls of functions stay unless they are asked for.
Term without_signs(Term working, bool in_calls);

/// A term or a factor without the sign that says how it is joined.
const Term& without_sign(const Term& part);

/// Whether they give the same number.
bool are_alike(const Term& one, const Term& other);

/// With something else in the place of each call of a function.
Term replace_calls(Term working, const Function& called, const std::function<Term(const Term&)>& instead);

// The slips in a working itself, not in its parts: one kind each.
// "Add here" says the opposite of what is meant in a sum that is subtracted as a whole.
void add_slips_of_sum(const Term& sum, bool is_subtracted, Slips& slips);
void add_slips_of_product(const Term& product, Slips& slips);
void add_slips_of_power(const Term& power, Slips& slips);
void add_slips_of_call(const Term& call, Slips& slips);
void add_slips_of_constant(const Term& constant, Slips& slips);

/// The functions that are called several times, each once.
std::vector<const Function*> often_called(const Term& working);

/// A function that is called several times is mistaken in all places.
Slips slips_everywhere(const Term& working);

}  // namespace attn
