#pragma once

#include <string>

#include "lesson/answer.hpp"

namespace attn {

/// The first step of the solution, in numbers: "0.7 · 10 = 7". It is not the answer. Empty: there is none to
/// show.
std::string first_step(const SolvedQuestion& solved);

}  // namespace attn
