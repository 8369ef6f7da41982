#pragma once

#include "lesson/lesson.hpp"

namespace attn {

/// Every line of the checklist with the lessons that cover it, and the command in each that shows it.
Listing coverage(const std::vector<Lesson>& lessons);

}  // namespace attn
