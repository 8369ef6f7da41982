#pragma once

#include <vector>

#include "command/command.hpp"

namespace attn {

// The commands of a subject, in the order of the help, and the options that several of them take.

std::vector<Command> attention_commands();
std::vector<Command> model_commands();

Option only_option();
Option depth_option();
Option outline_option();

/// The fields that embeddings come from.
std::span<const std::string_view> fields_of_embeddings();

}  // namespace attn
