#pragma once

#include "command/command.hpp"
#include "model/transformer.hpp"

namespace attn {

/// The file that --save-parameters asks for, or none. Throws InputError for another ending than .safetensors
/// and .npz.
std::vector<FileToWrite> saved_parameters(const Arguments& arguments, const Transformer& model);

}  // namespace attn
