#include "page/document/document.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/support/utf8.hpp"
#include "data/files/file_access.hpp"
#include "page/document/markdown.hpp"

namespace attn {

namespace {

constexpr std::string_view blanks_and_ends = " \t\r\n";
constexpr std::string_view front_matter_fence = "---";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    if (text.substr(end).starts_with("\r\n")) ++end;
    end = std::min(end + 1, text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

// Front matter is no Markdown: its lines become empty, so that all others keep their numbers.
std::string markdown_of(const Document& document) {
  std::string text;
  for (std::size_t i = 0; i < document.lines.size(); ++i) {
    text += i + 1 < document.first_line ? "\n" : document.lines[i];
  }
  return text;
}

void read_front_matter(Document& document) {
  if (document.lines.empty() || without_ending(document.lines.front()) != front_matter_fence) return;
  const auto is_fence = [](const std::string& line) { return without_ending(line) == front_matter_fence; };
  const auto end = std::find_if(document.lines.begin() + 1, document.lines.end(), is_fence);
  if (end == document.lines.end()) fail_at(document.at(1), "the front matter is not closed: end it with a line ---");
  document.first_line = static_cast<std::size_t>(end - document.lines.begin()) + 2;
  document.front_matter = entries_of(document, 2, document.first_line - 1, "");
}

// What the lines below the block begin with: the quotation's signs, and blanks in place of a list's.
std::string margin_of(std::string_view line, std::size_t column) {
  std::string margin(line.substr(0, column - 1));
  for (char& c : margin) {
    if (c != '>' && c != '\t') c = ' ';
  }
  return margin;
}

// Whether this line closes a block: below the same margin, the fence again or a longer one, and nothing else.
// The Markdown library also ends a block where its list or quotation ends.
bool closes(std::string_view line, std::string_view margin, std::string_view fence) {
  // The blank after the sign of a quotation may be missing.
  if (margin.ends_with("> ") && !line.starts_with(margin)) margin.remove_suffix(1);
  if (!line.starts_with(margin)) return false;
  const std::string_view rest = trimmed(line.substr(margin.size()));
  return rest.starts_with(fence) && rest.find_first_not_of(fence.front()) == std::string_view::npos;
}

FencedBlock fenced_block(const Document& document, const MarkdownLeaf& leaf) {
  const std::string_view first = without_ending(document.lines[leaf.first_line - 1]);
  FencedBlock block{leaf.first_line, leaf.last_line, margin_of(first, leaf.column), leaf.text};
  const std::string_view fence = first.substr(leaf.column - 1);
  const std::string_view signs = fence.substr(0, fence.find_first_not_of(fence.front()));
  const bool has_end = leaf.last_line > leaf.first_line && leaf.last_line <= document.lines.size();
  if (!has_end || !closes(document.lines[leaf.last_line - 1], block.margin, signs)) {
    fail_at(document.at(leaf.first_line), "this block is not closed: end it with a line {}", signs);
  }
  return block;
}

bool is_comment_mark(const MarkdownLeaf& leaf, std::string_view mark) {
  return leaf.kind == MarkdownLeaf::Kind::html && trimmed(leaf.text) == mark;
}

// What a comment says that holds laws.
std::optional<std::string_view> laws_of_mark(const MarkdownLeaf& leaf) {
  constexpr std::string_view begin = "<!-- attn:law", end = "-->";
  const std::string_view comment = trimmed(leaf.text);
  if (leaf.kind != MarkdownLeaf::Kind::html || !comment.starts_with(begin) || !comment.ends_with(end))
    return std::nullopt;
  return trimmed(comment.substr(begin.size(), comment.size() - begin.size() - end.size()));
}

// Reads the leaves in order.
class Reader {
 public:
  explicit Reader(Document& document) : document_(document), leaves_(document.leaves) {}

  void read() {
    for (; at_ < leaves_.size(); ++at_) {
      const MarkdownLeaf& leaf = leaves_[at_];
      const std::string_view word = std::string_view(leaf.info).substr(0, leaf.info.find_first_of(blanks_and_ends));
      if (word == "attn") {
        read_commands(leaf);
      } else if (word == "question") {
        read_plain(leaf, "a question", document_.questions);
      } else if (word == "puzzle") {
        read_plain(leaf, "a puzzle", document_.puzzles);
      } else if (word == "drill") {
        read_plain(leaf, "a drill", document_.drills);
      } else if (is_comment_mark(leaf, begin_of_output) || is_comment_mark(leaf, end_of_output) || laws_of_mark(leaf)) {
        fail_at(document_.at(leaf.first_line), "{} has no block above it: put it after a block of attn",
                trimmed(leaf.text));
      }
    }
  }

 private:
  void read_commands(const MarkdownLeaf& leaf) {
    const Place place = document_.at(leaf.first_line);
    CommandBlock block;
    block.fence = fenced_block(document_, leaf);
    block.attributes = attributes_of(std::string_view(leaf.info).substr(4), place);
    block.attributes.style.ids = fmt::format("drawing-{}", document_.commands.size() + 1);
    block.lines = command_lines(leaf.text, document_.path, leaf.first_line + 1);
    if (block.lines.empty()) fail_at(place, "this block has no command: give it a line such as attn walk");
    if (block.attributes.picture && block.lines.size() > 1)
      fail_at(document_.at(block.lines[1].line), "a picture is of one command: give this one a block of its own");
    const bool has_output = at_ + 1 < leaves_.size() && leaves_[at_ + 1].container == leaf.container &&
                            is_comment_mark(leaves_[at_ + 1], begin_of_output);
    if (has_output) block.output = read_output();
    read_laws(block, leaf.container);
    document_.commands.push_back(std::move(block));
  }

  void read_laws(CommandBlock& block, std::size_t container) {
    for (; at_ + 1 < leaves_.size() && leaves_[at_ + 1].container == container; ++at_) {
      const MarkdownLeaf& leaf = leaves_[at_ + 1];
      const std::optional<std::string_view> laws = laws_of_mark(leaf);
      if (!laws) return;
      block.laws.push_back({std::string(*laws), leaf.first_line, leaf.last_line});
    }
  }

  // Whatever stands in an output is no block of the document.
  OutputLines read_output() {
    const MarkdownLeaf& begin = leaves_[++at_];
    while (++at_ < leaves_.size()) {
      const MarkdownLeaf& leaf = leaves_[at_];
      if (is_comment_mark(leaf, begin_of_output)) break;
      if (is_comment_mark(leaf, end_of_output) && leaf.container == begin.container)
        return {begin.first_line, leaf.first_line};
    }
    fail_at(document_.at(begin.first_line), "this output has no end: put {} after it", end_of_output);
  }

  void read_plain(const MarkdownLeaf& leaf, std::string_view what, std::vector<FencedBlock>& blocks) {
    if (leaf.info.find_first_of(blanks_and_ends) != std::string::npos)
      fail_at(document_.at(leaf.first_line), "{} takes no attributes: leave them out", what);
    blocks.push_back(fenced_block(document_, leaf));
  }

  Document& document_;
  const std::vector<MarkdownLeaf>& leaves_;
  std::size_t at_ = 0;
};

}  // namespace

// --- errors

ErrorAtPlace::ErrorAtPlace(Place place, std::string sentence)
    : InputError(fmt::format("{}:{}: {}", place.path, place.line, sentence)),
      place_(std::move(place)),
      sentence_(std::move(sentence)) {}
ErrorAtPlace::ErrorAtPlace(const ErrorAtPlace&) = default;
ErrorAtPlace::~ErrorAtPlace() = default;

void fail_at_with(const Place& place, fmt::string_view sentence, fmt::format_args args) {
  throw ErrorAtPlace(place, fmt::vformat(sentence, args));
}

// --- document

bool is_output(const Document& document, std::size_t line) {
  return std::ranges::any_of(document.commands, [&](const CommandBlock& block) {
    return block.output && block.output->begin < line && line < block.output->end;
  });
}

std::string command_or_options(std::string_view text) {
  return (text.starts_with("attn ") ? "" : "attn walk ") + std::string(text);
}

std::string_view ending_of(std::string_view line) {
  const std::size_t last = line.find_last_not_of("\r\n");
  return line.substr(last == std::string_view::npos ? 0 : last + 1);
}

std::string_view without_ending(std::string_view line) { return line.substr(0, line.size() - ending_of(line).size()); }

std::string_view without_margin(std::string_view line, std::string_view margin) {
  line = without_ending(line);
  // An empty line need not have the blanks.
  const std::string_view bare = margin.substr(0, margin.find_last_not_of(" \t") + 1);
  const std::string_view taken = line.starts_with(margin) ? margin : line.starts_with(bare) ? bare : "";
  return line.substr(taken.size());
}

std::vector<Entry> entries_of(const Document& document, std::size_t begin, std::size_t end, std::string_view margin) {
  std::vector<Entry> entries;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view line = without_margin(document.lines[i - 1], margin);
    if (trimmed(line).empty()) continue;
    if ((line.front() == ' ' || line.front() == '\t') && !entries.empty()) {
      entries.back().value.append(" ").append(trimmed(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) fail_at(document.at(i), "'{}' has no colon: write KEY: VALUE", trimmed(line));
    entries.push_back({std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1))), i});
  }
  for (const Entry& entry : entries) {
    if (trimmed(entry.value).empty())
      fail_at(document.at(entry.line), "{} has no value: give one, or leave out the line", entry.key);
  }
  return entries;
}

