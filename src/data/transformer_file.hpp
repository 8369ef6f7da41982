#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/parameters.hpp"
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

/// Reads a model file: kind, heads, norm, positions, vocabularies, sentences, and parameters by name.
/// Throws InputError: not JSON, an unknown member, a value of the wrong kind, a parameter that is missing,
/// superfluous, of another shape or not finite.
TransformerFile read_transformer(std::string_view json, const std::string& where);

/// Puts parameters into a model whose `heads` are known: kind and sizes follow from them.
/// Throws InputError: a lone attention, heads that do not share d_model, sizes that do not fit together.
void take_parameters(Transformer& model, ParameterSet parameters, const std::string& where);

/// Throws InputError when the parameters that a model is to have would have more cells than a file may hold.
void require_drawable(const Transformer& model);

/// Draws every parameter of a model whose kind and sizes are told: maps Glorot-uniform, embeddings of
/// variance one, biases and β zero, γ one. Throws InputError as require_drawable does.
void draw_parameters(Transformer& model, std::uint32_t seed);

}  // namespace attn
