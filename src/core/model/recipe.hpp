#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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
  bool adds_one;              // what it multiplies by is 1 + γ, so that γ begins at 0
  Value (*apply)(const Value& x, const NormParameters& parameters);
};

/// layer (the default), rms, rms-plus-1. A new one is a function of values and a row.
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

/// The same with 1 + γ in the place of γ, as a sum of two parts.  (Gemma Team 2024, Gemma: Open Models Based on Gemini
/// Research and Technology; its code)
Value rms_norm_plus_one(const Value& x, const NormParameters& parameters);

/// Part of a layer that keeps the shape of what it works on: attention, a feed-forward layer, a
/// normalization.
using Sublayer = std::function<Value(const Value& x)>;

/// Where a layer normalizes: what a sub-layer works on, what it gives, before that is added to the residual connection,
/// or their sum. Where there are norms before and after a sub-layer, the later ones stand in scope::post_norm.
struct NormPlacement {
  std::string_view name;
  std::string_view summary;
  bool before = false;
  bool after = false;
  bool of_sum = false;
  bool at_the_end = false;   // what comes out of the last layer is normalized once more
  bool in_parallel = false;  // all sub-layers of a layer work on what goes into the layer

  bool in_layers() const { return before || after || of_sum; }
  bool has_two() const { return before && after; }
};

/// post (Vaswani et al. 2017, section 3.1): Norm(x + sublayer(x)); pre: x + sublayer(Norm(x)); before-and-after (Gemma
/// Team 2024, section 2): x + Norm(sublayer(Norm(x))); after (OLMo Team 2024, section 3.2): x + Norm(sublayer(x));
/// parallel (Black et al. 2022, GPT-NeoX-20B, section 2.1): x + attention(Norm(x)) + feed-forward(Norm(x)); none: x +
/// sublayer(x), for examples whose numbers are to stay small.
std::span<const NormPlacement> norm_placements();

/// How the waves of positions are made longer for texts that are longer than those of the training: all of them by a
/// factor (Chen et al. 2023, Extending Context Window of Large Language Models via Positional Interpolation), or,
/// where `words` is given, those that are long compared with so many words (Grattafiori et al. 2024, The Llama 3 Herd
/// of Models; as in Llama 3.1): a wave is left where words / its length is above `high`, and slowed by the factor where
/// it is below `low`; between them its frequency is a mean of both.
struct WaveScaling {
  double factor = 1.0;
  double low = 1.0, high = 4.0;
  double words = 0.0;
};

/// How many times as long each of the waves is that turn so many columns; empty: as long as they are.
std::vector<double> slower_waves(const WaveScaling& scaling, double base, std::size_t columns);

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
  bool gated = false;               // feed-forward layers have a gate
  bool single = false;              // each result is rounded to float32
  bool causal_encoder = false;      // no word of the source attends to later ones
  bool causal_decoder = true;       // no word of the target attends to later ones
  double first_position = 0.0;      // of learned positions: the row, from 0, that the first word has
  double max_distance = 128.0;      // of buckets of distances: this one and longer ones share the last bucket
  bool scale_output = false;        // what is compared with a tied embedding is divided by √d_model
  bool first_output = false;        // the output layer is applied to the first position alone
  double rotated = 1.0;             // the share of the columns of a head that rotary positions turn
  WaveScaling scaling = {};         // of the waves of rotary positions
  double local_base = 0.0;          // base of the layers with a window, whose waves are not scaled; 0: as all others
  double window = 0.0;              // how many words back a word of the target attends, itself included; 0: all
  std::string window_layers = std::string(all_layers);  // that have it: "all", or numbers as "2, 4"
  double score_cap = 0.0;                               // attention scores lie between −cap and cap; 0: anywhere
  double logit_cap = 0.0;                               // and so do logits

  static constexpr std::string_view all_layers = "all";
  /// Whether a layer, counted from 1, has the window.
  bool is_local(std::size_t layer) const;
  /// "layer 2", or "layers 2, 4": those that have it, where not all do.
  std::string local_layers() const;

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
  bool is_rare = false;  // what is not said of it is no assumption: the usual recipe has nothing of it
};

/// Every field. Sources know one by its address, and only its row in recipe.cpp knows its name.
namespace recipe_field {
extern const RecipeField norm, norm_kind, epsilon, activation, positions, base, scale, scale_embeddings, tied_output,
    causal_encoder, causal_decoder, gated, rotated, wave_factor, wave_factor_low, wave_factor_high, wave_factor_words,
    local_base, window, window_layers, score_cap, logit_cap, first_position, max_distance, scale_output, first_output;
}
std::span<const RecipeField* const> recipe_fields();

/// The field of a name that comes from outside: a member of a model file or of an option; null: there is none.
const RecipeField* find_recipe_field(std::string_view name);

}  // namespace attn
