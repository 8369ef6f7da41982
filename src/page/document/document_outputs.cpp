#include "page/document/document_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/math/matrix.hpp"
#include "core/support/text.hpp"
#include "core/term/law.hpp"
#include "data/files/file_access.hpp"
#include "data/files/matrix_file.hpp"
#include "page/render/format.hpp"

namespace attn {

namespace {

// Far more than documents need that teach, and seconds of one core.
constexpr Allowance of_block = {"a block", 2'000'000'000, std::size_t{1} << 24, std::size_t{1} << 20};
constexpr Allowance of_document = {"a document", 16'000'000'000, std::size_t{1} << 25, std::size_t{2} << 20};
constexpr std::uint64_t work_of_command = 1'000'000;  // beside what it computes
// Blocks of many sizes must not pile up what each of them has freed.
constexpr std::size_t most_freed_bytes = std::size_t{1} << 26;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append_fenced(std::vector<std::string>& lines, std::string_view text, std::string_view language) {
  const std::string fence = fence_around(text);
  lines.push_back(fence + std::string(language));
  for (std::string& line : split(text)) lines.push_back(std::move(line));
  lines.push_back(fence);
}

// Markdown stands as it is, with room around it.
void append_markdown(std::vector<std::string>& lines, std::string_view text, const Place& place) {
  if (lines.empty() || !lines.back().empty()) lines.emplace_back();
  for (std::string& line : split(text)) {
    if (trimmed(line) == begin_of_output || trimmed(line) == end_of_output)
      fail_at(place, "this output contains the mark of an output: give the block format=text");
    lines.push_back(std::move(line));
  }
  lines.emplace_back();
}

// The sentence of an error as a paragraph of text.
CommandResult page_of_complaint(const std::string& sentence, const BlockStyle& wanted) {
  auto page = std::make_shared<Page>();
  page->blocks.emplace_back(Prose{attn::text(strong(sentence))});
  CommandResult result{"", "text", page, {}, {.width = wanted.width.value_or(80)}};
  Sink sink([&](std::string_view bytes) { result.text += bytes; });
  render_text(*page, result.style, sink);
  sink.flush();
  return result;
}

CommandResult failed(const Document& document, const CommandBlock& block, const CommandLine& line,
                     const RunCommand& run) {
  try {
    run(line.words, block.attributes.style);
  } catch (const InputError& error) {
    return page_of_complaint(std::string("attn: ") + error.what(), block.attributes.style);
  }
  fail_at(document.at(line.line), "this command was expected to fail, but it results: leave out `fails`");
}

CommandResult result_of(const Document& document, const CommandBlock& block, const CommandLine& line,
                        const BlockStyle& wanted, const RunCommand& run) {
  if (block.attributes.fails) return failed(document, block, line, run);
  return at_place(document.at(line.line), [&] { return run(line.words, wanted); });
}

// The lines of the output that stands in the document, as with_outputs would write them anew.
std::vector<std::string> current_lines(const Document& document, const CommandBlock& block) {
  std::vector<std::string> lines;
  if (!block.output) return lines;
  for (std::size_t i = block.output->begin + 1; i < block.output->end; ++i)
    lines.emplace_back(without_margin(document.lines[i - 1], block.fence.margin));
  return lines;
}

bool is_current(const std::vector<std::string>& old_lines, const std::vector<std::string>& new_lines) {
  return std::ranges::equal(old_lines, new_lines, is_same_output);
}

std::vector<std::string> lines_before(const FileToWrite& picture) { return split(picture.replaces.value_or("")); }

bool is_current(const FileToWrite& picture) {
  return picture.replaces && is_current(lines_before(picture), split(picture.bytes));
}

// What stands in the document is a link; the picture stands in a file of its own, beside it.
BlockOutput shown_as_picture(const Document& document, const std::string& name, const CommandResult& result) {
  BlockOutput printed;
  for (std::size_t i = 0; i < result.pictures.size(); ++i) {
    const auto& [bytes, words] = result.pictures[i];
    const std::string own = result.pictures.size() > 1 ? path_of_part(name, i + 1) : name;
    printed.lines.insert(printed.lines.end(), {"", fmt::format("![{}]({})", escaped_markdown(words), own)});
    if (!document.folder) continue;
    FileToWrite& picture = printed.pictures.emplace_back(FileToWrite{place_to_write(own).string(), bytes});
    if (!file_exists(own)) continue;
    picture.replaces = read_bytes(own);
    if (!picture.replaces->starts_with(begin_of_svg_file))
      fail("{} is there already, and is not a picture that attn made: give another name", own);
  }
  printed.lines.emplace_back();
  return printed;
}

// The laws below a block, of which those are told that its last command breaks.
std::vector<BrokenLaw> broken_laws_of(const Document& document, const CommandBlock& block, const CommandResult& last) {
  std::vector<BrokenLaw> broken;
  for (const LawMark& mark : block.laws) {
    at_place(document.at(mark.line), [&] {
      if (!last.computation.graph)
        fail("the command above has no matrices: put the law below one that has some, such as attn walk");
      for (const std::string& law : laws_in(mark.laws)) {
        for (const LawCheck& held : check_law(law, *last.computation.graph, default_tolerance_of_laws)) {
          if (held.broken)
            broken.push_back(
                {mark.line, fmt::format("the law '{}' does not hold: {}", law, violation_in_words(*held.broken))});
        }
      }
    });
  }
  return broken;
}

// Copies the lines of a document, and puts lines of its own among them.
class Copy {
 public:
  explicit Copy(const Document& document) : document_(document), text_(document.byte_order_mark) {}

  // All lines before this one that have not been copied yet.
  void up_to(std::size_t line) {
    for (; next_ < line; ++next_) text_ += document_.lines[next_ - 1];
  }
  void skip_to(std::size_t line) { next_ = line; }

  void insert(const CommandBlock& block, const std::vector<std::string>& lines) {
    const std::string_view ending = ending_of(document_.lines[block.fence.first_line - 1]);
    if (ending_of(text_).empty()) text_ += ending;
    for (const std::string& line : lines) {
      const std::string& margin = block.fence.margin;
      text_ += line.empty() ? margin.substr(0, margin.find_last_not_of(" \t") + 1) : margin;
      text_ += line;
      text_ += ending;
    }
  }

  // A last line without an end is followed by nothing else, whichever line it is now.
  std::string finish() {
    up_to(document_.lines.size() + 1);
    const bool open = !document_.lines.empty() && ending_of(document_.lines.back()).empty();
    if (open) text_.resize(without_ending(text_).size());
    return std::move(text_);
  }

 private:
  const Document& document_;
  std::size_t next_ = 1;
  std::string text_;
};

}  // namespace

DocumentSandbox::DocumentSandbox(std::optional<std::filesystem::path> folder)
    : confined_(std::move(folder)), budget_(of_document) {}

BlockResult run_block(const Document& document, const CommandBlock& block, const RunCommand& run) {
  const Budget budget(of_block);
  BlockResult block_result;
  for (const CommandLine& line : block.lines) {
    BlockStyle wanted = block.attributes.style;
    if (block.lines.size() > 1) wanted.ids += fmt::format("-{}", block_result.results.size() + 1);
    // Not within what may fail: a document that has taken all cannot go on to ask for more.
    at_place(document.at(line.line), [] { Budget::take_work(work_of_command); });
    CommandResult result = result_of(document, block, line, wanted, run);
    std::vector<std::string>& lines = block_result.printed.lines;
    if (block.attributes.picture) {
      block_result.printed = at_place(document.at(line.line),
                                      [&] { return shown_as_picture(document, *block.attributes.picture, result); });
    } else if (result.format == "markdown") {
      append_markdown(lines, result.text, document.at(line.line));
    } else {
      append_fenced(lines, result.text, result.format);
    }
    block_result.results.push_back(std::move(result));
  }
  block_result.printed.broken_laws = broken_laws_of(document, block, block_result.results.back());
  at_place(document.at(block.fence.first_line),
           [&] { Budget::take_output(block_result.printed.lines.size() * block.fence.margin.size()); });
  return_freed_cells(most_freed_bytes);
  return block_result;
}

CommandResult run_alone(const std::vector<std::string>& words, const RunCommand& run) {
  const Budget budget(of_block);
  Budget::take_work(work_of_command);
  return run(words, {});
}

std::vector<BlockOutput> outputs_of(const Document& document, const RunCommand& run) {
  const DocumentSandbox guest(document);
  std::vector<BlockOutput> outputs;
  for (const CommandBlock& block : document.commands) outputs.push_back(run_block(document, block, run).printed);
  return outputs;
}

std::string with_outputs(const Document& document, const std::vector<BlockOutput>& outputs) {
  Copy copy(document);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const CommandBlock& block = document.commands[i];
    if (!block.output) {
      copy.up_to(block.fence.last_line + 1);
      std::vector<std::string> lines = outputs[i].lines;
      lines.emplace(lines.begin(), begin_of_output);
      lines.emplace_back(end_of_output);
      copy.insert(block, lines);
    } else if (!is_current(current_lines(document, block), outputs[i].lines)) {
      copy.up_to(block.output->begin + 1);
      copy.insert(block, outputs[i].lines);
      copy.skip_to(block.output->end);
    }
  }
  return copy.finish();
}

std::vector<FileToWrite> pictures_to_write(const Document& document, const std::vector<BlockOutput>& outputs) {
  std::vector<FileToWrite> files;
  std::set<std::string> names;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const FileToWrite& picture : outputs[i].pictures) {
      const CommandBlock& block = document.commands[i];
      if (!names.insert(picture.path).second)
        fail_at(document.at(block.fence.first_line), "another block has the picture {}: give this one another name",
                *block.attributes.picture);
      if (!is_current(picture)) files.push_back(picture);
    }
  }
  return files;
}

