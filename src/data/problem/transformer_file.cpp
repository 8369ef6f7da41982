#include "data/problem/model_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/math/stored_matrix.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/file_access.hpp"
#include "data/files/json.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/safetensors.hpp"
#include "data/parameters/agreement.hpp"
#include "data/parameters/folder.hpp"
#include "data/parameters/shards.hpp"
#include "data/parameters/source.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "data/tokenizer/characters.hpp"

namespace attn {

namespace {

// A member as a field of a recipe takes it.
FieldValue field_value(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return std::string_view(value.get_ref<const std::string&>());
  return {};
}

// The member that it is taken from; a whole number has no point.
Json json_of(const FieldValue& value) {
  if (const bool* const is = std::get_if<bool>(&value)) return *is;
  if (const double* const number = std::get_if<double>(&value)) return Json::parse(fmt::format("{}", *number));
  return std::get<std::string_view>(value);
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

std::size_t heads_of(const JsonMember& member) {
  constexpr std::uint64_t most = 65536;
  if (!member.value.is_number_unsigned() || member.value.get<std::uint64_t>() < 1 ||
      member.value.get<std::uint64_t>() > most) {
    fail("{} must be a whole number from 1 to {}", member.place, most);
  }
  return member.value.get<std::size_t>();
}

// A member of a model file, and where in the file it goes.
struct TransformerMember {
  std::string_view name;
  void (*take)(TransformerFile& file, const JsonMember& member);
};

constexpr TransformerMember members_of_transformer[] = {
    {"title", [](TransformerFile& file, const JsonMember& member) { file.model.title = string_of(member); }},
    {"summary", [](TransformerFile& file, const JsonMember& member) { file.model.summary = string_of(member); }},
    {"about", [](TransformerFile& file, const JsonMember& member) { file.model.about = strings_of(member); }},
    {"heads", [](TransformerFile& file, const JsonMember& member) { file.model.sizes.heads = heads_of(member); }},
    {"source_vocabulary",
     [](TransformerFile& file, const JsonMember& member) {
       file.model.source_vocabulary = different_strings_of(member);
     }},
    {"target_vocabulary",
     [](TransformerFile& file, const JsonMember& member) {
       file.model.target_vocabulary = different_strings_of(member);
     }},
    {"characters",
     [](TransformerFile& file, const JsonMember& member) {
       file.words.tokenizer = character_tokenizer(string_of(member), member.place);
     }},
    {"tokenizer",
     [](TransformerFile& file, const JsonMember& member) {
       file.words.tokenizer = tokenizer_from_json(string_of(member), member.place, KeptText::yes);
     }},
    {"source", [](TransformerFile& file, const JsonMember& member) { file.source = string_of(member); }},
    {"target", [](TransformerFile& file, const JsonMember& member) { file.target = string_of(member); }},
};

// The words of a model with a tokenizer are its pieces.
void take_pieces(TransformerFile& file, const std::string& where) {
  file.words = words_of_tokenizer(file.words.tokenizer, file.words.tokenizer->size(), where);
  for (const Vocabulary* vocabulary : {&file.model.source_vocabulary, &file.model.target_vocabulary}) {
    if (!vocabulary->empty() && *vocabulary != *file.words.pieces)
      fail("{}: its vocabulary has other words than its tokenizer has pieces: give a file that attn train saved",
           where);
  }
}

// All but the parameters.
TransformerFile transformer_from(const Json& file, const std::string& where) {
  if (!file.is_object()) fail("{}: a model must be a JSON object with \"parameters\"", where);
  TransformerFile result;
  result.model.sizes.heads = 1;
  std::vector<std::string> names = names_of(std::span<const TransformerMember>(members_of_transformer));
  for (const RecipeField* field : recipe_fields()) names.emplace_back(field->name);
  names.emplace_back("parameters");
  for (const auto& [name, value] : file.items()) {
    if (name == "parameters") continue;
    const JsonMember given{value, fmt::format("{}: \"{}\"", where, name)};
    if (const RecipeField* field = find_recipe_field(name)) {
      field->take(result.model.recipe, field_value(value), given.place);
      continue;
    }
    const TransformerMember* member = find_row(std::span<const TransformerMember>(members_of_transformer), name);
    if (!member) fail("{}: {}", where, unknown("member", name, names));
    member->take(result, given);
  }
  if (result.words.tokenizer) take_pieces(result, where);
  if (!file.contains("heads"))
    result.assumed.push_back({&assumed::model, "each attention has 1 head: the file does not say it"});
  for (const RecipeField* field : recipe_fields()) {
    if (field->is_rare || file.contains(std::string(field->name))) continue;
    result.assumed.push_back({&assumed::model, fmt::format("{} {}: the file does not say it", field->of_what,
                                                           field->told(result.model.recipe))});
  }
  return result;
}

TransformerFile with_parameters(TransformerFile file, const ParameterSource& source, const std::string& where) {
  ParameterFile parameters = translate(source, where);
  take_parameters(file.model, std::move(parameters.parameters), where);
  return file;
}

constexpr std::string_view usual_text = "The cat sat on the mat.";

// Words become the pieces of a tokenizer.
void take_tokenizer(TransformerFile& file, std::shared_ptr<const Tokenizer> tokenizer, const std::string& where) {
  Transformer& model = file.model;
  const bool encodes = model.kind->encodes;
  Vocabulary& own = encodes ? model.source_vocabulary : model.target_vocabulary;
  file.words = words_of_tokenizer(std::move(tokenizer), own.size(), where);
  own = *file.words.pieces;
  if (encodes && !model.target_vocabulary.empty()) model.target_vocabulary = own;
  (encodes ? file.source : file.target) = usual_text;
}

// Whether the words of a model are ids, so that a tokenizer can give them. It may have none: it takes vectors.
bool has_ids(const Transformer& model) {
  return are_token_ids(model.kind->encodes ? model.source_vocabulary : model.target_vocabulary);
}

// The words are the pieces of the tokenizer that is given, or of the model's own. Without one they are ids of tokens.
void take_words(TransformerFile& file, const ModelConfig& config, const std::string& path,
                const std::optional<std::string>& given) {
  const Transformer& model = file.model;
  const bool encodes = model.kind->encodes, decodes = model.kind->decodes;
  if (given && !has_ids(model)) fail("‹tokenizer›: the model {} takes no words: leave it out", path);
  ModelTokenizer found = given ? ModelTokenizer{given_tokenizer(*given), *given} : tokenizer_of_model(path);
  if (found.tokenizer && has_ids(model)) take_tokenizer(file, std::move(found.tokenizer), found.where);
  file.words.unread = std::move(found.unread);
  file.words.begins_alone = !(encodes && decodes);
  const Vocabulary& written = decodes ? model.target_vocabulary : model.source_vocabulary;
  const auto word_of = [&](std::size_t id) { return id < written.size() ? written[id] : std::string(); };
  file.words.start = config.start ? word_of(*config.start) : std::string();
  file.words.ends.clear();
  for (const std::size_t id : config.ends) file.words.ends.push_back(word_of(id));
  if (file.words.ends.empty()) file.words.ends.emplace_back();
}

// Whether a matrix has a number that is another one in the transposed other. Of large ones some rows are compared,
// evenly over all of them.
bool differs_from_transposed(const Matrix& matrix, const Matrix& other) {
  constexpr std::size_t most_compared = std::size_t{1} << 22;
  if (other.shape() != Shape{matrix.shape().columns, matrix.shape().rows}) return true;
  const auto number = [](const Matrix& one, std::size_t i, std::size_t j) {
    return one.stored() ? one.stored()->number(i, j) : one(i, j);
  };
  for (std::size_t i = 0; i < matrix.shape().rows; i += matrix.size() / most_compared + 1) {
    for (std::size_t j = 0; j < matrix.shape().columns; ++j) {
      if (number(matrix, i, j) != number(other, j, i)) return true;
    }
  }
  return false;
}

// An output layer that is the embedding is so whatever else a file has. What else it has is told where it differs.
std::vector<Assumption> leave_out_own_output(ParameterSet& parameters) {
  const auto own = parameters.find(Name({scope::output}, role::w).text());
  if (own == parameters.end()) return {};
  const auto of_target = parameters.find(Name({scope::target_embedding}, role::e).text());
  const auto embedding =
      of_target != parameters.end() ? of_target : parameters.find(Name({scope::source_embedding}, role::e).text());
  const bool differs = embedding != parameters.end() && differs_from_transposed(embedding->second, own->second);
  parameters.erase(own);
  if (!differs) return {};
  return {
      {&assumed::model,
       "the output layer is the embedding, and the matrix of an output layer that the file has beside it, with other "
       "numbers, is left out",
       "if that matrix is meant, set \"tie_word_embeddings\" to false in config.json", true}};
}

// A field that several say has the value of the last one: the layout's, and then the config's.
TransformerFile transformer_in(ModelFolder folder, const std::string& path, const std::optional<std::string>& given) {
  TransformerFile result;
  Transformer& model = result.model;
  for (const std::span<const ImpliedField> brings :
       {folder.file.brings, std::span<const ImpliedField>(folder.config.brings)}) {
    for (const ImpliedField& brought : brings) brought.field->take(model.recipe, brought.value, path);
  }
  model.sizes.heads = folder.config.heads;
  model.sizes.head_size = folder.config.head_size;
  const std::size_t matrices = folder.file.parameters.size();
  std::vector<Assumption> about_output;
  if (model.recipe.tied_output) about_output = leave_out_own_output(folder.file.parameters);
  const auto gate = std::ranges::find(folder.config.brings, &recipe_field::gated, &ImpliedField::field);
  const bool says_gate = gate != folder.config.brings.end();
  take_parameters(model, std::move(folder.file.parameters), path);
  if (says_gate && gate->value != FieldValue(model.recipe.gated))
    fail(
        "{}: config.json says that feed-forward layers are {}, and those of the tensors are {}: give the files of one model",
        path, model.recipe.gated ? "not gated" : "gated", model.recipe.gated ? "gated" : "not gated");
  require_agreement(folder.config, model, path);
  const bool has_output = model.kind->decodes || model.sizes.target_words > 0;
  if (has_output && folder.config.is_tied.value_or(model.recipe.tied_output) != model.recipe.tied_output)
    fail(
        "{}: config.json says that \"tie_word_embeddings\" is {}, and the tensors have {}: give the files of one model",
        path, *folder.config.is_tied,
        model.recipe.tied_output ? "no output layer of its own" : "an output layer that differs from the embedding");
  model.title = fmt::format("{} of {}", folder.config.family->title, path);
  take_words(result, folder.config, path, given);
  std::vector<Assumption> assumed = std::move(folder.file.assumed);
  std::ranges::move(about_output, std::back_inserter(assumed));
  std::ranges::move(assumed_of_keys(folder.config.keys), std::back_inserter(assumed));
  InputReports::tell({"model", path, count_of(matrices, "matrix", "matrices"), std::move(assumed)});
  return result;
}

// Characters by themselves, or all that a tokenizer was made from.
void describe(const Tokenizer& tokenizer, Json& described) {
  if (!tokenizer.written().empty()) {
    described["tokenizer"] = tokenizer.written();
    return;
  }
  std::string characters;
  for (std::size_t id = 0; id < tokenizer.size(); ++id) characters += tokenizer.piece(id);
  described["characters"] = characters;
}

}  // namespace

TransformerFile read_transformer(const FileBytes& model, const std::string& where) {
  if (is_safetensors(model.bytes)) {
    const Json described = description_in(model.bytes, model_type::transformer, where);
    return with_parameters(transformer_from(described, where), learned_matrices(model, where), where);
  }
  const std::string_view bytes = all_bytes(model, where);
  if (const std::string_view kind = kind_of_file(where, bytes); kind == "npz" || kind == "npy") {
    fail(
        "{} is a .{} file, which has no words: give a JSON file, or a file that attn train saved; parameters alone are given by ‹parameters›",
        where, kind);
  }
  const Json file = parse_json(bytes, where);
  TransformerFile result = transformer_from(file, where);
  if (!file.contains("parameters"))
    fail("{}: \"parameters\" is missing: give the matrices of the model by name", where);
  return with_parameters(std::move(result), source_of(file["parameters"], where), where);
}

TransformerFile read_model(const std::string& name_or_path, const std::optional<std::string>& tokenizer) {
  const auto refuse_tokenizer = [&] {
    fail("‹tokenizer›: the model {} has words of its own: leave it out", name_or_path);
  };
  if (const ModelExample* example = find_built_in(name_or_path)) {
    if (tokenizer) refuse_tokenizer();
    return read_transformer(example->bytes, std::string(example->name));
  }
  if (is_folder(name_or_path)) return transformer_in(read_model_folder(name_or_path), name_or_path, tokenizer);
  if (is_name_of_model(name_or_path) && !file_exists(name_or_path))
    fail("{}, or give a file or a folder that is there", unknown("model", name_or_path, names_of(model_examples())));
  refuse_one_of_several(name_or_path);
  if (std::optional<ModelFolder> model = read_model_in_file(name_or_path))
    return transformer_in(std::move(*model), name_or_path, tokenizer);
  TransformerFile file = read_transformer(map_file(name_or_path), name_or_path);
  if (tokenizer && !has_ids(file.model)) refuse_tokenizer();
  if (tokenizer) take_tokenizer(file, given_tokenizer(*tokenizer), *tokenizer);
  InputReports::tell(
      {"model", name_or_path, count_of(file.model.parameters.size(), "matrix", "matrices"), file.assumed});
  return file;
}

std::string pointer_to_trained(std::string_view command, const std::function<bool(const Transformer&)>& fits,
                               std::string_view more) {
  for (const ModelExample& example : model_examples()) {
    if (!is_trained(example) || !fits(read_transformer(example.bytes, std::string(example.name)).model)) continue;
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
  for (const RecipeField* field : recipe_fields()) {
    if (field->is_rare && field->value(model.recipe) == field->value(ModelRecipe())) continue;
    described[std::string(field->name)] = json_of(field->value(model.recipe));
  }
  described["source_vocabulary"] = model.source_vocabulary;
  described["target_vocabulary"] = model.target_vocabulary;
  if (file.words.tokenizer) describe(*file.words.tokenizer, described);
  described["source"] = file.source;
  described["target"] = file.target;
  return {{std::string(model_type::transformer.metadata), described.dump()}};
}

}  // namespace attn
