#include "data/parameters/source.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "data/files/cell.hpp"
#include "data/files/npz.hpp"
#include "data/files/safetensors.hpp"
#include "data/json.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

ParameterSource open_safetensors(std::string_view bytes, const std::string& where) {
  const std::vector<std::string> names = safetensors_names(bytes, where);
  // The shapes are looked at when the first is asked for, so that a name that is refused is told as such.
  const auto tensors = std::make_shared<std::map<std::string, Safetensor>>();
  return {{names.begin(), names.end()}, [=, &where](const std::string& name) {
            if (tensors->empty()) {
              for (Safetensor& tensor : safetensors_in(bytes, where)) tensors->emplace(tensor.name, tensor);
            }
            return matrix_from(tensors->at(name));
          }};
}

// A page holds all of its computation: where there are parameters among the names, they alone count.
void keep_parameters(TensorNames& names) {
  if (std::ranges::any_of(names, is_parameter_name)) {
    std::erase_if(names, [](const std::string& name) { return !is_parameter_name(name); });
  }
}

ParameterSource open_npz(std::string_view bytes, const std::string& where) {
  const auto archive = std::make_shared<const NpzArchive>(bytes, where);
  if (archive->names().empty()) {
    fail("{} is an archive without NumPy arrays: save the parameters with numpy.savez, or as .safetensors",
         where);
  }
  std::map<std::string, std::size_t> places;
  TensorNames names;
  for (std::size_t i = 0; i < archive->names().size(); ++i) {
    const std::string& name = archive->names()[i];
    if (!places.emplace(name, i).second) {
      fail("{} holds two arrays named {}: leave one of them out", where, name_in_quotes(name));
    }
    names.insert(name);
  }
  keep_parameters(names);
  return {std::move(names), [archive, places = std::move(places)](const std::string& name) {
            return archive->read(places.at(name)).matrix;
          }};
}

// The members of an object of a file; the file goes when the source does.
ParameterSource source_of(std::shared_ptr<const Json> file, const Json& object, const std::string& where) {
  std::map<std::string, const Json*> members;
  TensorNames names;
  for (const auto& [name, value] : object.items()) {
    members.emplace(name, &value);
    names.insert(name);
  }
  return {std::move(names),
          [file = std::move(file), members = std::move(members), &where](const std::string& name) {
            return matrix_from_json(*members.at(name), fmt::format("{}:{}", where, name)).matrix;
          }};
}

ParameterSource open_json(std::string_view bytes, const std::string& where) {
  const auto file = std::make_shared<const Json>(parse_json(bytes, where));
  if (!file->is_object()) {
    fail("{} is not an object of matrices by name: write it like {{\"w_q\": [[1, 0], [0, 1]]}}", where);
  }
  for (const char* home : {"arrays", "problem"}) {
    const auto found = file->find(home);
    if (found == file->end() || !found->is_object()) continue;
    ParameterSource source = source_of(file, *found, where);
    keep_parameters(source.names);
    if (std::ranges::any_of(source.names, is_parameter_name)) return source;
  }
  return source_of(file, *file, where);
}

constexpr ParameterKind kinds[] = {
    {"safetensors", open_safetensors},
    {"npz", open_npz},
    {"json", open_json},
};

}  // namespace

std::span<const ParameterKind> parameter_kinds() {
  return kinds;
}

}  // namespace attn
