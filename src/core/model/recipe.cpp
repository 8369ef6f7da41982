#include "core/model/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/attention/score.hpp"
#include "core/math/elementary_functions.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- recipe

constexpr std::array placements = {
    NormPlacement{.name = "post", .summary = "after the residual connection: Norm(x + sublayer(x))", .of_sum = true},
    NormPlacement{.name = "pre",
                  .summary = "before the sub-layer: x + sublayer(Norm(x)), and once more at the end",
                  .before = true,
                  .at_the_end = true},
    NormPlacement{.name = "none", .summary = "no normalization: x + sublayer(x)"},
    NormPlacement{.name = "before-and-after",
                  .summary = "as pre, and what the sub-layer gives as well, as in Gemma 2",
                  .before = true,
                  .after = true,
                  .at_the_end = true},
    NormPlacement{.name = "after",
                  .summary = "what the sub-layer gives: x + Norm(sublayer(x)), and once more at the end, as in OLMo 2",
                  .after = true,
                  .at_the_end = true},
    NormPlacement{
        .name = "parallel",
        .summary = "as pre, but attention and feed-forward layer side by side: both work on the same x, as in GPT-NeoX",
        .before = true,
        .at_the_end = true,
        .in_parallel = true},
};

// --- fields

std::string_view name_in(const FieldValue& value, const std::string& called) {
  const std::string_view* const name = std::get_if<std::string_view>(&value);
  if (!name) fail("{} must be a string", called);
  return *name;
}

// A row of a table, by its name.
template <auto member, auto table, const char* what>
constexpr RecipeField named(std::string_view name, std::string_view of_what) {
  return {name, of_what, [](const ModelRecipe& recipe) -> FieldValue { return (recipe.*member)->name; },
          [](ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
            recipe.*member = &look_up(table(), name_in(value, called), what, called);
          },
          [](const ModelRecipe& recipe) { return std::string((recipe.*member)->name); }};
}

// A number that fits.
template <double ModelRecipe::*member, bool (*fits)(double), const char* what>
constexpr RecipeField numbered(std::string_view name, std::string_view of_what) {
  return {name, of_what, [](const ModelRecipe& recipe) -> FieldValue { return recipe.*member; },
          [](ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
            const double* const number = std::get_if<double>(&value);
            if (!number) fail("{} must be a number", called);
            if (!std::isfinite(*number) || !fits(*number)) fail("{} must be {}, and is '{}'", called, what, *number);
            recipe.*member = *number;
          },
          [](const ModelRecipe& recipe) { return fmt::format("{}", recipe.*member); }};
}

// A field that most models have nothing of.
constexpr RecipeField rare(RecipeField field) {
  field.is_rare = true;
  return field;
}

template <bool ModelRecipe::*member>
constexpr RecipeField flagged(std::string_view name, std::string_view of_what,
                              std::string (*told)(const ModelRecipe& recipe)) {
  return {name, of_what, [](const ModelRecipe& recipe) -> FieldValue { return recipe.*member; },
          [](ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
            const bool* const is = std::get_if<bool>(&value);
            if (!is) fail("{} must be true or false", called);
            recipe.*member = *is;
          },
          told};
}

// A model learns positions of words, but none of distances.
void take_positions(ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
  const PositionKind& kind = look_up(position_kinds(), name_in(value, called), "kind of positions", called);
  if (kind.changes_scores()) {
    std::vector<std::string_view> names;
    for (const PositionKind& row : position_kinds()) {
      if (!row.changes_scores()) names.push_back(row.name);
    }
    fail("{} {}: this model learns nothing of distances. Choose one of: {}", called, kind.name, fmt::join(names, ", "));
  }
  recipe.positions = &kind;
}

void take_scale(ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
  const std::string_view scale = name_in(value, called);
  const std::optional<double> number = parse_number<double>(scale);
  if (number && (!std::isfinite(*number) || *number <= 0.0))
    fail("{} {}: the scores are divided by it, so give a positive number", called, scale);
  if (!number && !find_row(scales(), scale))
    fail("{}: {}, or a number", called, unknown("scale", scale, names_of(scales())));
  recipe.scale = scale;
}

