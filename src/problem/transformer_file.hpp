#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "files/safetensors.hpp"
#include "model/transformer.hpp"
#include "problem/model_file.hpp"

namespace attn {

/// A model with what it is first run on, as a file describes it.
struct TransformerFile {
  Transformer model;
  std::string source;  // sentences; empty: not told
  std::string target;
};

/// Reads a model file: heads, the recipe, vocabularies, sentences, and parameters by name; as JSON, or as
/// .safetensors whose metadata have all but the parameters. Throws InputError: neither of them, an unknown
/// member, a value of the wrong kind, a parameter that is missing, superfluous, of another shape or not
/// finite.
TransformerFile read_transformer(std::string_view bytes, const std::string& where);

/// The same of a built-in model, by its name, or of a file. Throws InputError: neither of them, too.
TransformerFile read_model(const std::string& name_or_path);

/// A sentence with a blank before it, for pages whose numbers are random: how a command shows the first
/// trained model in the box that fits, "attn encoder --model NAME". Empty where none does.
std::string pointer_to_trained(std::string_view command, const std::function<bool(const Transformer&)>& fits,
                               std::string_view more = {});

/// What a model file says beside its parameters, as the metadata of a .safetensors file have it.
SafetensorsMetadata metadata_of(const TransformerFile& file);

}  // namespace attn
