#include "problem/transformer_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unordered_set>

#include "files/json.hpp"
#include "parameters/transformer_parameters.hpp"
#include "parameters/translate.hpp"
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

ParameterSource source_of(const Json& value, const std::string& where) {
  if (!value.is_object()) fail("{}: \"parameters\" must be an object of matrices by name", where);
  ParameterSource source;
  for (const auto& [name, cells] : value.items()) source.names.insert(name);
  source.read = [&](const std::string& name) {
    return matrix_from_json(value[name], fmt::format("{}: \"{}\"", where, name)).matrix;
  };
  return source;
}

// A choice of the recipe: a name, a number, or true or false.
void take_field(ModelRecipe& recipe, const RecipeField& field, const Json& value, const std::string& where) {
  const std::string called = fmt::format("{}: \"{}\"", where, field.name);
  const bool is_number = field.kind == RecipeField::Kind::number;
  if (is_number && !value.is_number()) fail("{} must be a number", called);
  if (field.kind == RecipeField::Kind::flag && !value.is_boolean()) fail("{} must be true or false", called);
  if (field.kind == RecipeField::Kind::choice) string_of(value, field.name, where);
  field.take(recipe, value.is_string() ? value.get<std::string>() : value.dump(), called);
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
  result.model.sizes.heads = 1;
  std::vector<std::string> names = names_of(std::span<const Member>(members));
  for (const RecipeField& field : recipe_fields()) names.emplace_back(field.name);
  names.emplace_back("parameters");
  for (const auto& [name, value] : file.items()) {
    if (name == "parameters") continue;
    if (const RecipeField* field = find_row(recipe_fields(), name)) {
      take_field(result.model.recipe, *field, value, where);
      continue;
    }
    const Member* member = find_row(std::span<const Member>(members), name);
    if (!member) fail("{}: {}", where, unknown("member", name, names));
    member->take(result, value, where);
  }
  if (!file.contains("parameters"))
    fail("{}: \"parameters\" is missing: give the matrices of the model by name", where);
  ParameterFile parameters = translate(source_of(file["parameters"], where), where);
  take_parameters(result.model, std::move(parameters.parameters), where);
  return result;
}

}  // namespace attn
