#pragma once

#include <optional>
#include <string>

#include "school/lesson/lesson.hpp"
#include "school/lesson/session.hpp"

namespace attn {

// The lessons that are built in, one after the other.

/// All lessons, with the progress in each: the main road, and the side roads; and which of them come back in a
/// review by this day, where there are any.
std::vector<Block> course_listing(const CourseProgress& progress, std::int64_t today);

/// The lesson that was taken last, if it is not finished; otherwise the one of lesson_after_last().
std::optional<std::string> lesson_to_continue(const CourseProgress& progress);

/// The first unfinished lesson of the main road behind the one that was taken last, or from its beginning;
/// then those of the side roads. Nothing: all are finished.
std::optional<std::string> lesson_after_last(const CourseProgress& progress);

/// Takes a lesson, and then the following ones, until the reader quits.
void take_from(const Lesson& first, const RunCommand& run, LessonTerminal& terminal,
               std::optional<std::size_t> step = {});

/// Shows the course, and takes the lesson that the reader chooses.
void take_course(const RunCommand& run, LessonTerminal& terminal);

/// Every line of the checklist with the lessons that cover it, and the command in each that shows it.
Listing coverage(const std::vector<Lesson>& lessons);

}  // namespace attn
