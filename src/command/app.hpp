#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"

namespace attn {

/// Whether the locale's characters are UTF-8.
bool speaks_utf8(const Environment& environment);

/// Reads a command line and runs its command. Throws InputError.
AnswerInFormat answer(const std::vector<std::string>& command_line, const Environment& environment);

/// Writes what is to be written: the page in its format, or the document in its place.
void write(const AnswerInFormat& answer, Sink& sink);

/// A command line after parsing, and the command it names. Throws InputError with the nearest names.
struct ParsedCommandLine {
  const Command* command = nullptr;  // null: no arguments at all
  Arguments arguments;
};
ParsedCommandLine parse(const std::vector<std::string>& command_line);

/// The version of the library that parses command lines.
std::string version_of_cli11();

/// How the page looks: options first, then the environment's variables, then the terminal.
Style style_for(const Arguments& arguments, const Environment& environment, bool to_file);

/// The color behind the text: --theme, ATTN_THEME, COLORFGBG, and then what the terminal answers.
Rgb ground_for(const Arguments& arguments, const Environment& environment);

/// How a long page is paged: not at all with --no-pager or where nobody is at a terminal, with ATTN_PAGER or
/// PAGER where they are set, and otherwise by ourselves ("").
std::optional<std::string> pager_for(const Arguments& arguments, const Environment& environment);

}  // namespace attn
