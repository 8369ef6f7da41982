#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.hpp"
#include "page/page.hpp"
#include "problem/problem.hpp"
#include "render/style.hpp"

namespace attn {

/// What a command line has printed.
struct CommandResult {
  std::string text;
  std::string_view format;  // that the text is in
  std::shared_ptr<const Page> page;
  Calculation computation = {};  // behind the page
  Style style = {};              // that it was written in
  std::size_t width = 0;         // that the command itself asked for; 0: none
};

/// Runs the words of a command line as the program would, always in the same style: no color, no terminal.
/// Nothing is written. Throws InputError. The commands pass it in, because documents and lessons cannot
/// include them.
using RunCommand =
    std::function<CommandResult(const std::vector<std::string>& words, const BlockStyle& style)>;

// Documents whose output is kept current. Only the lines of an output ever change.

/// What the command lines of a block have printed, one after the other.
struct BlockResult {
  std::vector<CommandResult> results;
  std::vector<std::string> lines;  // the output as it stands in the document, without margin and line endings
};

/// Runs a block. Throws InputError with path and line: a command that fails, or one that was to fail and
/// runs.
BlockResult run_block(const Document& document, const CommandBlock& block, const RunCommand& run);

/// All blocks in order, confined to the document's own folder. Throws as run_block does.
std::vector<BlockResult> run_blocks(const Document& document, const RunCommand& run);

/// The document with these outputs, as text. Lines that are alike stay as they are, and so does all else.
std::string with_outputs(const Document& document, const std::vector<BlockResult>& results);

/// The document without outputs and their marks.
std::string without_outputs(const Document& document);

/// A block whose output is not what it prints.
struct Stale {
  Place place;
  std::string command;                  // its first command line
  std::vector<std::string> difference;  // the lines that differ, as difference() writes them
};

/// The blocks whose output is missing or not alike.
std::vector<Stale> stale_blocks(const Document& document, const std::vector<BlockResult>& results);

}  // namespace attn
