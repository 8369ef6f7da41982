#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "render/format.hpp"
#include "render/style.hpp"

namespace attn {

/// The world around the program, as far as it decides how a page looks.
struct Environment {
  std::function<std::optional<std::string>(const char*)> variable;
  bool output_is_terminal = false;
  std::size_t terminal_width = 0;  // of standard output; 0: unknown
};

/// Whether the locale's characters are UTF-8.
bool speaks_utf8(const Environment& environment);

/// What a command line asks for, ready to be written.
struct Answer {
  Page page;
  const Format* format = nullptr;
  Style style;
  std::string output = "-";  // a file, or standard output
  std::vector<std::string> warnings;
};

/// Reads a command line and runs its command. Throws InputError.
Answer answer(const std::vector<std::string>& command_line, const Environment& environment);

/// A command line after parsing, and the command it names. Throws InputError with the nearest names.
struct Parsed {
  const Command* command = nullptr;  // null: no arguments at all
  Arguments arguments;
};
Parsed parse(const std::vector<std::string>& command_line);

/// How the page looks: options first, then the environment's variables, then the terminal.
Style style_for(const Arguments& arguments, const Environment& environment, bool to_file);

}  // namespace attn
