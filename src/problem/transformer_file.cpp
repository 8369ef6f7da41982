#include "problem/transformer_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unordered_set>

#include "files/json.hpp"
#include "files/matrix_file.hpp"
#include "parameters/source.hpp"
#include "parameters/transformer_parameters.hpp"
#include "parameters/translate.hpp"
#include "problem/model_file.hpp"
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

namespace {

// All but the parameters.
TransformerFile file_of(const Json& file, const std::string& where) {
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
  return result;
}

TransformerFile with_parameters(TransformerFile file, const ParameterSource& source,
                                const std::string& where) {
  ParameterFile parameters = translate(source, where);
  take_parameters(file.model, std::move(parameters.parameters), where);
  return file;
}

}  // namespace

TransformerFile read_transformer(std::string_view bytes, const std::string& where) {
  if (is_safetensors(bytes)) {
    const Json described = description_in(bytes, model_type::transformer, where);
    return with_parameters(file_of(described, where), learned_matrices(bytes, where), where);
  }
  const Json file = parse_json(bytes, where);
  TransformerFile result = file_of(file, where);
  if (!file.contains("parameters"))
    fail("{}: \"parameters\" is missing: give the matrices of the model by name", where);
  return with_parameters(std::move(result), source_of(file["parameters"], where), where);
}

TransformerFile read_model(const std::string& name_or_path) {
  if (const ModelExample* example = find_built_in(name_or_path))
    return read_transformer(example->bytes, std::string(example->name));
  if (is_name_of_model(name_or_path)) fail_unknown("model", name_or_path, names_of(model_examples()));
  return read_transformer(read_bytes(name_or_path), name_or_path);
}

std::string pointer_to_trained(std::string_view command, const std::function<bool(const Transformer&)>& fits,
                               std::string_view more) {
  for (const ModelExample& example : model_examples()) {
    if (!is_trained(example) || !fits(read_transformer(example.bytes, std::string(example.name)).model))
      continue;
    return fmt::format(" For trained numbers: attn {} --model {}{}.", command, example.name, more);
  }
  return "";
}

SafetensorsMetadata metadata_of(const TransformerFile& file) {
  const Transformer& model = file.model;
  Json described = Json::object();
  described["title"] = model.title;
  described["summary"] = model.summary;
  described["about"] = model.about;
  described["heads"] = model.sizes.heads;
  for (const RecipeField& field : recipe_fields()) {
    const std::string text = field.written(model.recipe);
    described[std::string(field.name)] =
        field.kind == RecipeField::Kind::choice ? Json(text) : Json::parse(text);
  }
  described["source_vocabulary"] = model.source_vocabulary;
  described["target_vocabulary"] = model.target_vocabulary;
  described["source"] = file.source;
  described["target"] = file.target;
  return {{std::string(model_type::transformer.metadata), described.dump()}};
}

}  // namespace attn
