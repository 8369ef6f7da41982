#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "page/document/document_outputs.hpp"
#include "school/lesson/lesson.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

/// What can be recognised among wrong answers to a question.
struct CheckedQuestion {
  Place place;
  std::size_t notes = 0, slips = 0;            // how many answers are recognised by notes, and as slips
  std::vector<const Mistake*> recognised;      // mistakes and conventions with an answer of their own
  std::vector<const Mistake*> not_told_apart;  // those whose answer is the correct one
};

/// A lesson whose author wants to know what is wrong with it.
struct CheckedLesson {
  /// Each a sentence with path and line; nothing when nothing is wrong: it is read, all of it runs, every
  /// question has an answer and hints, its screen opens, the output is current, no tolerance is as large as the answer,
  /// no line of text is wider than 80 columns, and what it needs and covers is there.
  std::vector<std::string> faults;
  std::vector<CheckedQuestion> questions;  // in order, where the lesson runs
};

CheckedLesson check_lesson(std::string_view text, const std::string& path, const RunCommand& run);

/// A term of the field: a lesson of the course introduces it in bold, and none uses it before.
struct TermOfField {
  std::string_view name;
  std::vector<std::string> forms;  // in lower case, the name among them
};

/// All terms of lessons/terms.txt.
std::span<const TermOfField> terms();

/// Where a lesson's own text, questions included and headings left out, says a term.
struct TermUse {
  const TermOfField* term;
  std::size_t line;
  bool introduces;  // in bold, and nothing else
};

/// In the order of the text. Of terms within longer terms only the longest counts.
std::vector<TermUse> term_uses(const Lesson& lesson);

/// A term that is used before it is introduced, or introduced twice.
struct TermFault {
  std::size_t line;
  std::string says;
};

/// Each term of the course is introduced once, by one of its lessons, and no lesson before that uses it. Any
/// other lesson may use all terms; those that it introduces itself it introduces once, before it uses them.
std::vector<TermFault> term_faults(const Lesson& lesson);

}  // namespace attn
