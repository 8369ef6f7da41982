#include "data/parameters/shards.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/file_access.hpp"
#include "data/files/files_of_folder.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/parameters/folder.hpp"

namespace attn {

namespace {

// --- one file

const ParameterKind& kind_of_parameters(const std::string& path, const FileBytes& file, const std::string& where) {
  for (const ParameterKind& kind : parameter_kinds()) {
    if (kind.is_such && kind.is_such(file.bytes)) return kind;
  }
  if (const ParameterKind* kind = find_row(parameter_kinds(), kind_of_file(path, file.bytes))) return *kind;
  fail(
      "{} is of no kind that is read as parameters: give a .safetensors, .npz or .json file, or a state dictionary of PyTorch, saved with torch.save",
      where);
}

ParameterSource open_one(const std::string& path, const std::string& where, const std::string& prefix) {
  const FileBytes file = map_file(path);
  const ParameterKind& kind = kind_of_parameters(path, file, where);
  if (kind.describe) fail("{} is a whole model, and says itself how it computes: give it by ‹model›", where);
  return kind.open(file, where, prefix);
}

// --- several files

constexpr std::string_view index_ending = ".index.json";

// Which tensor is in which file, as an index says it (`weight_map`).
using FileOfTensor = std::map<std::string, std::string, std::less<>>;

FileOfTensor read_index(const std::string& path) {
  const Json index = parse_json(read_bytes(path), path);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object() || map->empty())
    fail("{} has no \"weight_map\", which says which tensor is in which file: save the model again", path);
  FileOfTensor files;
  for (const auto& [tensor, value] : map->items()) {
    const std::string file = string_of({value, fmt::format("{}: {}", path, name_in_quotes(tensor))});
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos)
      fail("{}: it names the file {}, and an index names only files beside it: save the model again", path,
           name_in_quotes(file));
    files.emplace(tensor, file);
  }
  return files;
}

// Files that are read as one.
struct Shards {
  std::map<std::string, std::string, std::less<>> paths;  // by their names in the index
  std::map<std::string, ParameterSource, std::less<>> files;
  std::map<std::string, const ParameterSource*, std::less<>> of_tensor;  // by its name behind the prefix
};

// Of files without a tensor behind the prefix nothing is read.
ParameterSource open_several(const std::string& index, const std::string& where, const std::string& prefix) {
  const auto shards = std::make_shared<Shards>();
  TensorNames names;
  const FileOfTensor files = read_index(index);
  for (const auto& [tensor, file] : files) names.insert(tensor);
  ParameterSource source{.names = names_behind(prefix, names, where), .read = {}, .assumed = {}};
  for (const auto& [tensor, file] : files) {
    if (!tensor.starts_with(prefix) || !source.names.contains(tensor.substr(prefix.size()))) continue;
    const std::string rest = tensor.substr(prefix.size());
    if (!shards->files.contains(file)) {
      const std::string folder = std::filesystem::path(index).parent_path().string();
      const std::string path = path_in(folder, file);
      const auto place = shards->paths.emplace(file, path).first;
      if (!has_file(folder, file))
        fail("{} names the file {}, which is not there: put it beside the index", index, path);
      shards->files.emplace(file, open_one(path, place->second, prefix));
    }
    const ParameterSource& there = shards->files.find(file)->second;
    if (!there.names.contains(rest))
      fail("{} says that {} is in {}, and it is not: give the files of one model", index, name_in_quotes(tensor),
           shards->paths.at(file));
    shards->of_tensor.emplace(rest, &there);
  }
  source.read = [shards](const std::string& name) { return shards->of_tensor.at(name)->read(name); };
  return source;
}

// --- a folder

// The files of parameters in a folder, in the order in which they are looked for.
struct FileInFolder {
  std::string_view name;
  bool is_index = false;
};
constexpr FileInFolder files_in_folders[] = {
    {"model.safetensors"},
    {"model.safetensors.index.json", true},
    {"pytorch_model.bin"},
    {"pytorch_model.bin.index.json", true},
};

ParameterSource open_files_of_folder(const std::string& folder, const std::string& where, const std::string& prefix) {
  for (const auto& [name, is_index] : files_in_folders) {
    if (!has_file(folder, name)) continue;
    const std::string path = path_in(folder, name);
    // The place of a source outlives it.
    const auto place = std::make_shared<const std::string>(path);
    ParameterSource source = is_index ? open_several(path, *place, prefix) : open_one(path, *place, prefix);
    source.read = [place, read = std::move(source.read)](const std::string& tensor) { return read(tensor); };
    return source;
  }
  std::vector<std::string> names;
  for (const FileInFolder& file : files_in_folders) names.emplace_back(file.name);
  fail("{} has no file of parameters: one of {} should be there", where, list_in_words(names));
}

// How many files the model has of which this is one, by its name: model-00001-of-00003.safetensors.
std::optional<std::size_t> count_of_files(const std::string& path) {
  constexpr std::size_t digits = 5;
  constexpr std::string_view between = "-of-";
  const std::string stem = std::filesystem::path(path).stem().string();
  if (stem.size() < 2 * digits + between.size() + 1) return std::nullopt;
  const std::string_view end = std::string_view(stem).substr(stem.size() - 2 * digits - between.size() - 1);
  if (end[0] != '-' || end.substr(1 + digits, between.size()) != between) return std::nullopt;
  const std::string_view number = end.substr(1, digits), count = end.substr(end.size() - digits);
  if (!std::ranges::all_of(number, is_digit) || !std::ranges::all_of(count, is_digit)) return std::nullopt;
  std::size_t files = 0;
  for (const char digit : count) files = 10 * files + static_cast<std::size_t>(digit - '0');
  return files > 1 ? std::optional(files) : std::nullopt;
}

}  // namespace

void refuse_one_of_several(const std::string& path) {
  const std::optional<std::size_t> count = count_of_files(path);
  if (count) fail("{} is one of the {} files of a model: give the folder with all of them", path, *count);
}

ParameterSource open_parameters(const std::string& path, const std::string& where, const std::string& prefix) {
  if (is_folder(path)) return open_files_of_folder(path, where, prefix);
  if (path.ends_with(index_ending)) return open_several(path, where, prefix);
  if (prefix.empty() && file_exists(path)) refuse_one_of_several(path);
  return open_one(path, where, prefix);
}

}  // namespace attn
