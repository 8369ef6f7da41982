#pragma once

#include <optional>
#include <string>

#include "data/parameters/config.hpp"
#include "data/parameters/source.hpp"

namespace attn {

/// Whether a folder lies there, and whether it has a config.json.
bool is_folder(const std::string& path);
bool is_model_folder(const std::string& path);

/// A model as it lies in a folder or in one file: what its config says, and its parameters by our own names.
struct ModelFolder {
  ModelConfig config;
  ParameterFile file;
};

/// A model that is one file, which says itself how it computes; nothing: it does not. Throws InputError as below.
std::optional<ModelFolder> read_model_in_file(const std::string& path);

/// Throws InputError: no config.json, a family that is not read, no file of parameters, and as read_config() and
/// translate() do.
ModelFolder read_model_folder(const std::string& path);

}  // namespace attn
