#pragma once

#include <random>

#include "core/model/generation.hpp"
#include "core/support/text.hpp"
#include "testing.hpp"

namespace attn {

/// A small model to be drawn: layers of two heads, five source words and six target words.
struct RandomModel {
  std::string_view kind = "encoder-decoder";
  std::string_view norm = "post";
  std::string positions = "sinusoidal";
  std::size_t heads = 2;
  std::uint32_t seed = 1;
  std::size_t encoder_layers = 2;
  std::size_t decoder_layers = 2;
  std::string_view norm_kind = "layer";
  std::string_view activation = "relu";
  std::size_t key_heads = 0;
  std::size_t d_model = 4;
  bool gated = false;
};

/// Every parameter is drawn, those as well that begin at zero or one.
inline Transformer random_model(const RandomModel& recipe) {
  Transformer model;
  model.kind = &look_up(model_kinds(), recipe.kind, "kind of model");
  model.recipe.norm = &look_up(norm_placements(), recipe.norm, "placement of norms");
  model.recipe.norm_kind = &look_up(norm_kinds(), recipe.norm_kind, "kind of norm");
  model.recipe.activation = &look_up(activations(), recipe.activation, "activation");
  model.recipe.positions = &look_up(position_kinds(), recipe.positions, "kind of positions");
  model.recipe.gated = recipe.gated;
  model.sizes = {.encoder_layers = recipe.encoder_layers,
                 .decoder_layers = recipe.decoder_layers,
                 .d_model = recipe.d_model,
                 .heads = recipe.heads,
                 .d_ff = 6,
                 .source_words = 5,
                 .target_words = 6,
                 .source_places = recipe.positions == "learned" ? std::size_t{5} : 0,
                 .target_places = recipe.positions == "learned" ? std::size_t{7} : 0,
                 .key_heads = recipe.key_heads};
  std::mt19937 generator(recipe.seed);
  std::normal_distribution<double> normal(0.0, 0.6);
  ModelParameters parameters;
  for (const ParameterRow& row : parameters_of(model)) {
    parameters.emplace(row.name, std::make_shared<const Matrix>(filled(row.shape, [&] { return normal(generator); })));
  }
  model.parameters = std::move(parameters);
  return model;
}

inline ModelInput words(std::vector<std::size_t> ids) { return {.ids = std::move(ids)}; }

}  // namespace attn
