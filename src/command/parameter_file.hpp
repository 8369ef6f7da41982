#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command/command.hpp"
#include "parameters/parameters.hpp"

namespace attn {

/// The parameters in a file, those behind --prefix where it is given. Throws InputError as read_parameters.
ParameterFile parameters_asked_for(const Arguments& arguments, const std::string& path);

/// A tensor of a part of a model, and the option that gives the same matrix.
struct PartTensor {
  std::string_view name;
  const Option* option;
  bool is_transposed = false;  // as nn.Linear keeps it: (out, in)
};

/// The arguments with the tensors that a file of --parameters has, as if they had been given one by one, and
/// without --parameters. Nothing changes where the file has none of them and `whose` is empty; otherwise that
/// is an error, which names it: "an nn.LayerNorm".
Arguments with_tensors(const Arguments& arguments, std::span<const PartTensor> tensors,
                       std::string_view whose = {});

/// Throws InputError: a file of parameters does not tell how many heads there are.
[[noreturn]] void fail_without_heads(const std::string& path);

}  // namespace attn
