#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"
#include "core/model/named_recipe.hpp"

namespace attn {

/// A field of a recipe that was asked for, and by which option: its own, or --recipe.
struct AskedField {
  const RecipeField* field;
  FieldValue value;
  const Option& option;

  /// The option with its value, as it was typed.
  std::string typed(const Arguments& arguments) const;
};

/// Those that the options ask for; --causal and --not-causal say the fields `causal`. What an option of its own says
/// goes before what --recipe says. Throws InputError for a name that no choice has.
std::vector<AskedField> asked_fields(const Arguments& arguments, std::span<const RecipeField* const> causal);

/// The recipe that the options ask for, in which all that no option says is as in `usual`, or as in the one that
/// --recipe names. Throws InputError for what is none of their choices.
ModelRecipe asked_recipe(const Arguments& arguments, std::span<const RecipeField* const> causal,
                         const ModelRecipe& usual = {});

/// The row that --recipe names; null: none is named.
const NamedRecipe* named_recipe(const Arguments& arguments);

/// The field that an option says by the name of its member.
const RecipeField& field_of(const Option& option);

}  // namespace attn
