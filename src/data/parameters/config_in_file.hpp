#pragma once

#include <string>
#include <string_view>

#include "data/parameters/config.hpp"

namespace attn {

// What files of parameters say themselves of how their models compute, where no config.json lies beside them.

/// By the metadata of a .gguf file. Throws InputError: a family that is not read, which it names, or as read_config().
ModelConfig config_from_gguf(std::string_view bytes, const std::string& where);

/// By the sizes of a file of llama2.c; its models are those of the family Llama, rotated in pairs.
ModelConfig config_from_llama2c(std::string_view bytes, const std::string& where);

}  // namespace attn
