#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn {

/// A lesson that is built in: a file of the folder lessons/.
struct LessonFile {
  std::string_view name;  // "soft-lookup" of 01-soft-lookup.md
  std::string_view path;  // "lessons/01-soft-lookup.md"
  std::string_view text;
};

/// All of them, in the order of their numbers.
std::span<const LessonFile> lesson_files();

/// A line of the checklist: what the lessons together are to cover.
struct ChecklistLine {
  std::string_view name;  // "1.2", "E6"
  std::string_view says;
};

/// lessons/checklist.txt: in each line a name and what it stands for.
std::span<const ChecklistLine> checklist();

/// lessons/terms.txt: in each line a term, and after commas the forms that it takes.
std::string_view terms_text();

}  // namespace attn
