#include "data/files/csv_layout.hpp"

#include <algorithm>

namespace attn {

namespace {

enum class LineKind { blank, comment, row };

struct Line {
  std::string_view text;
  std::size_t at;
  std::size_t number;
  LineKind kind;
};

// Tells rows from comments and blank lines; a line within a quoted label belongs to its row.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }

  Line next() {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    at_ = end + 1;
    Line line{text_.substr(begin, end - begin), begin, ++number_, LineKind::row};
    if (!in_quotes_) line.kind = kind_of(line.text);
    if (line.kind == LineKind::row && std::ranges::count(line.text, '"') % 2 == 1) in_quotes_ = !in_quotes_;
    return line;
  }

 private:
  static LineKind kind_of(std::string_view line) {
    if (line.starts_with('#')) return LineKind::comment;
    return line.find_first_not_of(" \t\r") == std::string_view::npos ? LineKind::blank : LineKind::row;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  bool in_quotes_ = false;
};

std::string_view name_in(std::string_view comment) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = comment.find_first_not_of(blanks, 1);
  if (begin == std::string_view::npos) return {};
  return comment.substr(begin, comment.find_last_not_of(blanks) + 1 - begin);
}

// Each block reaches from its heading to the end of the text; the caller cuts it off at the next heading.
std::vector<CsvBlock> headings_of(std::string_view text) {
  std::vector<CsvBlock> headings;
  Line above{{}, 0, 0, LineKind::blank};
  LineKind two_above = LineKind::blank;
  for (LineReader reader(text); !reader.done();) {
    const Line line = reader.next();
    if (line.kind == LineKind::row && above.kind != LineKind::row) {
      const bool heading =
          above.kind == LineKind::comment && two_above != LineKind::row && !name_in(above.text).empty();
      if (heading) {
        headings.push_back({std::string(name_in(above.text)), text.substr(above.at), above.number});
      } else if (headings.empty()) {
        return {};
      }
    }
    two_above = above.kind;
    above = line;
  }
  return headings;
}

}  // namespace

std::vector<CsvBlock> csv_blocks(std::string_view text) {
  std::vector<CsvBlock> blocks;
  if (text.find('#') != std::string_view::npos) blocks = headings_of(text);
  if (blocks.empty()) return {{"", text, 1}};
  if (blocks.size() == 1) return {{blocks[0].name, text, 1}};
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    blocks[i].text.remove_suffix(blocks[i + 1].text.size());
  }
  return blocks;
}

Separator csv_separator(std::string_view text) {
  bool semicolon = false;
  for (LineReader reader(text); !reader.done();) {
    const Line line = reader.next();
    if (line.kind != LineKind::row) continue;
    if (line.text.find(',') != std::string_view::npos) return Separator::comma;
    semicolon = semicolon || line.text.find(';') != std::string_view::npos;
  }
  return semicolon ? Separator::semicolon : Separator::blanks;
}

}  // namespace attn
