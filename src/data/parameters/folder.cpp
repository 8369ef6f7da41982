#include "data/parameters/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/matrix_file.hpp"
#include "data/parameters/shards.hpp"

namespace attn {

namespace {

constexpr std::string_view name_of_config = "config.json";

// The names decide how the tensors are translated, and the config which names there may be.
void require_layout(const ModelFamily& family, const ParameterFile& file, const std::string& path) {
  if (std::ranges::find(family.layouts, file.layout) != family.layouts.end()) return;
  fail("{}: config.json says {}, and the tensors have the names of {}: give the files of one model", path, family.title,
       file.layout);
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code none;
  return path != "-" && std::filesystem::is_directory(confined_path(path), none);
}

bool is_model_folder(const std::string& path) { return is_folder(path) && file_exists(path_in(path, name_of_config)); }

std::optional<ModelFolder> read_model_in_file(const std::string& path) {
  const std::string where = place_of_file(path);
  const FileBytes bytes = map_file(path);
  const auto describes = [&](const ParameterKind& kind) { return kind.describe && kind.is_such(bytes.bytes); };
  const auto kind = std::ranges::find_if(parameter_kinds(), describes);
  if (kind == parameter_kinds().end()) return std::nullopt;
  ModelFolder model{.config = kind->describe(bytes.bytes, where), .file = {}};
  model.file = translate(kind->open(bytes, where, ""), where);
  return model;
}

ModelFolder read_model_folder(const std::string& path) {
  const std::string config = path_in(path, name_of_config);
  require_open_folder(path);
  if (!has_file(path, name_of_config))
    fail("{} has no config.json, which says how the model computes: give the folder of a model", path);
  ModelFolder folder{.config = read_config(read_bytes(config), config), .file = {}};
  folder.file = translate(open_parameters(path, path, ""), path, folder.config.heads);
  require_layout(*folder.config.family, folder.file, path);
  return folder;
}

}  // namespace attn
