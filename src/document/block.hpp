#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.hpp"
#include "support/text.hpp"

namespace attn {

/// A line of a file, for messages.
struct Place {
  std::string path;
  std::size_t line = 0;
};

/// Throws InputError: "path:line: " and the formatted sentence.
template <class... Args>
[[noreturn]] void fail_at(const Place& place, fmt::format_string<Args...> sentence, Args&&... args) {
  throw InputError(
      fmt::format("{}:{}: {}", place.path, place.line, fmt::format(sentence, std::forward<Args>(args)...)));
}

/// Runs the action; an InputError that it throws gets the place put before its sentence.
template <class Action>
auto at_place(const Place& place, const Action& action) {
  try {
    return action();
  } catch (const InputError& error) {
    fail_at(place, "{}", error.what());
  }
}

/// How a block asks for its output; what is not given is text of 80 columns and 4 decimals.
struct BlockStyle {
  std::optional<std::string> format;
  std::optional<std::size_t> width;
  std::optional<int> precision;
};

/// What stands behind the word `attn` of a block.
struct Attributes {
  BlockStyle style;
  bool fails = false;                  // an error is expected, and its sentence is the output
  bool hidden = false;                 // the command lines are not shown where a lesson is taken
  std::optional<std::string> picture;  // an SVG file beside the document, which holds the output
  std::vector<std::string> covers;     // lines of the checklist that its first command shows
};

/// Reads `format=markdown width=60 fails` and the like. Throws InputError with the place.
Attributes attributes_of(std::string_view text, const Place& place);

/// A command line of a document: never given to a shell.
struct CommandLine {
  std::string text;                // in one line, without a prompt
  std::vector<std::string> lines;  // as it is written, each with the backslash at its end
  std::vector<std::string> words;  // what stands after "attn"
  std::size_t line = 0;            // of the file, from 1
};

/// The command lines of a block whose first line is line `first` of `path`, one in each line; a backslash at
/// the end of a line goes on in the next, `#` begins a comment, and "$ " may stand before each. Quotes and
/// backslashes are read as a shell reads them. Throws InputError with path and line: what does not begin with
/// attn, a quote that is not closed, and all that only a shell can do.
std::vector<CommandLine> command_lines(std::string_view block, const std::string& path, std::size_t first);

}  // namespace attn
