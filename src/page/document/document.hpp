#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/document/markdown.hpp"

namespace attn {

/// A line of a file, for messages.
struct Place {
  std::string path;
  std::size_t line = 0;
};

/// What is wrong at a line of a file: "path:line: " and the sentence.
class ErrorAtPlace : public InputError {
 public:
  ErrorAtPlace(Place place, std::string sentence);
  ErrorAtPlace(const ErrorAtPlace& other);
  ~ErrorAtPlace() override;

  const Place& place() const { return place_; }
  const std::string& sentence() const { return sentence_; }  // without its place

 private:
  Place place_;
  std::string sentence_;
};

/// What fail_at() does, whatever the types of its arguments are.
[[noreturn]] void fail_at_with(const Place& place, fmt::string_view sentence, fmt::format_args args);

/// Throws ErrorAtPlace with the formatted sentence.
template <class... Args>
[[noreturn]] void fail_at(const Place& place, fmt::format_string<Args...> sentence, Args&&... args) {
  fail_at_with(place, sentence, fmt::make_format_args(args...));
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
  bool in_files = false;  // pictures, each in a file of its own
  std::string ids = {};   // begins the ids of what is drawn, so that parts of one document have their own
};

/// What stands behind the word `attn` of a block.
struct Attributes {
  BlockStyle style;
  bool fails = false;   // an error is expected, and its sentence is the output
  bool hidden = false;  // the command lines are not shown where a lesson is taken
  std::optional<std::string>
      picture;                      // an SVG file beside the document, which holds the output; of several NAME-1.svg…
  std::vector<std::string> covers;  // lines of the checklist that its first command shows
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

/// A command as `on:` gives it: whole, or only options of attn walk.
std::string command_or_options(std::string_view text);

// Markdown in which fenced blocks called `attn` hold command lines, and what those print stands after them.
// Lines count from 1, as editors count them.

/// Around the output of a block, each in a line of its own.
constexpr std::string_view begin_of_output = "<!-- attn:output -->";
constexpr std::string_view end_of_output = "<!-- /attn:output -->";

/// The lines of the two marks around an output.
struct OutputLines {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A fenced block called `attn`, `question`, `puzzle` or `drill`.
struct FencedBlock {
  std::size_t first_line = 0;  // with its fences
  std::size_t last_line = 0;
  std::string margin;  // what stands before each line beneath it: the indentation of a list, "> "
  std::string text;    // what it holds
};

/// Laws that the matrices of a block's last command obey, in a comment below it or below its output:
/// <!-- attn:law row_sums(weights) = 1; causal(weights) -->
struct LawMark {
  std::string laws;
  std::size_t line = 0, last_line = 0;
};

/// A block of command lines, and where its output stands, if it stands there.
struct CommandBlock {
  FencedBlock fence;
  Attributes attributes;
  std::vector<CommandLine> lines;
  std::optional<OutputLines> output;
  std::vector<LawMark> laws = {};

  /// The last line that belongs to it.
  std::size_t last_line() const {
    return !laws.empty() ? laws.back().last_line : output ? output->end : fence.last_line;
  }
};

/// A line `key: value`.
struct Entry {
  std::string key;
  std::string value;
  std::size_t line = 0;
};

/// A Markdown file.
struct Document {
  std::string path;                             // as messages name it
  std::optional<std::filesystem::path> folder;  // whose files its commands may read; without one, none
  std::string_view byte_order_mark;             // which some editors put before the first line, or nothing
  std::vector<std::string> lines;               // each with what ends it
  std::vector<Entry> front_matter;
  std::size_t first_line = 1;  // behind the front matter
  std::vector<MarkdownLeaf> leaves;
  std::vector<CommandBlock> commands;
  std::vector<FencedBlock> questions;
  std::vector<FencedBlock> puzzles;
  std::vector<FencedBlock> drills;

  Place at(std::size_t line) const { return {path, line}; }
};

/// The files of Markdown in a folder and below it, in order; none where `path` is no folder. Throws InputError: a
/// folder without any, or one that cannot be read.
std::vector<std::string> markdown_files_in(const std::string& path);

/// The bytes of a document.
std::string bytes_of(const Document& document);

/// Throws InputError where a text is longer than a document may be: the Markdown library takes hundreds of
/// times as much memory as some texts. `what` begins the sentence: "a.md is".
void refuse_long_document(std::string_view text, const std::string& what);
constexpr std::size_t most_bytes_of_document = std::size_t{2} << 20;

/// Reads a document. Throws InputError with path and line: a block or an output that is not closed, an
/// attribute that there is not, a command line that is none, more bytes than a document may have; or without a line: it
/// is not UTF-8.
Document read_document(std::string_view text, std::string path);

/// The lines `key: value` from `begin` to before `end`, below a margin; a line that begins with blanks goes
/// on with the value above it. Throws InputError with path and line.
std::vector<Entry> entries_of(const Document& document, std::size_t begin, std::size_t end, std::string_view margin);

/// Sets what such lines say: of each key there is a row in a table, with its name, whether it repeats, and a
/// function that sets its value. `what` is "key of a puzzle". Throws InputError with path and line: an unknown
/// key, one that is given twice and does not repeat.
template <class Key, class Owner>
void set_by_keys(std::span<const Key> keys, std::string_view what, std::span<const Entry> entries,
                 const std::string& path, Owner& owner) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    at_place({path, entry->line}, [&] {
      const Key& key = look_up(keys, entry->key, what);
      const bool is_given =
          std::find_if(entries.begin(), entry, [&](const Entry& other) { return other.key == entry->key; }) != entry;
      if (is_given && !key.repeats) fail("{} is given twice: give it once", key.name);
      key.set(owner, *entry);
    });
  }
}

/// Whether a line stands in the output of a block.
bool is_output(const Document& document, std::size_t line);

/// A line without what ends it.
std::string_view without_ending(std::string_view line);
/// What ends it: "\n", "\r\n", "\r" or nothing.
std::string_view ending_of(std::string_view line);

/// A line without what ends it and without the margin of the block above it.
std::string_view without_margin(std::string_view line, std::string_view margin);

}  // namespace attn
