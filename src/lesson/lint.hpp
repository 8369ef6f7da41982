#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/living.hpp"
#include "mistake/mistake.hpp"

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
  /// question has an answer and hints, the output is current, no tolerance is as large as the answer, no line
  /// of text is wider than 80 columns, and what it needs and covers is there.
  std::vector<std::string> faults;
  std::vector<CheckedQuestion> questions;  // in order, where the lesson runs
};

CheckedLesson check_lesson(std::string_view text, const std::string& path, const RunCommand& run);

}  // namespace attn
