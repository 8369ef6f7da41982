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

constexpr auto choice = RecipeField::Kind::choice, numeric = RecipeField::Kind::number,
               yes_or_no = RecipeField::Kind::flag;

void take_norm(ModelRecipe& recipe, const std::string& text, const std::string&) {
  recipe.norm = &look_up(norm_placements(), text, "placement of norms");
}

void take_norm_kind(ModelRecipe& recipe, const std::string& text, const std::string&) {
  recipe.norm_kind = &look_up(norm_kinds(), text, "kind of norm");
}

void take_activation(ModelRecipe& recipe, const std::string& text, const std::string&) {
  recipe.activation = &look_up(activations(), text, "activation");
}

// A model learns positions of words, but none of distances.
void take_positions(ModelRecipe& recipe, const std::string& text, const std::string& called) {
  const PositionKind& kind = look_up(position_kinds(), text, "kind of positions");
  if (kind.changes_scores()) {
    std::vector<std::string_view> names;
    for (const PositionKind& row : position_kinds()) {
      if (!row.changes_scores()) names.push_back(row.name);
    }
    fail("{} {}: this model learns nothing of distances. Choose one of: {}", called, kind.name, fmt::join(names, ", "));
  }
  recipe.positions = &kind;
}

double number_in(const std::string& text, const std::string& called, bool (*fits)(double), std::string_view what) {
  const std::optional<double> value = parsed<double>(text);
  if (!value || !std::isfinite(*value) || !fits(*value)) fail("{} must be {}, and is '{}'", called, what, text);
  return *value;
}

void take_epsilon(ModelRecipe& recipe, const std::string& text, const std::string& called) {
  recipe.epsilon = number_in(
      text, called, [](double value) { return value >= 0.0; }, "0 or a positive number, such as 1e-5");
}

void take_base(ModelRecipe& recipe, const std::string& text, const std::string& called) {
  recipe.base = number_in(
      text, called, [](double value) { return value > 0.0; }, "a positive number, such as 10000");
}

void take_scale(ModelRecipe& recipe, const std::string& text, const std::string&) {
  divisor(text, {.d_k = 1, .n_k = 1});  // throws for what is no scale
  recipe.scale = text;
}

template <bool ModelRecipe::*member>
void take_flag(ModelRecipe& recipe, const std::string& text, const std::string& called) {
  if (text != "true" && text != "false") fail("{} must be true or false", called);
  recipe.*member = text == "true";
}

template <auto member>
std::string name_told(const ModelRecipe& recipe) {
  return std::string((recipe.*member)->name);
}

template <double ModelRecipe::*member>
std::string number_told(const ModelRecipe& recipe) {
  return fmt::format("{}", recipe.*member);
}

std::string causal_told(bool is_causal) { return is_causal ? "causal" : "not causal"; }

std::string scale_told(const ModelRecipe& recipe) { return recipe.scale; }

template <bool ModelRecipe::*member>
std::string flag_written(const ModelRecipe& recipe) {
  return recipe.*member ? "true" : "false";
}

using Take = void (*)(ModelRecipe& recipe, const std::string& text, const std::string& called);
using Tell = std::string (*)(const ModelRecipe& recipe);

template <auto member>
constexpr RecipeField named(std::string_view name, std::string_view of_what, Take take) {
  return {name, of_what, choice, take, name_told<member>, name_told<member>};
}

template <double ModelRecipe::*member>
constexpr RecipeField numbered(std::string_view name, std::string_view of_what, Take take) {
  return {name, of_what, numeric, take, number_told<member>, number_told<member>};
}

template <bool ModelRecipe::*member>
constexpr RecipeField flagged(std::string_view name, std::string_view of_what, Tell told) {
  return {name, of_what, yes_or_no, take_flag<member>, told, flag_written<member>};
}

constexpr std::array fields = {
    named<&ModelRecipe::norm>("norm", "norms are", take_norm),
    named<&ModelRecipe::norm_kind>("norm_kind", "kind of norm is", take_norm_kind),
    numbered<&ModelRecipe::epsilon>("epsilon", "ε is", take_epsilon),
    named<&ModelRecipe::activation>("activation", "activation is", take_activation),
    named<&ModelRecipe::positions>("positions", "positions are", take_positions),
    numbered<&ModelRecipe::base>("base", "base of positions is", take_base),
    RecipeField{"scale", "scores are divided by", choice, take_scale, scale_told, scale_told},
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
Value rescaled(const Value& normalised, const NormParameters& parameters) {
  Value stretched = multiply(name(role::normalised, normalised), parameters.gamma);
  return parameters.beta ? add(stretched, *parameters.beta) : stretched;
}

}  // namespace

std::span<const NormKind> norm_kinds() { return norm_table; }

std::string root_in_words(const NormKind& kind, double epsilon) {
  if (epsilon != 0.0) return fmt::format("√({} + ε)", kind.spread);
  const bool one_word = kind.spread.find(' ') == std::string_view::npos;
  return one_word ? fmt::format("√{}", kind.spread) : fmt::format("√({})", kind.spread);
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
