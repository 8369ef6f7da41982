#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/transformer.hpp"

namespace attn {

/// A model with what it is first run on, as a file describes it.
struct TransformerFile {
  Transformer model;
  std::string source;  // sentences; empty: not told
  std::string target;
};

/// A model file under lessons/models, compiled in. The first one is the default of attn generate.
struct ModelExample {
  std::string_view name;
  std::string_view json;
};
std::span<const ModelExample> model_examples();

/// Reads a model file: heads, the recipe, vocabularies, sentences, and parameters by name.
/// Throws InputError: not JSON, an unknown member, a value of the wrong kind, a parameter that is missing,
/// superfluous, of another shape or not finite.
TransformerFile read_transformer(std::string_view json, const std::string& where);

}  // namespace attn
