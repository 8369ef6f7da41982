#include "core/model/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "core/attention/score.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

// --- recipe

namespace {

// The residual connection.
Value plus_itself(const Value& x, const Value& found, std::size_t number) {
  return name(Name(role::sum, number), add(x, found));
}

Value post_norm(const Value& x, const Sublayer& sublayer, const Sublayer& normalize, std::size_t number) {
  return normalize(plus_itself(x, sublayer(x), number));
}

Value pre_norm(const Value& x, const Sublayer& sublayer, const Sublayer& normalize, std::size_t number) {
  return plus_itself(x, sublayer(normalize(x)), number);
}

Value no_norm(const Value& x, const Sublayer& sublayer, const Sublayer&, std::size_t number) {
  return plus_itself(x, sublayer(x), number);
}

constexpr std::array placements = {
    NormPlacement{"post", "after the residual connection: Norm(x + sublayer(x))", post_norm, true, false},
    NormPlacement{"pre", "before the sub-layer: x + sublayer(Norm(x)), and once more at the end", pre_norm, true, true},
    NormPlacement{"none", "no normalization: x + sublayer(x)", no_norm, false, false},
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
  const std::optional<double> number = parsed<double>(scale);
  if (number && (!std::isfinite(*number) || *number <= 0.0))
    fail("{} {}: the scores are divided by it, so give a positive number", called, scale);
  if (!number && !find_row(scales(), scale))
    fail("{}: {}, or a number", called, unknown("scale", scale, names_of(scales())));
  recipe.scale = scale;
}

std::string causal_told(bool is_causal) { return is_causal ? "causal" : "not causal"; }

constexpr char a_placement[] = "placement of norms", a_norm[] = "kind of norm", an_activation[] = "activation",
               an_epsilon[] = "0 or a positive number, such as 1e-5", a_base[] = "a positive number, such as 10000";
constexpr bool is_not_negative(double value) { return value >= 0.0; }
constexpr bool is_positive(double value) { return value > 0.0; }

constexpr std::array fields = {
    named<&ModelRecipe::norm, norm_placements, a_placement>("norm", "norms are"),
    named<&ModelRecipe::norm_kind, norm_kinds, a_norm>("norm_kind", "kind of norm is"),
    numbered<&ModelRecipe::epsilon, is_not_negative, an_epsilon>("epsilon", "ε is"),
    named<&ModelRecipe::activation, activations, an_activation>("activation", "activation is"),
    RecipeField{"positions", "positions are",
                [](const ModelRecipe& recipe) -> FieldValue { return recipe.positions->name; }, take_positions,
                [](const ModelRecipe& recipe) { return std::string(recipe.positions->name); }},
    numbered<&ModelRecipe::base, is_positive, a_base>("base", "base of positions is"),
    RecipeField{"scale", "scores are divided by", [](const ModelRecipe& recipe) -> FieldValue { return recipe.scale; },
                take_scale, [](const ModelRecipe& recipe) { return recipe.scale; }},
    flagged<&ModelRecipe::scale_embeddings>(
        "scale_embeddings", "embeddings are",
        [](const ModelRecipe& recipe) -> std::string { return recipe.scale_embeddings ? "scaled" : "not scaled"; }),
    flagged<&ModelRecipe::tied_output>("tied_output", "output layer is",
                                       [](const ModelRecipe& recipe) -> std::string {
                                         return recipe.tied_output ? "the transposed embedding" : "its own";
                                       }),
    flagged<&ModelRecipe::causal_encoder>("causal_encoder", "encoder is",
                                          [](const ModelRecipe& recipe) { return causal_told(recipe.causal_encoder); }),
    flagged<&ModelRecipe::causal_decoder>("causal_decoder", "decoder is",
                                          [](const ModelRecipe& recipe) { return causal_told(recipe.causal_decoder); }),
};

}  // namespace

std::span<const NormPlacement> norm_placements() { return placements; }

const PositionKind& ModelRecipe::usual_positions() {
  return look_up(position_kinds(), "sinusoidal", "kind of positions");
}

std::span<const RecipeField> recipe_fields() { return fields; }

// --- norm

namespace {

constexpr std::array norm_table = {
    NormKind{"layer", "layer normalization: mean 0 and variance 1, then γ and β", "layer normalization",
             "Layer normalization: subtract the mean of each row, and divide by", "variance", true, layer_norm},
    NormKind{"rms", "root mean square normalization (RMSNorm): mean of the squares 1, then γ",
             "root mean square normalization", "Root mean square normalization (RMSNorm): divide each row by",
             "mean of its squares", false, rms_norm},
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

std::span<const NormKind> norm_kinds() { return norm_table; }

std::string root_in_words(const NormKind& kind, double epsilon) {
  if (epsilon != 0.0) return fmt::format("√({} + ε)", kind.spread);
  const bool one_word = kind.spread.find(' ') == std::string_view::npos;
  return one_word ? fmt::format("√{}", kind.spread) : fmt::format("√({})", kind.spread);
}

std::string norm_in_words(const NormKind& kind, double epsilon, bool shifts) {
  return fmt::format("{} {}. Then multiply by γ{}.", kind.sentence, root_in_words(kind, epsilon),
                     shifts ? " and add β" : "");
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

}  // namespace attn
