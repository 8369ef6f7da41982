#pragma once

#include <optional>

#include "render/style.hpp"

namespace attn {

// The keys of the terminal that the program was started from, one by one and without Enter, even where
// standard input is something else.

/// Whether there is one, and no other job has it.
bool has_keyboard();

/// Waits for a key, as `Terminal::read_key` gives it. Nothing: there is no keyboard, or no more input.
std::optional<char> read_key();

/// What the terminal answers when it is asked for its background color (xterm's OSC 11); nothing where it
/// does not answer, where keys are waiting, or where there is no terminal.
std::optional<Rgb> ground_of_terminal();

}  // namespace attn
