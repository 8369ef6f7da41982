#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/gguf.hpp"
#include "data/files/json.hpp"
#include "data/files/llama2c.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "data/files/safetensors.hpp"
#include "data/files/torch_file.hpp"
#include "data/parameters/config_in_file.hpp"
#include "data/parameters/source.hpp"

namespace attn {

namespace {

// --- kinds of files

// What the names in a file begin with, for a message about a prefix that fits none.
std::string beginnings_of(const TensorNames& names) {
  constexpr std::size_t few = 10;
  std::set<std::string> beginnings;
  for (const std::string& name : names) beginnings.insert(name.substr(0, name.find('.')));
  const auto end = std::next(beginnings.begin(), static_cast<long>(std::min(few, beginnings.size())));
  return fmt::format("{}{}", fmt::join(beginnings.begin(), end, ", "), beginnings.size() > few ? ", …" : "");
}

ParameterSource open_safetensors(const FileBytes& file, const std::string& where, const std::string& prefix) {
  const std::vector<std::string> names = safetensors_names(file.bytes, where);
  const TensorCells cells = file.holder ? TensorCells::stored : TensorCells::made;
  // The shapes are looked at when the first is asked for, so that a name that is refused is told as such.
  const auto tensors = std::make_shared<std::map<std::string, Safetensor>>();
  return {names_behind(prefix, {names.begin(), names.end()}, where),
          [=, &where](const std::string& name) {
            if (tensors->empty()) {
              for (const bool of_image : {false, true}) {
                const auto is_wanted = [&](const std::string& tensor) {
                  return tensor.starts_with(prefix) && !is_buffer_name(tensor) && is_of_image(tensor) == of_image;
                };
                const std::size_t most = of_image ? most_array_dimensions : 2;
                for (Safetensor& tensor : safetensors_in(file.bytes, where, is_wanted, most, cells))
                  tensors->emplace(tensor.name, tensor);
              }
            }
            return stored_matrix_from(tensors->at(prefix + name), file.holder);
          },
          {}};
}

// A page holds all of its computation: where there are parameters among the names, they alone count.
void keep_parameters(TensorNames& names) {
  if (std::ranges::any_of(names, is_parameter_name)) {
    std::erase_if(names, [](const std::string& name) { return !is_parameter_name(name); });
  }
}

ParameterSource open_npz(const FileBytes& file, const std::string& where, const std::string& prefix) {
  const auto archive = std::make_shared<const NpzArchive>(all_bytes(file, where), where);
  std::map<std::string, std::size_t> places;
  TensorNames names;
  for (std::size_t i = 0; i < archive->names().size(); ++i) {
    const std::string& name = archive->names()[i];
    if (!places.emplace(name, i).second) {
      fail("{} has two arrays named {}: leave out one of them", where, name_in_quotes(name));
    }
    names.insert(name);
  }
  names = names_behind(prefix, names, where);
  keep_parameters(names);
  archive->require_room(
      [&](const std::string& name) { return name.starts_with(prefix) && names.contains(name.substr(prefix.size())); });
  return {std::move(names),
          [file, archive, prefix, places = std::move(places)](const std::string& name) {
            return archive->read(places.at(prefix + name)).matrix;
          },
          {}};
}

ParameterSource open_torch(const FileBytes& file, const std::string& where, const std::string& prefix) {
  const auto torch = std::make_shared<const TorchFile>(file, where);
  ParameterSource source{.names = names_behind(prefix, {torch->names().begin(), torch->names().end()}, where),
                         .read = [torch, prefix](const std::string& name) { return torch->read(prefix + name); },
                         .assumed = {}};
  if (!torch->member().empty())
    source.assumed.push_back(
        {&assumed::names,
         fmt::format("the parameters are what the file has under {}, and what is beside it is left out",
                     name_in_quotes(torch->member()))});
  return source;
}

ParameterSource open_gguf(const FileBytes& bytes, const std::string& where, const std::string& prefix) {
  const auto file = std::make_shared<const GgufFile>(read_gguf(bytes.bytes, where));
  const auto tensors = std::make_shared<std::map<std::string, const GgufTensor*, std::less<>>>();
  TensorNames names;
  for (const GgufTensor& tensor : file->tensors) {
    if (!tensors->emplace(tensor.name, &tensor).second)
      fail("{} has two tensors named {}: get the file again", where, name_in_quotes(tensor.name));
    names.emplace(tensor.name);
  }
  return {names_behind(prefix, names, where),
          [=, &where](const std::string& name) {
            return matrix_from(*tensors->at(prefix + name), *file, bytes.holder, where);
          },
          {}};
}

ParameterSource open_llama2c(const FileBytes& bytes, const std::string& where, const std::string& prefix) {
  const auto tensors = std::make_shared<std::map<std::string, Matrix, std::less<>>>();
  TensorNames names;
  for (Llama2cTensor& tensor : llama2c_tensors(bytes, where)) {
    names.insert(tensor.name);
    tensors->emplace(std::move(tensor.name), std::move(tensor.matrix));
  }
  return {names_behind(prefix, names, where),
          [tensors, prefix](const std::string& name) { return tensors->at(prefix + name); },
          {}};
}

// An object in a file, which goes when its last part does.
using SharedJson = std::shared_ptr<const Json>;

ParameterSource source_of_object(const SharedJson& object, const std::string& where, const std::string& prefix) {
  std::map<std::string, const Json*> members;
  TensorNames names;
  for (const auto& [name, value] : object->items()) {
    members.emplace(name, &value);
    names.insert(name);
  }
  return {names_behind(prefix, names, where),
          [object, prefix, members = std::move(members), &where](const std::string& name) {
            return matrix_from_json(*members.at(prefix + name), fmt::format("{}:{}", where, prefix + name)).matrix;
          },
          {}};
}

ParameterSource open_json(const FileBytes& bytes, const std::string& where, const std::string& prefix) {
  const auto file = std::make_shared<const Json>(parse_json(all_bytes(bytes, where), where));
  if (!file->is_object()) {
    fail("{} is not an object of matrices by name: write it like {{\"w_q\": [[1, 0], [0, 1]]}}", where);
  }
  for (const char* home : {"arrays", "problem"}) {
    const auto found = file->find(home);
    if (found == file->end() || !found->is_object()) continue;
    ParameterSource source = source_of_object(SharedJson(file, &*found), where, prefix);
    keep_parameters(source.names);
    if (std::ranges::any_of(source.names, is_parameter_name)) return source;
  }
  return source_of_object(file, where, prefix);
}

constexpr ParameterKind kinds_of_parameter_files[] = {
    {"safetensors", open_safetensors},
    {"pt", open_torch, is_torch_file},
    {"gguf", open_gguf, is_gguf, config_from_gguf},
    {"llama2.c", open_llama2c, is_llama2c, config_from_llama2c},
    {"npz", open_npz},
    {"json", open_json},
};

}  // namespace

// --- kinds of files

TensorNames names_behind(const std::string& prefix, const TensorNames& names, const std::string& where) {
  TensorNames rest;
  for (auto name = names.lower_bound(prefix); name != names.end() && name->starts_with(prefix); ++name) {
    if (!is_buffer_name(*name)) rest.insert(name->substr(prefix.size()));
  }
  if (rest.empty() && !prefix.empty()) {
    fail("‹prefix›: no name in {} begins with '{}'. The names begin with: {}", where, prefix, beginnings_of(names));
  }
  return rest;
}

std::span<const ParameterKind> parameter_kinds() { return kinds_of_parameter_files; }

}  // namespace attn
