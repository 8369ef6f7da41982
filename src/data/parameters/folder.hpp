#pragma once

#include <string>

#include "data/parameters/families.hpp"
#include "data/parameters/source.hpp"

namespace attn {

/// Whether a model lies there as a folder.
bool is_folder(const std::string& path);

/// A model as it lies in a folder: what its config.json says, and its parameters by our own names.
struct ModelFolder {
  ModelConfig config;
  ParameterFile file;
};

/// Throws InputError: no config.json, a family that is not read, no file of parameters, and as read_config() and
/// translate() do.
ModelFolder read_model_folder(const std::string& path);

}  // namespace attn