std::vector<std::string> markdown_files_in(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::error_code error;
  const fs::path place = confined_path(path);
  if (!fs::is_directory(place, error)) return paths;
  for (fs::recursive_directory_iterator file(place, error), end; !error && file != end; file.increment(error)) {
    std::error_code unknown;
    if (file->path().extension() == ".md" && file->is_regular_file(unknown))
      paths.push_back((fs::path(path) / file->path().lexically_relative(place)).string());
  }
  if (error) fail_unreadable(path, error);
  if (paths.empty()) fail("{} is a folder without files of Markdown: give one that has some, or a file", path);
  std::ranges::sort(paths);
  return paths;
}

std::string bytes_of(const Document& document) {
  std::string bytes(document.byte_order_mark);
  for (const std::string& line : document.lines) bytes += line;
  return bytes;
}

void refuse_long_document(std::string_view text, const std::string& what) {
  if (text.size() > most_bytes_of_document)
    fail("{} longer than {} bytes: split it into several documents, or show less", what, most_bytes_of_document);
}

Document read_document(std::string_view text, std::string path) {
  Document document;
  document.path = std::move(path);
  document.folder = std::filesystem::path(document.path).parent_path();
  refuse_long_document(text, document.path + " is");
  require_utf8(text, document.path);
  constexpr std::uint64_t work_of_byte = 500;  // some texts take so long to read
  Budget::take_work(work_of_byte * text.size());
  if (text.starts_with(byte_order_mark)) {
    document.byte_order_mark = byte_order_mark;
    text.remove_prefix(byte_order_mark.size());
  }
  document.lines = lines_of(text);
  read_front_matter(document);
  const std::string markdown = markdown_of(document);
  refuse_oversized_tables(markdown, document.path);
  document.leaves = markdown_leaves(markdown);
  Reader(document).read();
  return document;
}

}  // namespace attn
