#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lesson/lesson.hpp"

namespace attn {

/// A term of the field: a lesson of the course introduces it in bold, and none uses it before.
struct Term {
  std::string_view name;
  std::vector<std::string> forms;  // in lower case, the name among them
};

/// All terms of lessons/terms.txt.
std::span<const Term> terms();

/// Where a lesson's own text, questions included and headings left out, says a term.
struct TermUse {
  const Term* term;
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
