#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/living.hpp"

namespace attn {

/// What is wrong with a lesson, each a sentence with path and line; nothing when nothing is: it is read, all
/// of it runs, every question has an answer and hints, the output is current, no tolerance is as
/// large as the answer, no line of text is wider than 80 columns, and what it needs and covers is there.
std::vector<std::string> faults_of(std::string_view text, const std::string& path, const RunCommand& run);

}  // namespace attn
