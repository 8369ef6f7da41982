#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lesson/quantity.hpp"
#include "lesson/question.hpp"

namespace attn {

/// A question whose answer is known.
struct SolvedQuestion {
  Question question;
  Quantity answer;
  std::vector<std::pair<Quantity, std::string>> mistakes;  // and what went wrong
};

/// Works the answer out. Throws InputError with path and line: an answer of the wrong kind, one that is not
/// looked up in the computation, a mistake that is right.
SolvedQuestion solve(Question question, const Graph& graph);

/// The answer as it is shown.
std::string answer_of(const SolvedQuestion& solved);

/// How far a number may be off: as the question says, or else half a hundredth, or half a percent of a large
/// one.
double tolerance_for(const SolvedQuestion& solved);

/// Whether a quantity counts as the other one.
bool is_same(const Quantity& one, const Quantity& other, const SolvedQuestion& solved);

/// Whether a typed answer is correct.
struct Judgment {
  enum class Mark { right, wrong, unreadable };
  Mark mark = Mark::wrong;
  std::string says;  // what went wrong, where it is known
};

/// Compares a typed answer with the correct one.
Judgment judge(const SolvedQuestion& solved, std::string_view typed);

}  // namespace attn
