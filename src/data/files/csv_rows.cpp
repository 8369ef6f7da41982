#include "data/files/csv_rows.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace attn {
namespace {

enum class LineKind { blank, comment, row };

struct CsvLine {
  std::string_view text;
  std::size_t at;
  std::size_t number;
  LineKind kind;
};

// Tells rows from comments and blank lines; a line within a quoted label belongs to its row.
class CsvLineReader {
 public:
  explicit CsvLineReader(std::string_view text) : text_(text) {}

  bool done() const { return at_ >= text_.size(); }

  CsvLine next() {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    at_ = end + 1;
    CsvLine line{text_.substr(begin, end - begin), begin, ++number_, LineKind::row};
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
  CsvLine above{{}, 0, 0, LineKind::blank};
  LineKind two_above = LineKind::blank;
  for (CsvLineReader reader(text); !reader.done();) {
    const CsvLine line = reader.next();
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

bool has_outside_quotes(std::string_view line, char sign) {
  bool quoted = false;
  return std::ranges::any_of(line, [&](char c) {
    if (c == '"') quoted = !quoted;
    return c == sign && !quoted;
  });
}

constexpr std::size_t most_fields = std::size_t{1} << 22;  // of a row; each takes far more than its byte

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
  bool comma = false, semicolon = false, semicolon_everywhere = true;
  for (CsvLineReader reader(text); !reader.done();) {
    const CsvLine line = reader.next();
    if (line.kind != LineKind::row) continue;
    comma = comma || line.text.find(',') != std::string_view::npos;
    const bool here = has_outside_quotes(line.text, ';');
    semicolon = semicolon || here;
    semicolon_everywhere = semicolon_everywhere && here;
    if (comma && !semicolon_everywhere) return Separator::comma;
  }
  if (comma && !semicolon) return Separator::comma;
  return semicolon ? Separator::semicolon : Separator::blanks;
}

std::string unescaped(const CsvField& field) {
  std::string text;
  text.reserve(field.text.size());
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

FieldReader::FieldReader(const CsvBlock& block, Separator separator, const std::string& where)
    : text_(block.text), separator_(separator), where_(where), line_(block.first_line) {}

std::span<const CsvField> FieldReader::next() {
  fields_.clear();
  while (skip_line()) {
  }
  if (at_ >= text_.size()) return {};
  row_line_ = line_;
  for (;;) {
    if (fields_.size() == most_fields) {
      fail("{}:{}: this row has more than {} cells: use an .npy file for a matrix this wide", where_, row_line_,
           most_fields);
    }
    fields_.push_back(read_field());
    if (at_line_end()) break;
    if (separator_ != Separator::blanks) ++at_;
  }
  ++at_;
  ++line_;
  return fields_;
}

// Passes over one line if it holds no cells.
bool FieldReader::skip_line() {
  if (at_ >= text_.size()) return false;
  const std::size_t begin = at_;
  if (text_[at_] != '#') skip_spaces();
  if (text_[begin] != '#' && !at_line_end()) {
    at_ = begin;
    return false;
  }
  at_ = std::min(text_.find('\n', at_), text_.size()) + 1;
  ++line_;
  return true;
}

void FieldReader::skip_spaces() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool FieldReader::is_space(char c) const {
  return c == ' ' || c == '\r' || (c == '\t' && separator_ != Separator::tab);
}

bool FieldReader::ends_field(char c) const {
  return c == '\n' || c == static_cast<char>(separator_) || (c == '\t' && separator_ == Separator::blanks);
}

CsvField FieldReader::read_field() {
  skip_spaces();
  return at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain();
}

CsvField FieldReader::read_plain() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && !ends_field(text_[at_])) ++at_;
  std::size_t end = at_;
  while (end > begin && is_space(text_[end - 1])) --end;
  if (separator_ == Separator::blanks) skip_spaces();
  return {text_.substr(begin, end - begin), false};
}

CsvField FieldReader::read_quoted() {
  const std::size_t begin = at_ + 1;
  std::size_t end = text_.find('"', begin);
  while (end != std::string_view::npos && text_.substr(end + 1).starts_with('"')) {
    end = text_.find('"', end + 2);
  }
  if (end == std::string_view::npos) {
    fail("{}:{}: a quote is opened here and never closed: add the closing quote", where_, line_);
  }
  const CsvField field{text_.substr(begin, end - begin), true};
  line_ += static_cast<std::size_t>(std::ranges::count(field.text, '\n'));
  at_ = end + 1;
  const std::size_t behind_quote = at_;
  skip_spaces();
  const bool separated =
      separator_ == Separator::blanks ? at_ > behind_quote : !at_line_end() && ends_field(text_[at_]);
  if (!at_line_end() && !separated) {
    fail("{}:{}: text follows a closing quote: put the whole cell in quotes", where_, line_);
  }
  return field;
}

}  // namespace attn
