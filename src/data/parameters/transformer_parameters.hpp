#pragma once

#include <cstdint>
#include <string>

#include "core/math/random.hpp"
#include "core/model/transformer.hpp"
#include "data/parameters/parameters.hpp"

namespace attn {

/// Puts parameters that were read into a model whose recipe and `heads` are known: kind and sizes follow from
/// them. Throws InputError: a lone attention, heads that do not share d_model, a recipe that needs others.
void take_parameters(Transformer& model, ParameterSet parameters, const std::string& where);

/// A parameter before anything is learned.
Matrix initial_matrix(Initialization beginning, const RandomMatrix& parameter, RandomSource& random);

/// Throws InputError when the parameters that a model is to have would have more cells than a file may hold.
void require_drawable(const Transformer& model);

/// Draws every parameter of a model whose kind and sizes are told: maps Glorot-uniform, embeddings of
/// variance one, each word of a vocabulary by itself; biases and β zero, γ one. Throws InputError as require_drawable
/// does.
void draw_parameters(Transformer& model, RandomSource& random);

}  // namespace attn
