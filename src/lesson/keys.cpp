#include "lesson/keys.hpp"

#include <algorithm>
#include <array>

#include "lesson/document.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

constexpr std::array keys = {
    LessonKey{"Enter", " next continue ", "next", "goes on", Deed::next, false},
    LessonKey{"h", " hint hints ", "hint", "shows a hint, and then the next one", Deed::hint, true},
    LessonKey{"a", " answer solution ", "answer", "shows the answer", Deed::answer, true},
    LessonKey{"s", " skip ", "skip", "goes on without an answer", Deed::skip, true},
    LessonKey{"b", " back previous ", "back", "goes one step back", Deed::back, false},
    LessonKey{"l", " list steps ", "steps", "lists the steps", Deed::list, false},
    LessonKey{"go N", "", "", "goes to step N", Deed::go, false},
    LessonKey{"?", " help keys ", "help", "shows this list", Deed::help, false},
    LessonKey{"q", " quit exit bye :q ", "quit", "ends the lesson; your progress is saved", Deed::quit,
              false},
};

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

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
    const bool is_named = key.name == word && key.deed != Deed::next && key.deed != Deed::go;
    if (is_named || key.words.find(" " + word + " ") != std::string_view::npos) return Pressed{key.deed};
  }
  return going(word);
}

}  // namespace attn