// Numbers of layers as "2, 4".
std::optional<std::vector<std::size_t>> layer_numbers(std::string_view text) {
  std::vector<std::size_t> numbers;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const std::optional<std::size_t> number = parse_number<std::size_t>(one);
    if (!number || *number == 0) return std::nullopt;
    numbers.push_back(*number);
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return numbers;
}

void take_window_layers(ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
  const std::string_view layers = name_in(value, called);
  if (layers != ModelRecipe::all_layers && !layer_numbers(layers))
    fail("{} must be \"all\", or the numbers of layers such as \"2, 4\"", called);
  recipe.window_layers = layers;
}

// Scaling of waves, whose numbers are fields of their own.
template <double WaveScaling::*member, bool (*fits)(double), const char* what>
constexpr RecipeField of_scaling(std::string_view name, std::string_view of_what) {
  return {name,
          of_what,
          [](const ModelRecipe& recipe) -> FieldValue { return recipe.scaling.*member; },
          [](ModelRecipe& recipe, const FieldValue& value, const std::string& called) {
            const double* const number = std::get_if<double>(&value);
            if (!number) fail("{} must be a number", called);
            if (!std::isfinite(*number) || !fits(*number)) fail("{} must be {}, and is '{}'", called, what, *number);
            recipe.scaling.*member = *number;
          },
          [](const ModelRecipe& recipe) { return fmt::format("{}", recipe.scaling.*member); },
          true};
}

std::string causal_told(bool is_causal) { return is_causal ? "causal" : "not causal"; }

constexpr char a_placement[] = "placement of norms", a_norm[] = "kind of norm", an_activation[] = "activation",
               a_share[] = "a number above 0 and at most 1, such as 0.25",
               a_whole_number[] = "a whole number of words, or 0 for none",
               a_cap[] = "a positive number, or 0 for none", a_factor[] = "a positive number, such as 8",
               an_epsilon[] = "0 or a positive number, such as 1e-5", a_base[] = "a positive number, such as 10000",
               a_row[] = "a whole number from 0 to 65536", a_distance[] = "a whole number from 1 to 65536";
constexpr bool is_not_negative(double value) { return value >= 0.0; }
constexpr bool is_positive(double value) { return value > 0.0; }
constexpr bool is_share(double value) { return value > 0.0 && value <= 1.0; }
constexpr bool is_count(double value) { return value >= 0.0 && value <= 1e9 && value == std::floor(value); }
constexpr double most_places = 65536.0;
bool is_row(double value) { return value >= 0.0 && value <= most_places && std::floor(value) == value; }
bool is_distance(double value) { return value >= 1.0 && is_row(value); }

// --- norm

constexpr std::array norm_table = {
    NormKind{"layer", "layer normalization: mean 0 and variance 1, then γ and β", "layer normalization",
             "Layer normalization: subtract the mean of each row, and divide by", "variance", true, false, layer_norm},
    NormKind{"rms", "root mean square normalization (RMSNorm): mean of the squares 1, then γ",
             "root mean square normalization", "Root mean square normalization (RMSNorm): divide each row by",
             "mean of the squares", false, false, rms_norm},
    NormKind{"rms-plus-1", "as rms, with 1 + γ in the place of γ, as in Gemma",
             "root mean square normalization with 1 + γ",
             "Root mean square normalization (RMSNorm): divide each row by", "mean of the squares", false, true,
             rms_norm_plus_one},
};

void require_row(const Value& parameter, const Value& x) {
  if (parameter.shape() == Shape{1, x.shape().columns}) return;
  fail("{} is {} but {} is {}: it must be one row of {} numbers", parameter.node().title(),
       to_string(parameter.shape()), x.node().title(), to_string(x.shape()), x.shape().columns);
}

// What has been learned of each column.
Value rescaled(const Value& normalized, const NormParameters& parameters) {
  Value stretched = multiply(name(role::normalised, normalized), parameters.gamma);
  return parameters.beta ? add(stretched, *parameters.beta) : stretched;
}

}  // namespace

// --- recipe

