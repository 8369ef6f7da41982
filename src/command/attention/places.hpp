#pragma once

#include "command/command.hpp"

namespace attn {

/// What attn positions is asked for: the words of a problem, or --n places without words.
/// Throws InputError when both are given, or a problem without words.
Request requested_places(const Arguments& arguments);

}  // namespace attn
