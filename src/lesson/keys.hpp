#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attn {

/// What a reader of a lesson can do at a prompt.
enum class Deed { next, back, hint, skip, answer, list, go, help, quit };

/// What does it: a letter, or a word.
struct LessonKey {
  std::string_view name;   // as a prompt shows it: "h"
  std::string_view words;  // that do the same, with blanks around each
  std::string_view does;   // in a word or three, for the prompt
  std::string_view about;  // the same in a sentence, for help
  Deed deed;
  bool at_pauses, at_questions;  // whether the prompt there shows it; each means the same wherever it can
};
std::span<const LessonKey> lesson_keys();

/// A line that is a key and no answer. Of `go`: to which step, from 1.
struct Pressed {
  Deed deed;
  std::size_t step = 0;
};

/// Nothing: it is no key. Upper and lower case are the same.
std::optional<Pressed> pressed(std::string_view typed);

}  // namespace attn
