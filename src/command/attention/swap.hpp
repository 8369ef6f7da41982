#pragma once

#include <string>

#include "command/command.hpp"

namespace attn {

/// The same words with two of them swapped, without positions and with them: what changes in the outputs.
/// `places` is "1,2", counted from 1. Throws InputError: no such words, several sentences, or no x.
Outcome swap_words(Problem problem, const std::string& places);

}  // namespace attn
