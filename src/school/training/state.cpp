#include "school/training/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "core/model/schema.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/safetensors.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/model_file.hpp"

namespace attn {

namespace {

constexpr std::string_view metadata_name = "training";

std::string first_moment(const std::string& parameter) { return fmt::format("{}first.{}", training_prefix, parameter); }
std::string second_moment(const std::string& parameter) {
  return fmt::format("{}second.{}", training_prefix, parameter);
}

// --- what a model file says of a trained model

// " --recipe 2017, but norms are pre": the recipe that was named, and what other options changed of it.
std::string recipe_told(const AskedRecipe& asked) {
  if (asked.name.empty()) return "";
  const ModelRecipe named = look_up(named_recipes(), asked.name, "recipe").recipe();
  Words changed;
  for (const RecipeField* field : recipe_fields()) {
    if (field->value(named) != field->value(asked.recipe))
      changed.push_back(fmt::format("{} {}", field->of_what, field->told(asked.recipe)));
  }
  if (named.biases != asked.recipe.biases) changed.emplace_back("there are no biases");
  return fmt::format(" --recipe {}{}{}", asked.name, changed.empty() ? "" : ", but ", fmt::join(changed, " and "));
}

std::string how_it_was_trained(const TrainingState& state, const Task& task) {
  if (state.step == 0) return fmt::format("The parameters are random (seed {}), not trained.", state.options.seed);
  return fmt::format("Trained with attn train {}{}: {} with batches of {} (seed {}).", state.task,
                     state.request.recipe ? recipe_told(*state.request.recipe) : "", count_of(state.step, "step"),
                     count_of(state.options.batch, task.one_sentence), state.options.seed);
}

std::vector<std::string> how_well_it_does(const TrainingState& state, const Task& task) {
  if (state.curve.empty() || state.curve.back().step != state.step) return {};
  const Evaluation& held_out = state.curve.back().held_out;
  if (held_out.words == 0) return {};
  return {fmt::format("On {} that training never saw, {} of {} are right.",
                      count_of(held_out.sentences, task.one_sentence), held_out.right_words,
                      count_of(held_out.words, task.one_word))};
}

SafetensorsMetadata description_of(const TrainingState& state, const Transformer& model) {
  const Task& task = look_up(tasks(), state.task, "task");
  TransformerFile file;
  file.model = model;
  file.model.parameters.clear();
  file.model.about = {how_it_was_trained(state, task)};
  for (std::string& sentence : how_well_it_does(state, task)) file.model.about.push_back(std::move(sentence));
  const TaskSetup setup = set_up(task, state.request);
  file.words = setup.words;
  (model.kind->encodes ? file.source : file.target) = example_of(task, setup);
  return metadata_of(file);
}

SafetensorsMetadata description_of(const TrainingState& state, const EncoderDecoder& model) {
  const Task& task = look_up(tasks(), state.task, "task");
  EncoderDecoderFile file;
  file.title = fmt::format("Trained on {}: {}", task.name, task.summary);
  file.about = how_well_it_does(state, task);
  file.numbers = {how_it_was_trained(state, task)};
  file.cell = model.cell->name;
  file.variant = model.variant->name;
  file.source = task.example;
  file.source_words = model.source_words;
  file.target_words = model.target_words;
  file.features = model.features;
  return metadata_of(file);
}

SafetensorsMetadata description_of(const TrainingState& state) {
  return std::visit([&](const auto& model) { return description_of(state, model); }, state.model);
}

std::vector<WrittenTensor> tensors_of(const TrainedModel& model) {
  std::vector<WrittenTensor> tensors;
  for (const auto& [name, matrix] : matrices_of(model)) {
    const Parameter* const parameter = find_parameter(name_from_text(name).role());
    tensors.push_back({name, matrix.get(), parameter && parameter->is_vector() ? std::size_t{1} : std::size_t{2}});
  }
  return tensors;
}

// --- what goes on, as JSON

Json json_of(const Evaluation& evaluation) {
  return {evaluation.loss, evaluation.words, evaluation.right_words, evaluation.sentences, evaluation.right_sentences};
}

Evaluation evaluation_of(const Json& json) {
  return {.loss = json.at(0).get<double>(),
          .words = json.at(1).get<std::size_t>(),
          .right_words = json.at(2).get<std::size_t>(),
          .sentences = json.at(3).get<std::size_t>(),
          .right_sentences = json.at(4).get<std::size_t>()};
}

Json json_of(const CurvePoint& point) {
  Json json = {{"step", point.step}, {"steps", point.steps},
               {"loss", point.loss}, {"gradient_norm", point.gradient_norm},
               {"rate", point.rate}, {"held_out", json_of(point.held_out)}};
  if (!point.sample.empty()) json["sample"] = point.sample;
  return json;
}

// Throws as a member that is missing does.
std::size_t count_in(const Json& json, const char* name) {
  const Json& value = json.at(name);
  if (!value.is_number_unsigned() || value.get<std::size_t>() > most_steps)
    throw Json::type_error::create(302, "not a count", &value);
  return value.get<std::size_t>();
}

CurvePoint point_of(const Json& json) {
  return {.step = count_in(json, "step"),
          .steps = count_in(json, "steps"),
          .loss = json.at("loss").get<double>(),
          .gradient_norm = json.at("gradient_norm").get<double>(),
          .rate = json.at("rate").get<double>(),
          .held_out = evaluation_of(json.at("held_out")),
          .sample = json.value("sample", "")};
}

// A size that may be asked for, by name.
struct SizeMember {
  const char* name;
  std::optional<std::size_t> SizeChanges::*member;
};
constexpr SizeMember size_members[] = {{"layers", &SizeChanges::layers},
                                       {"heads", &SizeChanges::heads},
                                       {"key_heads", &SizeChanges::key_heads},
                                       {"d_model", &SizeChanges::d_model},
                                       {"d_ff", &SizeChanges::d_ff}};

// --- a text and a recipe that were asked for

Json json_of(const TextWindows& text) {
  const TextSource& from = text.from;
  return {{"name", from.name}, {"text", from.text}, {"subwords", from.subwords}, {"window", from.window}};
}

std::shared_ptr<const TextWindows> text_of(const Json& json) {
  return windows_of({.name = json.at("name").get<std::string>(),
                     .text = json.at("text").get<std::string>(),
                     .subwords = count_in(json, "subwords"),
                     .window = count_in(json, "window")});
}

// What it chooses is told of the model.
Json json_of(const AskedRecipe& asked) { return {{"name", asked.name}, {"biases", asked.recipe.biases}}; }

AskedRecipe asked_recipe_of(const Json& json, const std::string& where) {
  AskedRecipe asked{.name = json.at("name").get<std::string>()};
  if (!asked.name.empty()) look_up(named_recipes(), asked.name, "recipe", where);
  asked.recipe.biases = json.at("biases").get<bool>();
  return asked;
}

Json json_of(const TrainingState& state) {
  Json json = {{"task", state.task}, {"step", state.step}};
  for (const TrainingField& field : training_fields())
    json["options"][std::string(field.name)] = field.told(state.options);
  for (const SizeMember& size : size_members) {
    if (const std::optional<std::size_t> value = state.request.sizes.*size.member) json["sizes"][size.name] = *value;
  }
  if (!state.request.variant.empty()) json["variant"] = state.request.variant;
  for (const TextPair& pair : state.request.pairs) json["pairs"].push_back({pair.source, pair.target});
  if (state.request.text) json["text"] = json_of(*state.request.text);
  if (state.request.recipe) json["recipe"] = json_of(*state.request.recipe);
  json["generator"] = state.generator;
  json["curve"] = Json::array();
  for (const CurvePoint& point : state.curve) json["curve"].push_back(json_of(point));
  json["next"] = json_of(state.next);
  return json;
}

bool is_generator(const std::string& text) {
  Generator generator;
  std::istringstream stream(text);
  return static_cast<bool>(stream >> generator);
}

TrainingState state_of(const Json& json, const std::string& where) {
  TrainingState state{.task = json.at("task").get<std::string>()};
  state.step = count_in(json, "step");
  for (const auto& [name, value] : json.at("options").items()) {
    const TrainingField& field = look_up(training_fields(), name, "option of training");
    field.take(state.options, value.get<std::string>(), fmt::format("{}: {}", where, name));
  }
  for (const SizeMember& size : size_members) {
    if (json.contains("sizes") && json["sizes"].contains(size.name))
      state.request.sizes.*size.member = count_in(json["sizes"], size.name);
  }
  state.request.variant = json.value("variant", "");
  if (json.contains("pairs")) {
    for (const Json& pair : json["pairs"])
      state.request.pairs.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  }
  if (json.contains("text")) state.request.text = text_of(json["text"]);
  if (json.contains("recipe")) state.request.recipe = asked_recipe_of(json["recipe"], where);
  state.generator = json.at("generator").get<std::string>();
  for (const Json& point : json.at("curve")) state.curve.push_back(point_of(point));
  state.next = point_of(json.at("next"));
  return state;
}

// --- reading

TrainedModel model_in(std::string_view bytes, const SafetensorsMetadata& metadata, const std::string& where) {
  if (metadata.contains(model_type::transformer.metadata)) return read_transformer(bytes, where).model;
  const EncoderDecoderFile file = read_encoder_decoder(bytes, where);
  return encoder_decoder_of(file, look_up(alignment_variants(), file.variant, "variant"),
                            look_up(recurrences(), file.cell, "cell"));
}

void take_moments(TrainingState& state, std::string_view bytes, const std::string& where) {
  std::map<std::string, Safetensor, std::less<>> tensors;
  for (Safetensor& tensor :
       safetensors_in(bytes, where, [](const std::string& name) { return name.starts_with(training_prefix); }))
    tensors.emplace(tensor.name, tensor);
  const auto moment = [&](const std::string& name, Shape shape, bool may_be_negative) {
    const auto found = tensors.find(name);
    if (found == tensors.end() || found->second.shape != shape)
      fail("{} has no {} ({}), which training needs to go on: give a file that attn train saved", where,
           name_in_quotes(name), to_string(shape));
    Matrix matrix = matrix_from(found->second);
    const auto is_right = [&](double x) { return std::isfinite(x) && (may_be_negative || x >= 0.0); };
    if (!std::ranges::all_of(cells(std::as_const(matrix)), is_right))
      fail("{}: {} has a number that no average has: give a file that attn train saved", where, name_in_quotes(name));
    return matrix;
  };
  for (const auto& [name, matrix] : matrices_of(state.model)) {
    const Shape shape = matrix->shape();
    state.moments.emplace(name,
                          Moments{moment(first_moment(name), shape, true), moment(second_moment(name), shape, false)});
  }
}

// Sizes that no tensor tells are said twice, by the state and by the description of the model.
void require_same_sizes(const TrainingState& state, const TaskSetup& setup, const TrainedModel& read,
                        const std::string& where) {
  const auto require = [&](std::string_view size, std::size_t said, std::size_t is) {
    if (said != is)
      fail(
          "{}: its state of training says that {} is {}, and that of the model is {}: give a file that attn train saved",
          where, size, said, is);
  };
  require("d_model", state.options.d_model, setup.defaults.d_model);
  const auto *const ours = std::get_if<Transformer>(&setup.model), *const theirs = std::get_if<Transformer>(&read);
  if (!ours || !theirs) return;
  const auto key_heads = [](const TransformerSizes& sizes) {
    return sizes.key_heads == 0 ? sizes.heads : sizes.key_heads;
  };
  require("the number of heads", ours->sizes.heads, theirs->sizes.heads);
  require("the number of heads of keys and values", key_heads(ours->sizes), key_heads(theirs->sizes));
}

// Of the file's model only the numbers count: how it computes and its words are the task's, which may have
// changed since the file was written.
void take_model(TrainingState& state, const TrainedModel& read, const std::string& where) {
  TaskSetup setup = set_up(look_up(tasks(), state.task, "task"), state.request);
  TrainedModel& expected = setup.model;
  const std::vector<ParameterShape> shapes = parameters_of(expected);
  const ModelParameters& there = matrices_of(read);
  const bool fits = there.size() == shapes.size() && std::ranges::all_of(shapes, [&](const ParameterShape& one) {
                      const auto found = there.find(one.name);
                      return found != there.end() && found->second->shape() == one.shape;
                    });
  if (!fits)
    fail("{} has other parameters than the task {} has now: train it anew, without --resume", where, state.task);
  require_same_sizes(state, setup, read, where);
  std::visit([&](auto& model) { model.parameters = there; }, expected);
  state.model = std::move(expected);
}

}  // namespace

void write_state(const TrainingState& state, Sink& sink) {
  std::vector<WrittenTensor> tensors = tensors_of(state.model);
  for (const auto& [name, moments] : state.moments) {
    tensors.push_back({first_moment(name), &moments.first, 2});
    tensors.push_back({second_moment(name), &moments.second, 2});
  }
  SafetensorsMetadata metadata = description_of(state);
  metadata.emplace(metadata_name, json_of(state).dump());
  write_safetensors(tensors, sink, metadata);
}

std::string bytes_of(const TrainingState& state) {
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_state(state, sink);
  sink.flush();
  return bytes;
}

TrainingState read_state(std::string_view bytes, const std::string& where) {
  if (!is_safetensors(bytes)) fail("{} is not a .safetensors file: give a file that attn train saved", where);
  const SafetensorsMetadata metadata = safetensors_metadata(bytes, where);
  const auto found = metadata.find(metadata_name);
  if (found == metadata.end())
    fail("{} has no state of training, so training cannot go on from it: give a file that attn train saved", where);
  TrainingState state;
  try {
    state = state_of(Json::parse(found->second), where);
  } catch (const Json::exception&) {
    fail("{}: its state of training is damaged: give a file that attn train saved", where);
  }
  look_up(tasks(), state.task, "task");
  if (!is_generator(state.generator))
    fail("{}: its state of training is damaged: give a file that attn train saved", where);
  if (state.step > state.options.steps || (!state.curve.empty() && state.curve.back().step > state.step))
    fail("{}: its state of training is damaged: give a file that attn train saved", where);
  const TrainedModel model = model_in(bytes, metadata, where);
  if (const auto* const transformer = std::get_if<Transformer>(&model); transformer && state.request.recipe) {
    const bool biases = state.request.recipe->recipe.biases;
    state.request.recipe->recipe = transformer->recipe;
    state.request.recipe->recipe.biases = biases;
  }
  take_model(state, model, where);
  take_moments(state, bytes, where);
  return state;
}

void write_model(const TrainingState& state, Sink& sink) {
  write_safetensors(tensors_of(state.model), sink, description_of(state), FloatSize::four_bytes);
}

}  // namespace attn
