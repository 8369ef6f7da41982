#include "lesson/keys.hpp"

#include <algorithm>
#include <array>

#include "document/document.hpp"
#include "support/lower_case.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

constexpr std::array keys = {
    LessonKey{"Enter", " next continue ", "next", "goes on", Deed::next, true, false},
    LessonKey{"h", " hint hints ", "hint", "shows a hint, and then the next one", Deed::hint, false, true},
    LessonKey{"a", " answer solution ", "answer", "shows the answer", Deed::answer, false, true},
    LessonKey{"s", " skip ", "skip", "goes on without an answer", Deed::skip, false, true},
    LessonKey{"b", " back previous ", "back", "goes one step back", Deed::back, true, false},
    LessonKey{"l", " list steps ", "steps", "lists the steps", Deed::list, true, false},
    LessonKey{"go N", "", "step N", "goes to step N; where no answer is asked for, N alone does", Deed::go,
              false, false},
    LessonKey{"?", " help keys ", "help", "shows this list", Deed::help, true, true},
    LessonKey{"q", " quit exit bye :q ", "quit", "ends the lesson; your progress is saved", Deed::quit, true,
              true},
};

// "go 7", "step 7".
std::optional<Pressed> going(const std::string& typed) {
  for (const std::string_view verb : {"go to ", "goto ", "go ", "step ", "g "}) {
    if (!typed.starts_with(verb)) continue;
    const auto step = parsed<std::size_t>(trimmed(std::string_view(typed).substr(verb.size())));
    if (step) return Pressed{Deed::go, *step};
  }
  return std::nullopt;
}

}  // namespace

std::span<const LessonKey> lesson_keys() {
  return keys;
}

std::optional<Pressed> pressed(std::string_view typed) {
  const std::string word = in_lower_case(trimmed(typed));
  if (word.empty()) return std::nullopt;
  for (const LessonKey& key : keys) {
    if (key.name == word || key.words.find(" " + word + " ") != std::string_view::npos)
      return Pressed{key.deed};
  }
  return going(word);
}

}  // namespace attn
