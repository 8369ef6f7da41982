#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/outside.hpp"
#include "data/files/file_access.hpp"
#include "data/problem/problem.hpp"
#include "page/block/page.hpp"
#include "page/document/document.hpp"
#include "page/render/style.hpp"

namespace attn {

/// A picture of a page, and what it shows in words.
struct DrawnPicture {
  std::string bytes, words;
};

/// What a command line has printed.
struct CommandResult {
  std::string text;
  std::string_view format;  // that the text is in
  std::shared_ptr<const Page> page;
  Calculation computation = {};             // behind the page
  Style style = {};                         // that it was written in
  std::size_t width = 0;                    // that the command itself asked for; 0: none
  std::vector<DrawnPicture> pictures = {};  // of a block whose pictures are in files: instead of the text
};

/// Runs the words of a command line as the program would, always in the same style: no color, no terminal.
/// Nothing is written. Throws InputError. The commands pass it in, because documents and lessons cannot
/// include them.
using RunCommand = std::function<CommandResult(const std::vector<std::string>& words, const BlockStyle& style)>;

// Documents whose output is kept current. Only the lines of an output ever change.

/// A law of a document that does not hold.
struct BrokenLaw {
  std::size_t line;  // of the document
  std::string says;  // which, and at which cell
};

/// The output of a block: what stands in the document, and the pictures that stand beside it.
struct BlockOutput {
  std::vector<std::string> lines;          // without margin and line endings
  std::vector<FileToWrite> pictures = {};  // with the bytes that are there now
  std::vector<BrokenLaw> broken_laws = {};
};

/// What the command lines of a block have printed, one after the other.
struct BlockResult {
  std::vector<CommandResult> results;
  BlockOutput printed;
};

/// The commands of a document may come from anybody. While this lives, they read only files beside it or
/// below, and take no more than a document may: some seconds, some hundred MB of memory, some MB of output.
class DocumentSandbox {
 public:
  explicit DocumentSandbox(const Document& document) : DocumentSandbox(document.folder) {}
  /// Without a folder no file is read.
  explicit DocumentSandbox(std::optional<std::filesystem::path> folder);

 private:
  FolderConfinement confined_;
  Budget budget_;
};

/// The same for what may be built in: then it is no guest, and may stand in a document.
class OptionalSandbox {
 public:
  OptionalSandbox(bool is_guest, std::optional<std::filesystem::path> folder) {
    if (is_guest) guest_.emplace(std::move(folder));
  }

 private:
  std::optional<DocumentSandbox> guest_;
};

/// Runs a block of a guest, and holds its laws. Throws InputError with path and line: a command that fails or takes
/// more than a block may, or one that was to fail and runs; a law that cannot be read or held.
BlockResult run_block(const Document& document, const CommandBlock& block, const RunCommand& run);

/// Runs a command of a guest that stands in no block, as if it had one. Throws InputError.
CommandResult run_alone(const std::vector<std::string>& words, const RunCommand& run);

/// The outputs of all blocks in order, as those of a guest. Throws as run_block does.
std::vector<BlockOutput> outputs_of(const Document& document, const RunCommand& run);

/// The document with these outputs, as text. Lines that are alike stay as they are, and so does all else.
std::string with_outputs(const Document& document, const std::vector<BlockOutput>& outputs);

/// The pictures beside a document that are missing or not alike. Throws InputError with path and line where
/// two blocks want the same one.
std::vector<FileToWrite> pictures_to_write(const Document& document, const std::vector<BlockOutput>& outputs);

/// The document without outputs and their marks. Pictures beside it stay.
std::string without_outputs(const Document& document);

/// A block whose output is not what it prints.
struct StaleBlock {
  Place place;
  std::string command;                  // its first command line
  bool is_new = false;                  // it has no output yet
  std::vector<std::string> difference;  // the lines that differ, as line_difference() writes them
  std::vector<std::string> missing;     // pictures, by their paths from the document
};

/// The blocks whose output, or the picture of it, is missing or not alike.
std::vector<StaleBlock> stale_blocks(const Document& document, const std::vector<BlockOutput>& outputs);

/// Whether two texts are the same except for the last digits of their numbers: a number with decimals may be
/// one unit of its last digit off, and any number 1e-12 of its size, because processors differ. Whole
/// numbers, and how many decimals are printed, must be the same.
bool is_same_output(std::string_view one, std::string_view other);

/// The same for texts whose numbers are all at full precision: any may be 1e-12 of its size off, and none
/// more.
bool alike_at_full_precision(std::string_view one, std::string_view other);

/// The lines that differ, "- " before those of `old_lines` and "+ " before those of `new_lines`, among up to
/// three lines around them, which begin with two blanks; "  …" where lines are left out. Lines that are alike
/// count as the same.
std::vector<std::string> line_difference(const std::vector<std::string>& old_lines,
                                         const std::vector<std::string>& new_lines);

}  // namespace attn
