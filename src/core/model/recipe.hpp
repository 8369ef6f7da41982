#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/attention/feed_forward.hpp"
#include "core/graph/graph.hpp"

namespace attn {

/// What a normalization has learned, and the small number under its root.
struct NormParameters {
  static constexpr double usual_epsilon = 1e-5;

  Value gamma;                     // [1, d]
  std::optional<Value> beta = {};  // [1, d]
  double epsilon = usual_epsilon;
};

/// How the rows of a matrix are normalized, each by itself: the matrices that it names are in the open scope,
/// and the caller names the result.  apply: [n, d] -> [n, d]
struct NormKind {
  std::string_view name;
  std::string_view summary;
  std::string_view title;     // in a sentence: "layer normalization"
  std::string_view sentence;  // what it does to a row, up to the root that it divides by
  std::string_view spread;    // what stands under the root, beside ε
  bool shifts;                // it may have a β
  Value (*apply)(const Value& x, const NormParameters& parameters);
};

/// layer (the default), rms. A new one is a function of values and a row.
std::span<const NormKind> norm_kinds();

/// What a row is divided by, in a sentence: "√(variance + ε)", without ε where it is 0.
std::string root_in_words(const NormKind& kind, double epsilon);

/// What a normalization does to a row, in sentences: up to γ, and to β where there is one.
std::string norm_in_words(const NormKind& kind, double epsilon, bool shifts);

/// γ (x − mean) / √(variance + ε) + β: `mean`, `variance`, `normalised`. Throws InputError when γ or β is not
/// one row of d.  (Ba et al. 2016, Layer Normalization; Zhang et al., Dive into Deep Learning, 11.7)
Value layer_norm(const Value& x, const NormParameters& parameters);

/// γ x / √(mean of x² + ε): `normalised`. Throws InputError when γ is not one row of d.
/// (Zhang and Sennrich 2019, Root Mean Square Layer Normalization, section 4)
Value rms_norm(const Value& x, const NormParameters& parameters);

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
  bool at_the_end;  // what comes out of the last layer is normalized once more
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
  bool tied_output = false;         // the output layer is the transposed embedding of the target, without bias
  bool biases = true;               // where parameters are drawn
  bool causal_encoder = false;      // no word of the source attends to later ones
  bool causal_decoder = true;       // no word of the target attends to later ones

  /// Sinusoidal.
  static const PositionKind& usual_positions();
};

/// What a field of a recipe is given: the name of one of its choices, a number, or yes or no; first, anything else that
/// a file may hold. A name must outlive what it is given to.
using FieldValue = std::variant<std::monostate, std::string_view, double, bool>;

/// A choice in a recipe: a member of a model file, and what an option or a layout of parameters chooses.
struct RecipeField {
  std::string_view name;     // "norm_kind"
  std::string_view of_what;  // in a sentence: "norms are"
  FieldValue (*value)(const ModelRecipe& recipe);
  /// Throws InputError, which calls the field as it is `called`, for a value that is none of its choices.
  void (*take)(ModelRecipe& recipe, const FieldValue& value, const std::string& called);
  /// Behind `of_what`: "pre".
  std::string (*told)(const ModelRecipe& recipe);
};
std::span<const RecipeField> recipe_fields();

}  // namespace attn
