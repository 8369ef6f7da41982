#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

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
