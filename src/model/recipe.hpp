#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attention/feed_forward.hpp"
#include "model/norm.hpp"

namespace attn {

/// Part of a layer that keeps the shape of what it works on: attention, a feed-forward layer, a
/// normalization.
using Sublayer = std::function<Value(const Value& x)>;

/// Where a layer normalizes.
struct NormPlacement {
  std::string_view name;
  std::string_view summary;
  /// What comes out of a sub-layer, its residual connection and its normalization, the number-th of the
  /// layer.
  Value (*connect)(const Value& x, const Sublayer& sublayer, const Sublayer& normalize, std::size_t number);
  bool in_layers;
  bool at_the_end;  // what comes out of the last layer is normalised once more
};

/// post (Vaswani et al. 2017, section 3.1): Norm(x + sublayer(x)); pre: x + sublayer(Norm(x));
/// none: x + sublayer(x), for examples whose numbers are to stay small.
std::span<const NormPlacement> norm_placements();

/// How a Transformer computes: all that its parameters and their shapes do not say.
struct ModelRecipe {
  const NormPlacement* norm = &norm_placements().front();
  const NormKind* norm_kind = &norm_kinds().front();
  double epsilon = NormParameters::usual_epsilon;
  const Activation* activation = &activations().front();
  const PositionKind* positions = &usual_positions();
  double base = Waves::usual_base;  // of positions that are waves
  std::string scale = "sqrt-dk";    // of attention scores: a row of scales(), or a number
  bool scale_embeddings = true;     // by √d_model  (Vaswani et al. 2017, section 3.4)
  bool tied_output = false;     // the output layer is the transposed embedding of the target, without bias
  bool biases = true;           // where parameters are drawn
  bool causal_encoder = false;  // no word of the source attends to later ones
  bool causal_decoder = true;   // no word of the target attends to later ones

  /// Sinusoidal.
  static const PositionKind& usual_positions();
};

/// A choice in a recipe: a member of a model file, and what an option or a layout of parameters chooses.
struct RecipeField {
  enum class Kind { choice, number, flag };

  std::string_view name;     // "norm_kind"
  std::string_view of_what;  // in a sentence: "norms are"
  Kind kind;
  /// Throws InputError, which calls the field as it is `called`, for a text that is none of its choices.
  void (*take)(ModelRecipe& recipe, const std::string& text, const std::string& called);
  /// Behind `of_what`: "pre".
  std::string (*told)(const ModelRecipe& recipe);
  /// The text that `take` takes it from.
  std::string (*written)(const ModelRecipe& recipe);
};
std::span<const RecipeField> recipe_fields();

}  // namespace attn
