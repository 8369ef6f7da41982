#pragma once

#include "command/model/choice.hpp"
#include "parameters/parameters.hpp"

namespace attn {

/// The recipe that the options ask for. Throws InputError for what is none of their choices.
ModelRecipe asked_recipe(const Arguments& arguments, const ModelUse& use);

/// The same for a model that was read, with what is known of models of its layout. Throws InputError, naming
/// both, where an option says something else.
ModelRecipe asked_recipe(const Arguments& arguments, const ModelUse& use, const ParameterFile& file,
                         const std::string& path);

/// What a file of parameters leaves open and no option says, as it is assumed.
std::string assumptions_in_words(const Arguments& arguments, const ModelRecipe& recipe,
                                 std::span<const BroughtField> brought);

/// Gives the words of a choice the masks that the options ask for. Throws InputError for one that does not
/// fit.
void take_masks(ModelChoice& choice, const Arguments& arguments, const ModelUse& use);

}  // namespace attn
