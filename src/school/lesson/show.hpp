#pragma once

#include <vector>

#include "school/lesson/lesson.hpp"
#include "school/lesson/progress.hpp"

namespace attn {

/// The title of a lesson and what it says of itself.
std::vector<Block> opening_of(const Lesson& lesson);

/// What one can do after a lesson, as a list.
Block abilities_of(const Lesson& lesson);

/// What was achieved, what one can do now, and what to try: the end of a lesson.
std::vector<Block> closing_of(const Lesson& lesson, const ProgressCounts& counts);

/// What a command has printed. Text is set anew for the page that it comes to stand on; other formats are what
/// they are.
Block output_of(const CommandResult& command);

/// A step without its question: its text, its command lines and what they print.
std::vector<Block> shown(const Lesson& lesson, const LessonStep& step, const LessonResult& result);

/// "6 questions: 4 correct at the first try, 1 later, 1 not yet."
std::string counts_in_words(const ProgressCounts& counts);

/// "3" of "03".
std::string without_zeros(std::string_view number);

/// A question, with its choices.
Block shown(const Question& question);

/// Whether a heading stands in its text.
bool begins_section(const Lesson& lesson, const LessonStep& step);

/// A step without the outputs of its commands.
std::vector<Block> shown_without_output(const Lesson& lesson, const LessonStep& step);

/// A step with its question.
std::vector<Block> shown_whole(const Lesson& lesson, const LessonStep& step, const LessonResult& result);

/// The lines that it takes on a terminal of 80 columns.
std::size_t height_of(const Lesson& lesson, const LessonStep& step, const LessonResult& result);

/// The command lines of a block as they are written, with prompts.
std::string commands_of(const CommandBlock& block);

/// What a step is about, for a list: its question, its command, or its first words.
std::string gist_of(const Lesson& lesson, const LessonStep& step);

}  // namespace attn
