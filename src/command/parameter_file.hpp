#pragma once

#include "command/command.hpp"
#include "parameters/parameters.hpp"

namespace attn {

/// The option that every command has beside --parameters.
inline constexpr Option prefix_option = {"--prefix", "NAME",
                                         "read only parameters whose names begin with NAME"};

/// The parameters in a file, those behind --prefix where it is given. Throws InputError as read_parameters.
ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path);

/// Throws InputError when --prefix is given and --parameters is not.
void require_no_idle_prefix(const Arguments& arguments);

/// Throws InputError: a file of parameters does not tell how many heads there are.
[[noreturn]] void fail_without_heads(const std::string& path);

}  // namespace attn
