#pragma once

#include <map>
#include <string>
#include <vector>

#include "lesson/lesson.hpp"

namespace attn {

/// What somebody answered, and whether it was right.
struct Answered {
  std::string text;
  bool right = false;
};

/// How far somebody is in a lesson. Steps and questions are known by their text: when a lesson is edited,
/// what has not changed stays done and answered.
struct LessonProgress {
  std::vector<std::string> done;            // the keys of steps
  std::map<std::string, Answered> answers;  // by the key of the question's step
};

/// Of all lessons, by name.
using Progress = std::map<std::string, LessonProgress>;

/// The state file; no progress when there is none. Throws InputError when it is something else.
Progress read_progress(const std::string& path);

/// The bytes of a state file.
std::string bytes_of(const Progress& progress);

/// What a lesson is called there: its name, or the path of an author's own.
std::string progress_name(const Lesson& lesson);

/// What each step is known by: a number made of its text, without the output. Steps that are alike are told
/// apart by their order.
std::vector<std::string> keys_of(const Lesson& lesson);

}  // namespace attn
