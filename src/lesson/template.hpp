#pragma once

#include <string_view>

namespace attn {

/// A lesson to begin with, without a line end after its last line. Nothing is wrong with it but that its
/// output is not there yet.
std::string_view lesson_template();

}  // namespace attn