namespace recipe_field {

constinit const RecipeField norm = named<&ModelRecipe::norm, norm_placements, a_placement>("norm", "norms are");
constinit const RecipeField norm_kind =
    named<&ModelRecipe::norm_kind, norm_kinds, a_norm>("norm_kind", "kind of norm is");
constinit const RecipeField epsilon = numbered<&ModelRecipe::epsilon, is_not_negative, an_epsilon>("epsilon", "ε is");
constinit const RecipeField activation =
    named<&ModelRecipe::activation, activations, an_activation>("activation", "activation is");
constinit const RecipeField positions = {
    "positions", "positions are", [](const ModelRecipe& recipe) -> FieldValue { return recipe.positions->name; },
    take_positions, [](const ModelRecipe& recipe) { return std::string(recipe.positions->name); }};
constinit const RecipeField base = numbered<&ModelRecipe::base, is_positive, a_base>("base", "base of positions is");
constinit const RecipeField scale = {"scale", "scores are divided by",
                                     [](const ModelRecipe& recipe) -> FieldValue { return recipe.scale; }, take_scale,
                                     [](const ModelRecipe& recipe) { return recipe.scale; }};
constinit const RecipeField scale_embeddings = flagged<&ModelRecipe::scale_embeddings>(
    "scale_embeddings", "embeddings are",
    [](const ModelRecipe& recipe) -> std::string { return recipe.scale_embeddings ? "scaled" : "not scaled"; });
constinit const RecipeField tied_output =
    flagged<&ModelRecipe::tied_output>("tied_output", "output layer is", [](const ModelRecipe& recipe) -> std::string {
      return recipe.tied_output ? "the transposed embedding" : "its own";
    });
constinit const RecipeField causal_encoder = flagged<&ModelRecipe::causal_encoder>(
    "causal_encoder", "encoder is", [](const ModelRecipe& recipe) { return causal_told(recipe.causal_encoder); });
constinit const RecipeField causal_decoder = flagged<&ModelRecipe::causal_decoder>(
    "causal_decoder", "decoder is", [](const ModelRecipe& recipe) { return causal_told(recipe.causal_decoder); });
constinit const RecipeField gated =
    rare(flagged<&ModelRecipe::gated>("gated", "feed-forward layers are", [](const ModelRecipe& recipe) -> std::string {
      return recipe.gated ? "gated" : "not gated";
    }));
constinit const RecipeField rotated =
    rare(numbered<&ModelRecipe::rotated, is_share, a_share>("rotated", "share of a head that positions turn is"));
constinit const RecipeField wave_factor =
    of_scaling<&WaveScaling::factor, is_positive, a_factor>("wave_factor", "waves are slowed by");
constinit const RecipeField wave_factor_low =
    of_scaling<&WaveScaling::low, is_positive, a_factor>("wave_factor_low", "long waves have at most");
constinit const RecipeField wave_factor_high =
    of_scaling<&WaveScaling::high, is_positive, a_factor>("wave_factor_high", "short waves have at least");
constinit const RecipeField wave_factor_words =
    of_scaling<&WaveScaling::words, is_count, a_whole_number>("wave_factor_words", "waves are compared with");
constinit const RecipeField local_base =
    rare(numbered<&ModelRecipe::local_base, is_not_negative, a_base>("local_base", "base of layers with a window is"));
constinit const RecipeField window =
    rare(numbered<&ModelRecipe::window, is_count, a_whole_number>("window", "window is"));
constinit const RecipeField window_layers = {
    "window_layers",
    "layers with a window are",
    [](const ModelRecipe& recipe) -> FieldValue { return recipe.window_layers; },
    take_window_layers,
    [](const ModelRecipe& recipe) { return recipe.window_layers; },
    true};
constinit const RecipeField score_cap =
    rare(numbered<&ModelRecipe::score_cap, is_not_negative, a_cap>("score_cap", "soft cap of the scores is"));
constinit const RecipeField logit_cap =
    rare(numbered<&ModelRecipe::logit_cap, is_not_negative, a_cap>("logit_cap", "soft cap of the logits is"));
constinit const RecipeField first_position =
    rare(numbered<&ModelRecipe::first_position, is_row, a_row>("first_position", "first learned position is"));
constinit const RecipeField max_distance =
    rare(numbered<&ModelRecipe::max_distance, is_distance, a_distance>("max_distance", "longest distance is"));
constinit const RecipeField scale_output = rare(flagged<&ModelRecipe::scale_output>(
    "scale_output", "output of the last layer is", [](const ModelRecipe& recipe) -> std::string {
      return recipe.scale_output ? "divided by √d_model" : "not scaled";
    }));
constinit const RecipeField first_output = rare(flagged<&ModelRecipe::first_output>(
    "first_output", "output layer is applied to", [](const ModelRecipe& recipe) -> std::string {
      return recipe.first_output ? "the first position" : "all positions";
    }));

// In the order in which they are told.
constexpr const RecipeField* all[] = {
    &norm,         &norm_kind,        &epsilon,         &activation,       &positions,         &base,
    &scale,        &scale_embeddings, &tied_output,     &causal_encoder,   &causal_decoder,    &gated,
    &rotated,      &wave_factor,      &wave_factor_low, &wave_factor_high, &wave_factor_words, &local_base,
    &window,       &window_layers,    &score_cap,       &logit_cap,        &first_position,    &max_distance,
    &scale_output, &first_output};

}  // namespace recipe_field

