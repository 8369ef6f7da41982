#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lesson/document.hpp"
#include "lesson/quantity.hpp"

namespace attn {

/// What kind of answer a question wants.
enum class AnswerKind { number, choice, shape, word };

/// A mistake that is often made: what it leads to, and what went wrong.
struct Mistake {
  std::string of;
  std::string says;
  std::size_t line = 0;
};

/// A question as its block asks it.
struct Question {
  std::string ask;
  AnswerKind kind = AnswerKind::number;
  std::string of;                   // the expression that is the answer
  std::optional<double> tolerance;  // of a number
  std::vector<std::string> choices;
  std::vector<std::string> hints;
  std::vector<Mistake> mistakes;
  std::string on;  // a command, or options of attn walk; empty: the nearest block above
  Place place;
};

/// Reads a block of lines `key: value`. Throws InputError with path and line: an unknown key, one that is
/// missing or given twice, a kind that there is not.
Question read_question(const Document& document, const FencedBlock& block);

/// A question whose answer is known.
struct Posed {
  Question question;
  Quantity answer;
  std::vector<std::pair<Quantity, std::string>> mistakes;  // and what went wrong
};

/// Works the answer out. Throws InputError with path and line: an answer of the wrong kind, one that is not
/// looked up in the computation, a mistake that is right.
Posed pose(Question question, const Graph& graph);

/// What was made of an answer.
struct Judged {
  enum class Mark { right, wrong, unreadable };
  Mark mark = Mark::wrong;
  std::string says;  // what went wrong, where it is known
};

/// Compares what somebody typed with the answer.
Judged judge(const Posed& posed, std::string_view typed);

/// The answer as it is shown.
std::string answer_of(const Posed& posed);

/// The question, its choices under it, as paragraphs.
std::vector<std::string> question_lines(const Question& question);

}  // namespace attn
