#pragma once

#include "command/command.hpp"
#include "parameters/parameters.hpp"

namespace attn {

/// The parameters in a file, those behind --prefix where it is given. Throws InputError as read_parameters.
ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path);

/// Throws InputError: a file of parameters does not tell how many heads there are.
[[noreturn]] void fail_without_heads(const std::string& path);

}  // namespace attn
