#include "command/model/recipe_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

using Needs = ModelUse::Needs;

// What a flag says of a field; the other options have the field's name.
struct FlagField {
  const Option& option;
  std::string_view field, text;
};

constexpr FlagField flag_fields[] = {{option::unscaled_embeddings, "scale_embeddings", "false"},
                                     {option::tied_output, "tied_output", "true"}};

// --- fields

// A field that was asked for, and by which option.
struct AskedField {
  std::string_view field;
  std::string text;
  const Option& option;

  std::string typed() const {
    return option.kind == Kind::flag ? std::string(option.name) : fmt::format("{} {}", option.name, text);
  }
};

// The sides of a model whose self-attention is meant.
std::vector<std::string_view> causal_fields(Needs part) {
  if (part == Needs::encoder) return {"causal_encoder"};
  if (part == Needs::decoder) return {"causal_decoder"};
  return {"causal_encoder", "causal_decoder"};
}

// What an option says, as a model file would.
std::string text_of(const Arguments& arguments, const Option& option) {
  if (option.kind == Kind::number) return fmt::format("{}", *arguments.number(option));
  return *arguments.text(option);
}

std::vector<AskedField> asked_fields(const Arguments& arguments, const ModelUse& use) {
  std::vector<AskedField> asked;
  for (const Option* option : recipe_options()) {
    if (!arguments.has(*option)) continue;
    const auto flag =
        std::ranges::find(flag_fields, option, [](const FlagField& row) { return &row.option; });
    if (flag == std::end(flag_fields)) {
      asked.push_back({option->member, text_of(arguments, *option), *option});
    } else {
      asked.push_back({flag->field, std::string(flag->text), *option});
    }
  }
  for (const Option* option : {&option::causal, &option::not_causal}) {
    if (!arguments.has(*option)) continue;
    for (const std::string_view field : causal_fields(use.needs)) {
      asked.push_back({field, option == &option::causal ? "true" : "false", *option});
    }
  }
  return asked;
}

const RecipeField& field_called(std::string_view name) {
  return look_up(recipe_fields(), name, "choice of a recipe");
}

}  // namespace

ModelRecipe asked_recipe(const Arguments& arguments, const ModelUse& use) {
  ModelRecipe recipe;
  recipe.biases = !arguments.has(option::no_bias);
  for (const AskedField& asked : asked_fields(arguments, use)) {
    field_called(asked.field).take(recipe, asked.text, std::string(asked.option.name));
  }
  return recipe;
}

ModelRecipe asked_recipe(const Arguments& arguments, const ModelUse& use, const ParameterFile& file,
                         const std::string& path) {
  ModelRecipe recipe = asked_recipe(arguments, use), theirs;
  const std::vector<AskedField> all = asked_fields(arguments, use);
  for (const BroughtField& brought : file.brings) {
    const RecipeField& field = field_called(brought.field);
    field.take(theirs, std::string(brought.text), path);
    const auto asked = std::ranges::find(all, brought.field, &AskedField::field);
    if (asked != all.end() && brought.is_assumed) continue;
    if (asked != all.end() && field.told(recipe) != field.told(theirs)) {
      fail("{}: {} is {}, whose {} {}: leave out {}", asked->typed(), path, file.layout, field.of_what,
           field.told(theirs), asked->option.name);
    }
    field.take(recipe, std::string(brought.text), path);
  }
  return recipe;
}

std::string assumptions_in_words(const Arguments& arguments, const ModelRecipe& recipe,
                                 std::span<const BroughtField> brought) {
  const auto is_open = [&](std::string_view field, const Option& option) {
    const auto found = std::ranges::find(brought, field, &BroughtField::field);
    return !arguments.has(option) && (found == brought.end() || found->is_assumed);
  };
  std::vector<std::string> unnamed, assumed;
  if (is_open("norm", option::norm)) {
    unnamed.emplace_back("the placement of the norms");
    assumed.push_back(fmt::format("{}-norm", recipe.norm->name));
  }
  if (recipe.norm->in_layers && is_open("norm_kind", option::norm_kind)) {
    unnamed.emplace_back("the kind of the norms");
    assumed.emplace_back(recipe.norm_kind->title);
  }
  if (is_open("activation", option::activation)) {
    unnamed.emplace_back("the activation");
    assumed.push_back(fmt::format("{} in the feed-forward layers", recipe.activation->title));
  }
  if (recipe.norm->in_layers && is_open("epsilon", option::epsilon)) {
    unnamed.emplace_back("ε");
    assumed.push_back(fmt::format("ε = {} in the norms", recipe.epsilon));
  }
  if (unnamed.empty()) return "";
  return fmt::format("The file does not name {}. Assumed here: {}.", listed(unnamed), listed(assumed));
}

