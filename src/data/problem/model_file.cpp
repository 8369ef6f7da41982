#include "data/problem/model_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/files/safetensors.hpp"
#include "data/parameters/source.hpp"

namespace attn {

namespace {

const ModelType* type_in(const SafetensorsMetadata& metadata) {
  const auto found =
      std::ranges::find_if(model_types, [&](const ModelType* type) { return metadata.contains(type->metadata); });
  return found == std::end(model_types) ? nullptr : *found;
}

// JSON under lessons/models is a Transformer.
std::vector<ModelExample> examples_of(const ModelType& type) {
  std::vector<ModelExample> examples;
  std::ranges::copy_if(compiled_in_models(), std::back_inserter(examples), [&](const ModelExample& example) {
    const ModelType* const own = is_safetensors(example.bytes)
                                     ? type_in(safetensors_metadata(example.bytes, std::string(example.name)))
                                     : &model_type::transformer;
    return own == &type;
  });
  return examples;
}

}  // namespace

bool is_name_of_model(std::string_view name) {
  return name.find_first_of("./") == std::string_view::npos && name != "-";
}

bool is_trained(const ModelExample& example) { return is_safetensors(example.bytes); }

std::span<const ModelExample> model_examples() {
  static const std::vector<ModelExample> all = examples_of(model_type::transformer);
  return all;
}

std::span<const ModelExample> alignment_examples() {
  static const std::vector<ModelExample> all = [] {
    const std::span<const ModelExample> set = compiled_in_alignments();
    std::vector<ModelExample> both(set.begin(), set.end());
    std::ranges::copy(examples_of(model_type::encoder_decoder), std::back_inserter(both));
    return both;
  }();
  return all;
}

const ModelExample* find_built_in(std::string_view name) {
  const ModelExample* const found = find_row(model_examples(), name);
  return found ? found : find_row(alignment_examples(), name);
}

Json description_in(std::string_view bytes, const ModelType& type, const std::string& where) {
  const SafetensorsMetadata metadata = safetensors_metadata(bytes, where);
  const ModelType* const found = type_in(metadata);
  if (!found) {
    fail(
        "{} has parameters, and does not say of which model: give a JSON file, a file that attn train saved, or the folder with its config.json; parameters alone are given by ‹parameters›",
        where);
  }
  if (found != &type) fail("{} is {}: use {}", where, found->title, found->commands);
  return parse_json(metadata.find(type.metadata)->second, where);
}

ParameterSource learned_matrices(const FileBytes& file, const std::string& where) {
  ParameterSource source = look_up(parameter_kinds(), "safetensors", "kind").open(file, where, "");
  std::erase_if(source.names, [](const std::string& name) { return name.starts_with(training_prefix); });
  return source;
}

}  // namespace attn