std::string without_outputs(const Document& document) {
  Copy copy(document);
  for (const CommandBlock& block : document.commands) {
    if (!block.output) continue;
    copy.up_to(block.fence.last_line + 1);
    copy.skip_to(block.output->end + 1);
  }
  return copy.finish();
}

std::vector<StaleBlock> stale_blocks(const Document& document, const std::vector<BlockOutput>& outputs) {
  std::vector<StaleBlock> stale;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const CommandBlock& block = document.commands[i];
    std::vector<std::string> before = current_lines(document, block), now = outputs[i].lines;
    const std::vector<FileToWrite>& pictures = outputs[i].pictures;
    const auto are_current = [](const FileToWrite& picture) { return is_current(picture); };
    if (block.output && is_current(before, now) && std::ranges::all_of(pictures, are_current)) continue;
    std::vector<std::string> missing;
    for (const FileToWrite& picture : pictures) {
      if (is_current(picture)) continue;
      if (!picture.replaces) {
        missing.push_back(
            std::filesystem::path(picture.path).lexically_normal().lexically_proximate(*document.folder).string());
        continue;
      }
      for (std::string& line : lines_before(picture)) before.push_back(std::move(line));
      for (std::string& line : split(picture.bytes)) now.push_back(std::move(line));
    }
    const CommandLine& first = block.lines.front();
    std::vector<std::string> lines;
    if (!is_current(before, now)) lines = line_difference(before, now);
    stale.push_back({document.at(first.line), first.text, !block.output, std::move(lines), std::move(missing)});
  }
  return stale;
}

}  // namespace attn
