#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/transformer.hpp"
#include "data/files/input_report.hpp"
#include "data/files/json.hpp"
#include "data/files/mapped_file.hpp"
#include "data/files/safetensors.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

struct ParameterSource;

/// A type of model that a .safetensors file can hold as a whole: the metadata of this name have, as JSON,
/// what a model file of this type says beside its parameters.
struct ModelType {
  std::string_view metadata;
  std::string_view title;     // "a Transformer"
  std::string_view commands;  // that run it: "attn transformer"
};
namespace model_type {
inline constexpr ModelType transformer{"transformer", "a Transformer",
                                       "attn encoder, attn decoder, attn transformer or attn generate"},
    encoder_decoder{"encoder_decoder", "a recurrent encoder-decoder", "attn align"};
}
inline constexpr const ModelType* model_types[] = {&model_type::transformer, &model_type::encoder_decoder};

/// A model that is compiled in, as JSON or .safetensors.
struct ModelExample {
  std::string_view name;
  std::string_view bytes;
};
/// Those under lessons/models, of all types, and those under lessons/align, which are recurrent.
std::span<const ModelExample> compiled_in_models();
std::span<const ModelExample> compiled_in_alignments();

/// The Transformers among them; the first is the default of attn generate.
std::span<const ModelExample> model_examples();
/// The recurrent encoder-decoders among them; the first is the default of attn align.
std::span<const ModelExample> alignment_examples();
/// Either.
const ModelExample* find_built_in(std::string_view name);

/// Whether --model means a built-in model by this, and no file.
bool is_name_of_model(std::string_view name);

/// Whether a model was trained, and not set by hand.
bool is_trained(const ModelExample& example);

/// What the metadata of a .safetensors file say of a model of this type. Throws InputError: damaged, no
/// model, one of another type.
Json description_in(std::string_view bytes, const ModelType& type, const std::string& where);

/// What the names of matrices begin with that a file has beside the parameters of its model, to go on with
/// training.
inline constexpr std::string_view training_prefix = "training.";

/// The parameters of the model in a .safetensors file. `where` must outlive it, and so must bytes without a holder.
ParameterSource learned_matrices(const FileBytes& file, const std::string& where);

/// A model with what it is first run on, as a file describes it.
struct TransformerFile {
  Transformer model;
  std::string source;  // sentences; empty: not told
  std::string target;
  ModelWords words = {};
  std::vector<Assumption> assumed = {};  // of the recipe, what the file does not say
};

/// Reads a model file: heads, the recipe, vocabularies, sentences, and parameters by name; as JSON, or as
/// .safetensors whose metadata have all but the parameters. Throws InputError: neither of them, an unknown
/// member, a value of the wrong kind, a parameter that is missing, superfluous, of another shape or not
/// finite.
TransformerFile read_transformer(const FileBytes& file, const std::string& where);
inline TransformerFile read_transformer(std::string_view bytes, const std::string& where) {
  return read_transformer(FileBytes{bytes}, where);
}

/// The same of a built-in model, by its name, or of a file; with the pieces of a tokenizer that is given, in place of
/// the model's own. Throws InputError: neither of them, or a tokenizer for a model that has words, too.
TransformerFile read_model(const std::string& name_or_path, const std::optional<std::string>& tokenizer = {});

/// A sentence with a blank before it, for pages whose numbers are random: how a command shows the first
/// trained model in the box that fits, "attn encoder --model NAME". Empty where none does.
std::string pointer_to_trained(std::string_view command, const std::function<bool(const Transformer&)>& fits,
                               std::string_view more = {});

/// What a model file says beside its parameters, as the metadata of a .safetensors file have it.
SafetensorsMetadata metadata_of(const TransformerFile& file);

}  // namespace attn
