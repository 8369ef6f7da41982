#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command/command.hpp"
#include "parameters/parameters.hpp"

namespace attn {

/// The parameters in a file, those behind --prefix where it is given. Throws InputError as read_parameters.
ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path);

/// The arguments with the parameters of a part of a model (scope::norm, scope::feed_forward) that a file of
/// --parameters has, as if `options` had given them one by one, and without --parameters. Where the file has
/// none of them, nothing changes, unless `whose` names what has them, "an nn.LayerNorm": then it is an error.
Arguments with_part(const Arguments& arguments, const ScopeKind& part, OptionList options,
                    std::string_view whose = {});

/// Throws InputError: a file of parameters does not tell how many heads there are.
[[noreturn]] void fail_without_heads(const std::string& path);

}  // namespace attn
