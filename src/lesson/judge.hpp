#pragma once

#include <string>
#include <string_view>

#include "lesson/posed.hpp"

namespace attn {

/// What was made of an answer.
struct Judged {
  enum class Mark { right, wrong, unreadable };
  Mark mark = Mark::wrong;
  std::string says;  // what went wrong, where it is known
};

/// Compares what somebody typed with the answer.
Judged judge(const Posed& posed, std::string_view typed);

}  // namespace attn
