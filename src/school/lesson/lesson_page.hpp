#pragma once

#include "core/support/outside.hpp"
#include "page/render/style.hpp"
#include "school/lesson/lesson.hpp"

namespace attn {

/// Writes a lesson as a page for browsers: one file, which asks for nothing else but the pictures that the
/// lesson names. Its questions are asked and judged there, and its matrices can be changed. Text, questions
/// and what commands print are all there without scripts; what shows an answer can be opened.
/// Throws as execute() does.
void write_lesson_page(const Lesson& lesson, const RunCommand& run, Sink& sink);

}  // namespace attn
