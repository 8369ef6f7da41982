#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lesson/lesson.hpp"

namespace attn {

/// A term that is used before it is introduced, or introduced twice.
struct TermFault {
  std::size_t line;
  std::string says;
};

/// Each term of the course is introduced once, by one of its lessons, and no lesson before that uses it. Any
/// other lesson may use all terms; those that it introduces itself it introduces once, before it uses them.
std::vector<TermFault> term_faults(const Lesson& lesson);

}  // namespace attn
