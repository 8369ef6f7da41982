#pragma once

#include <string>
#include <vector>

#include "school/lesson/lesson.hpp"
#include "school/lesson/marking.hpp"
#include "school/lesson/progress.hpp"

namespace attn {

// A whole lesson as one page, where there is no terminal.

/// All of it, and the answer after each question.
std::vector<Block> with_answers(const Lesson& lesson, const LessonResult& result);

/// All of it, and after each question what is said to the answer that was handed in.
std::vector<Block> with_marks(const Lesson& lesson, const LessonResult& result, const MarkedHandIn& hand_in);

/// All of it without the answers. What a block behind a question prints, which shows the answer, is left out.
std::vector<Block> without_answers(const Lesson& lesson, const LessonResult& result);

// A lesson to hand in, to print or to hand out: its text, what its commands print, and what stands after each
// question.

/// What stands after a question of an exported lesson.
enum class AnswersShown {
  given,   // what somebody answered, and what is said to it
  none,    // a line to write on; what shows the answers is left out
  folded,  // the answer, and what shows it, to unfold
};

/// What is kept in the progress of a lesson.
GivenAnswers answers_of(const Lesson& lesson, const LessonResult& result, const LessonProgress& progress);

/// A lesson, and how it is written to a file.
struct LessonExport {
  const Lesson& lesson;
  const LessonResult& result;
  AnswersShown shows = AnswersShown::given;
  GivenAnswers given = {};  // as many as there are questions; empty: none is answered
};

/// The text of a step and its command lines, without what these print.
std::string markdown_of(const Lesson& lesson, const LessonStep& step);

/// As Markdown without marks and front matter.
std::string exported_markdown(const LessonExport& exported);

/// Where the pictures of a page of a lesson may come from, as policies say it: they stand beside it. What a stranger
/// wrote loads nothing from elsewhere, which would be told that it was opened.
constexpr std::string_view places_of_pictures = "'self' data: file:";

/// As a page of HTML that needs nothing else but the pictures that the lesson names.
std::string exported_html(const LessonExport& exported);

}  // namespace attn