std::span<const NormPlacement> norm_placements() { return placements; }

const PositionKind& ModelRecipe::usual_positions() {
  return look_up(position_kinds(), "sinusoidal", "kind of positions");
}

std::span<const RecipeField* const> recipe_fields() { return recipe_field::all; }

const RecipeField* find_recipe_field(std::string_view name) {
  const auto found = std::ranges::find(recipe_fields(), name, &RecipeField::name);
  return found == recipe_fields().end() ? nullptr : *found;
}

std::string ModelRecipe::local_layers() const {
  const bool are_several = window_layers.find(',') != std::string::npos;
  return fmt::format("layer{} {}", are_several ? "s" : "", window_layers);
}

bool ModelRecipe::is_local(std::size_t layer) const {
  if (window == 0.0) return false;
  if (window_layers == all_layers) return true;
  const std::vector<std::size_t> numbers = layer_numbers(window_layers).value_or(std::vector<std::size_t>());
  return std::ranges::find(numbers, layer) != numbers.end();
}

std::vector<double> slower_waves(const WaveScaling& scaling, double base, std::size_t columns) {
  if (scaling.factor == 1.0) return {};
  std::vector<double> slower;
  for (std::size_t j = 0; j < columns / 2; ++j) {
    const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(columns);
    const double length = 2.0 * std::numbers::pi * elementary::power(base, exponent);
    const double turns = scaling.words / length;
    if (scaling.words == 0.0 || turns < scaling.low) {
      slower.push_back(scaling.factor);
    } else if (turns > scaling.high) {
      slower.push_back(1.0);
    } else {
      const double share = (turns - scaling.low) / (scaling.high - scaling.low);
      slower.push_back(1.0 / ((1.0 - share) / scaling.factor + share));
    }
  }
  return slower;
}

// --- norm

std::span<const NormKind> norm_kinds() { return norm_table; }

std::string root_in_words(const NormKind& kind, double epsilon) {
  if (epsilon != 0.0) return fmt::format("√({} + ε)", kind.spread);
  const bool one_word = kind.spread.find(' ') == std::string_view::npos;
  return one_word ? fmt::format("√{}", kind.spread) : fmt::format("√({})", kind.spread);
}

std::string norm_in_words(const NormKind& kind, double epsilon, bool shifts) {
  return fmt::format("{} {}. Then multiply by {}γ{}.", kind.sentence, root_in_words(kind, epsilon),
                     kind.adds_one ? "1 + " : "", shifts ? " and add β" : "");
}

Value layer_norm(const Value& x, const NormParameters& parameters) {
  require_row(parameters.gamma, x);
  if (parameters.beta) require_row(*parameters.beta, x);
  Value mean = name(role::mean, row_means(x));
  Value variance = name(role::variance, row_variances(x, mean));
  return rescaled(standardize(x, mean, variance, parameters.epsilon), parameters);
}

Value rms_norm(const Value& x, const NormParameters& parameters) {
  require_row(parameters.gamma, x);
  return rescaled(divide_by_root_mean_square(x, parameters.epsilon), parameters);
}

Value rms_norm_plus_one(const Value& x, const NormParameters& parameters) {
  require_row(parameters.gamma, x);
  const Value normalized = name(role::normalised, divide_by_root_mean_square(x, parameters.epsilon));
  return add(normalized, multiply(normalized, parameters.gamma));
}

}  // namespace attn
