#include "problem/transformer_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "files/json.hpp"
#include "parameters/transformer_parameters.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

std::string string_of(const Json& value, std::string_view member, const std::string& where) {
  if (!value.is_string()) fail("{}: \"{}\" must be a string", where, member);
  return value.get<std::string>();
}

std::vector<std::string> strings_of(const Json& value, std::string_view member, const std::string& where) {
  if (!value.is_array()) fail("{}: \"{}\" must be a list of strings", where, member);
  std::vector<std::string> strings;
  for (const Json& item : value) strings.push_back(string_of(item, member, where));
  return strings;
}

std::vector<std::string> vocabulary_of(const Json& value, std::string_view member, const std::string& where) {
  std::vector<std::string> words = strings_of(value, member, where);
  std::unordered_set<std::string_view> seen;
  for (const std::string& word : words) {
    if (!seen.insert(word).second)
      fail("{}: \"{}\" has '{}' twice: give every word once", where, member, word);
  }
  return words;
}

ParameterSet parameters_of(const Json& value, const std::string& where) {
  if (!value.is_object()) fail("{}: \"parameters\" must be an object of matrices by name", where);
  ParameterSet parameters;
  for (const auto& [name, cells] : value.items()) {
    Matrix matrix = matrix_from_json(cells, fmt::format("{}: \"{}\"", where, name)).matrix;
    if (!std::ranges::all_of(attn::cells(matrix), [](double cell) { return std::isfinite(cell); })) {
      fail("{}: \"{}\" has a number that is not finite: every number must be finite", where, name);
    }
    parameters.emplace(name, std::move(matrix));
  }
  return parameters;
}

// A member of a model file, and what is done with it.
struct Member {
  std::string_view name;
  void (*take)(TransformerFile& file, const Json& value, const std::string& where);
};

constexpr Member members[] = {
    {"title", [](TransformerFile& file, const Json& value,
                 const std::string& where) { file.model.title = string_of(value, "title", where); }},
    {"summary", [](TransformerFile& file, const Json& value,
                   const std::string& where) { file.model.summary = string_of(value, "summary", where); }},
    {"about", [](TransformerFile& file, const Json& value,
                 const std::string& where) { file.model.about = strings_of(value, "about", where); }},
    {"heads",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       constexpr std::uint64_t most = 65536;
       if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
           value.get<std::uint64_t>() > most) {
         fail("{}: \"heads\" must be a whole number from 1 to {}", where, most);
       }
       file.model.sizes.heads = value.get<std::size_t>();
     }},
    {"norm",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.norm = &look_up(norm_placements(), string_of(value, "norm", where), "placement of norms");
     }},
    {"positions",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       const std::string name = string_of(value, "positions", where);
       file.model.positions = look_up(position_kinds(), name, "kind of positions").name;
     }},
    {"scale_embeddings",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       if (!value.is_boolean()) fail("{}: \"scale_embeddings\" must be true or false", where);
       file.model.scale_embeddings = value.get<bool>();
     }},
    {"source_vocabulary",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.source_vocabulary = vocabulary_of(value, "source_vocabulary", where);
     }},
    {"target_vocabulary",
     [](TransformerFile& file, const Json& value, const std::string& where) {
       file.model.target_vocabulary = vocabulary_of(value, "target_vocabulary", where);
     }},
    {"source", [](TransformerFile& file, const Json& value,
                  const std::string& where) { file.source = string_of(value, "source", where); }},
    {"target", [](TransformerFile& file, const Json& value,
                  const std::string& where) { file.target = string_of(value, "target", where); }},
};

}  // namespace

TransformerFile read_transformer(std::string_view json, const std::string& where) {
  const Json file = parse_json(json, where);
  if (!file.is_object()) fail("{}: a model must be a JSON object with \"parameters\"", where);
  TransformerFile result;
  result.model.norm = &norm_placements().front();
  result.model.sizes.heads = 1;
  std::vector<std::string> names = names_of(std::span<const Member>(members));
  names.emplace_back("parameters");
  for (const auto& [name, value] : file.items()) {
    if (name == "parameters") continue;
    const Member* member = find_row(std::span<const Member>(members), name);
    if (!member) fail("{}: {}", where, unknown("member", name, names));
    member->take(result, value, where);
  }
  if (!file.contains("parameters"))
    fail("{}: \"parameters\" is missing: give the matrices of the model by name", where);
  take_parameters(result.model, parameters_of(file["parameters"], where), where);
  return result;
}

}  // namespace attn
