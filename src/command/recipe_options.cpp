#include "command/recipe_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {
namespace {

// What a flag says of a field; the other options have the field's name.
struct FlagField {
  const Option& option;
  const RecipeField* field;
  bool value;
};

constexpr FlagField flag_fields[] = {{option::unscaled_embeddings, &recipe_field::scale_embeddings, false},
                                     {option::tied_output, &recipe_field::tied_output, true},
                                     {option::gated, &recipe_field::gated, true}};

// What was given, as a field of a recipe takes it.
FieldValue given_value(const Arguments& arguments, const Option& option) {
  if (option.kind == Kind::number) return *arguments.number(option);
  return arguments.name(option);
}

std::vector<AskedField> by_own_options(const Arguments& arguments, std::span<const RecipeField* const> causal) {
  std::vector<AskedField> asked;
  for (const Option* option : recipe_options()) {
    if (!arguments.has(*option) || option == &option::recipe) continue;
    const auto flag = std::ranges::find(flag_fields, option, [](const FlagField& row) { return &row.option; });
    if (flag == std::end(flag_fields)) {
      asked.push_back({&field_of(*option), given_value(arguments, *option), *option});
    } else {
      asked.push_back({flag->field, flag->value, *option});
    }
  }
  for (const Option* option : {&option::causal, &option::not_causal}) {
    if (!arguments.has(*option)) continue;
    for (const RecipeField* field : causal) asked.push_back({field, option == &option::causal, *option});
  }
  return asked;
}

}  // namespace

std::string AskedField::typed(const Arguments& arguments) const {
  if (&option == &option::recipe) return fmt::format("{} {}", option.name, *arguments.text(option));
  if (const double* const number = std::get_if<double>(&value)) return fmt::format("{} {}", option.name, *number);
  if (const std::string_view* const name = std::get_if<std::string_view>(&value))
    return fmt::format("{} {}", option.name, *name);
  return std::string(option.name);
}

const RecipeField& field_of(const Option& option) {
  if (const RecipeField* const field = find_recipe_field(option.member)) return *field;
  throw std::logic_error(fmt::format("{} says no choice of a recipe", option.name));
}

const NamedRecipe* named_recipe(const Arguments& arguments) {
  const std::optional<std::string> name = arguments.text(option::recipe);
  return name ? &look_up(named_recipes(), *name, "recipe") : nullptr;
}

std::vector<AskedField> asked_fields(const Arguments& arguments, std::span<const RecipeField* const> causal) {
  std::vector<AskedField> asked = by_own_options(arguments, causal);
  const NamedRecipe* const named = named_recipe(arguments);
  if (!named) return asked;
  for (const NamedField& each : named->fields) {
    if (std::ranges::find(asked, each.field, &AskedField::field) == asked.end())
      asked.push_back({each.field, each.value, option::recipe});
  }
  return asked;
}

ModelRecipe asked_recipe(const Arguments& arguments, std::span<const RecipeField* const> causal,
                         const ModelRecipe& usual) {
  const NamedRecipe* const named = named_recipe(arguments);
  ModelRecipe recipe = named ? named->recipe() : usual;
  if (arguments.has(option::no_bias)) recipe.biases = false;
  for (const AskedField& asked : asked_fields(arguments, causal))
    asked.field->take(recipe, asked.value, std::string(asked.option.name));
  return recipe;
}

}  // namespace attn
