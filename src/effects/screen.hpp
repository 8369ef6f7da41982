#pragma once

#include <memory>

#include "core/support/outside.hpp"

namespace attn {

/// The terminal that the program was started from as a screen, by ncurses: its keys, its mouse and its modes. What is
/// shown is written as it stands. Null where standard output is no terminal, keys come from nowhere, or the terminal
/// cannot move its cursor.
std::unique_ptr<Screen> open_screen();

}  // namespace attn
