#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace attn {

/// What a reader of a lesson can do at a prompt.
enum class Deed { next, back, hint, skip, answer, list, quit };

/// A key that does it.
struct LessonKey {
  std::string_view name;  // as it is typed
  std::string_view does;
  Deed deed;
};

constexpr std::array lesson_keys = {
    LessonKey{"h", "hint", Deed::hint}, LessonKey{"a", "answer", Deed::answer},
    LessonKey{"s", "skip", Deed::skip}, LessonKey{"b", "back", Deed::back},
    LessonKey{"l", "list", Deed::list}, LessonKey{"q", "quit", Deed::quit},
};

inline bool is_key(std::string_view typed) {
  return std::ranges::find(lesson_keys, typed, &LessonKey::name) != lesson_keys.end();
}

}  // namespace attn
