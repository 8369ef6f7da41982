#include "data/parameters/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/opened.hpp"

namespace attn {

bool is_folder(const std::string& path) {
  std::error_code none;
  return path != "-" && std::filesystem::is_directory(place_of(path), none);
}

namespace {

// The names decide how the tensors are translated, and the config which names there may be.
void require_layout(const ModelFamily& family, const ParameterFile& file, const std::string& path) {
  if (std::ranges::find(family.layouts, file.layout) != family.layouts.end()) return;
  fail("{}: config.json says {}, and the tensors have the names of {}: give the files of one model", path, family.title,
       file.layout);
}

}  // namespace

ModelFolder read_model_folder(const std::string& path) {
  const auto within = [&](std::string_view name) { return (std::filesystem::path(path) / name).string(); };
  const std::string config = within("config.json");
  if (!is_there(config))
    fail("{} has no config.json, which says how the model computes: give the folder of a model", path);
  ModelFolder folder{.config = read_config(read_bytes(config), config), .file = {}};
  folder.file = read_parameters(within("model.safetensors"), "", folder.config.heads);
  require_layout(*folder.config.family, folder.file, path);
  return folder;
}

}  // namespace attn