// --- masks

namespace {

// The words whose keys a mask is for, and its options.
struct MaskedKeys {
  const Option &mask, &length;
  ModelInput ModelChoice::*words;  // whose queries attend
  WordMask ModelInput::*of_words;
};

constexpr MaskedKeys own_of_encoder{option::mask, option::valid_length, &ModelChoice::source,
                                    &ModelInput::mask},
    own_of_decoder{option::mask, option::valid_length, &ModelChoice::target, &ModelInput::mask},
    of_target{option::target_mask, option::target_valid_length, &ModelChoice::target, &ModelInput::mask},
    of_memory{option::memory_mask, option::memory_valid_length, &ModelChoice::target,
              &ModelInput::memory_mask};

std::vector<MaskedKeys> masked_keys(Needs part) {
  if (part == Needs::encoder) return {own_of_encoder};
  if (part == Needs::decoder) return {own_of_decoder, of_memory};
  return {own_of_encoder, of_target, of_memory};
}

// Integers of 1 and 0 permit and forbid; floats are added to the scores.
void take_matrix(WordMask& mask, const Option& option, const MatrixFile& file, Shape shape) {
  const Shape given = file.matrix.shape();
  if (given.columns != shape.columns || (given.rows != shape.rows && given.rows != 1)) {
    fail("{} is {}, and must be {} or 1×{}: a column for each key, and a row for each query or one for all",
         option.name, to_string(given), to_string(shape), shape.columns);
  }
  bool permits = file.kind != CellKind::real;
  for (const double cell : cells(file.matrix)) {
    if (std::isnan(cell) || cell == INFINITY) fail("{}: every number must be finite, or -inf", option.name);
    permits = permits && (cell == 0.0 || cell == 1.0);
  }
  (permits ? mask.allowed : mask.bias) = file.matrix;
}

void take_lengths(WordMask& mask, const Option& option, const std::vector<std::size_t>& lengths,
                  Shape shape) {
  for (const std::size_t length : lengths) {
    if (length > shape.columns)
      fail("{}: {} is more than the number of keys, {}", option.name, length, shape.columns);
  }
  if (lengths.size() != 1 && lengths.size() != shape.rows) {
    fail("{}: {} are given for {}: give one for all, or one for each query", option.name,
         count_of(lengths.size(), "length"),
         shape.rows == 1 ? "1 query" : fmt::format("{} queries", shape.rows));
  }
  mask.valid_lengths = lengths;
}

}  // namespace

void take_masks(ModelChoice& choice, const Arguments& arguments, const ModelUse& use) {
  for (const MaskedKeys& row : masked_keys(use.needs)) {
    ModelInput& words = choice.*row.words;
    const bool crosses = row.of_words == &ModelInput::memory_mask;
    const std::size_t encoded = choice.memory ? choice.memory->shape().rows : choice.source.size();
    const Shape shape{words.size(), crosses ? encoded : words.size()};
    for (const Option* option : {&row.mask, &row.length}) {
      if (arguments.has(*option) && shape.cells() == 0)
        fail("{} has no effect: the model has no such words", option->name);
    }
    WordMask& mask = words.*row.of_words;
    if (arguments.has(row.mask)) take_matrix(mask, row.mask, arguments.matrix(row.mask), shape);
    if (arguments.has(row.length)) take_lengths(mask, row.length, arguments.counts(row.length), shape);
  }
}

}  // namespace attn
