#pragma once

#include <optional>
#include <string>

#include "lesson/session.hpp"

namespace attn {

// The lessons that are built in, one after the other.

/// All lessons, and how far somebody is in each.
Block course_listing(const CourseProgress& progress);

/// The lesson that was taken last, if it is not finished; otherwise the first one behind it that is not.
/// Nothing: all are finished.
std::optional<std::string> lesson_to_go_on_with(const CourseProgress& progress);

/// The first unfinished lesson behind the one that was taken last; nothing: there is none.
std::optional<std::string> lesson_after_last(const CourseProgress& progress);

/// Takes a lesson, and then those behind it, until somebody quits.
void take_from(const Lesson& first, const RunProgram& run, Desk& desk, std::optional<std::size_t> step = {});

/// Shows the course, and takes the lesson that somebody chooses.
void take_course(const RunProgram& run, Desk& desk);

/// Asks again what was missed: in one lesson, or without one in the whole course.
void review_course(const Lesson* only, const RunProgram& run, Desk& desk);

}  // namespace attn
