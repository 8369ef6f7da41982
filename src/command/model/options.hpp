#pragma once

#include "command/command.hpp"

namespace attn {

/// The options that choose a model, its sizes, its parameters and its words.
std::vector<Option> model_options();

/// Those among them that say what a model is run on.
std::span<const Option> word_options();

/// "layers" of --layers.
std::string_view without_dashes(const Option& option);

/// Whether an option tells of a model, its kind or its sizes. Words alone do not.
bool chooses_model(const Arguments& arguments);

}  // namespace attn
