#pragma once

#include <string>
#include <string_view>

#include "command/command.hpp"

namespace attn {

// What the code of `attn check --recorder` has saved: "parameter.NAME", "input.MODULE.ARGUMENT" and "output.MODULE", of
// which the module that was recorded has no name, and "about", the types and settings of modules.

/// Whether the code of `attn check --recorder` has saved them.
bool is_recorded(const NamedMatrices& all);

/// Makes options of what was recorded, except those that are given, and gives the matrices to compare the names that
/// attn check reads; nothing is changed if the file is not recorded. Of several sentences the first is left.
void take_recording(const Command& command, const std::string& path, NamedMatrices& all, Arguments& arguments);

}  // namespace attn
