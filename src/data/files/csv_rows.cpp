#include "data/files/csv_rows.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

// --- comments

constexpr std::string_view blanks_of_line = " \t\r", separators_of_cells = ",;\t";

// What stands between blanks.
std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks_of_line); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks_of_line, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks_of_line, end);
  }
  return words;
}

bool is_number(std::string_view text) { return has_value(parse_cell(text)); }

// A line that begins with % or //, once or more, and a blank, as other languages have comments, unless it may be a row
// that begins with this label: it stands alone, signs that separate cells are in it, or nothing but numbers follows.
bool is_comment_of_others(std::string_view line) {
  for (const std::string_view sign : {"%", "//"}) {
    std::string_view behind = line;
    while (behind.starts_with(sign)) behind.remove_prefix(sign.size());
    if (behind.size() == line.size()) continue;
    const bool stands_alone = behind.empty() || blanks_of_line.find(behind.front()) != std::string_view::npos;
    if (!stands_alone || behind.find_first_of(separators_of_cells) != std::string_view::npos) return false;
    const std::vector<std::string_view> words = words_of_line(behind);
    return words.empty() ? line.size() - behind.size() > 1 : !std::ranges::all_of(words, is_number);
  }
  return false;
}

bool is_comment(std::string_view line) { return line.starts_with('#') || is_comment_of_others(line); }

// A row up to a blank and # behind a number, and that number. In quotes, # is text, and so it is in the first cell
// where others follow: that may be a label.
std::size_t end_of_cells(std::string_view line) {
  if (line.find('"') != std::string_view::npos) return line.size();
  const bool has_separators = line.find_first_of(separators_of_cells) != std::string_view::npos;
  const std::size_t begin = std::min(line.find_first_not_of(blanks_of_line), line.size());
  std::size_t from = begin;  // behind the # before: a cell with one is no number
  for (std::size_t at = line.find('#', begin); at != std::string_view::npos; from = at + 1, at = line.find('#', from)) {
    if (at == 0 || blanks_of_line.find(line[at - 1]) == std::string_view::npos) continue;
    const std::string_view before = line.substr(from, at - from);
    const std::string_view cells = before.substr(0, before.find_last_not_of(blanks_of_line) + 1);
    const std::size_t separator = cells.find_last_of(has_separators ? separators_of_cells : blanks_of_line);
    const bool is_first = separator == std::string_view::npos;
    if (is_first && (has_separators || from > begin)) continue;
    if (is_number(trimmed(cells.substr(is_first ? 0 : separator + 1), blanks_of_line))) return from + cells.size();
  }
  return line.size();
}

// --- lines

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
    if (line.kind == LineKind::row) line.text = line.text.substr(0, end_of_cells(line.text));
    return line;
  }

 private:
  static LineKind kind_of(std::string_view line) {
    if (is_comment(line)) return LineKind::comment;
    return line.find_first_not_of(" \t\r") == std::string_view::npos ? LineKind::blank : LineKind::row;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
  bool in_quotes_ = false;
};

std::string_view name_in(std::string_view comment) {
  if (!comment.starts_with('#')) return {};
  const std::size_t begin = comment.find_first_not_of(blanks_of_line, 1);
  if (begin == std::string_view::npos) return {};
  return comment.substr(begin, comment.find_last_not_of(blanks_of_line) + 1 - begin);
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

// Whether a row has cells between blanks of which some have decimal commas, and all others could stand beside them.
bool has_decimal_commas_between_blanks(std::string_view line) {
  const std::vector<std::string_view> words = words_of_line(line);
  const auto fits = [](std::string_view word) { return has_decimal_comma(word) || is_number(word); };
  return words.size() > 1 && std::ranges::all_of(words.begin() + 1, words.end(), fits) &&
         std::ranges::any_of(words, has_decimal_comma);
}

constexpr std::size_t most_fields = std::size_t{1} << 22;  // of a row; each takes far more than its byte

}  // namespace

// --- comments

std::optional<NamedSeparator> named_separator(std::string_view text, const std::string& where) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(0, end), " \r");
  constexpr std::string_view begin = "sep=";
  if (line.size() != begin.size() + 1 || !line.starts_with(begin)) return std::nullopt;
  for (const Separator separator : {Separator::comma, Separator::semicolon, Separator::tab}) {
    if (line.back() == static_cast<char>(separator))
      return NamedSeparator{separator, text.substr(std::min(end + 1, text.size()))};
  }
  fail("{}:1: the separator {} is not read: separate the cells by commas, semicolons or tabs", where,
       in_quotes(line.substr(begin.size())));
}

bool has_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma + 1 == text.size()) return false;
  std::string point(text);
  point[comma] = '.';
  return is_number(point);
}

// --- lines

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
  bool comma = false, semicolon = false, semicolon_everywhere = true, decimals_everywhere = true;
  for (CsvLineReader reader(text); !reader.done();) {
    const CsvLine line = reader.next();
    if (line.kind != LineKind::row) continue;
    comma = comma || line.text.find(',') != std::string_view::npos;
    const bool here = has_outside_quotes(line.text, ';');
    semicolon = semicolon || here;
    semicolon_everywhere = semicolon_everywhere && here;
    decimals_everywhere = decimals_everywhere && has_decimal_commas_between_blanks(line.text);
    if (comma && !semicolon_everywhere && !decimals_everywhere) return Separator::comma;
  }
  if (comma && !semicolon && decimals_everywhere) return Separator::blanks;
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
    : text_(block.text),
      separator_(separator),
      where_(where),
      line_(block.first_line),
      name_(block.name.empty() ? block.text.size() : 0) {}

std::span<const CsvField> FieldReader::next() {
  fields_.clear();
  is_behind_blank_ = false;
  row_end_ = std::string_view::npos;
  while (skip_line()) {
  }
  if (at_ >= text_.size()) return {};
  row_line_ = line_;
  const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
  row_end_ = at_ + end_of_cells(text_.substr(at_, line_end - at_));
  comments_ += row_end_ < line_end ? 1u : 0u;
  for (;;) {
    if (fields_.size() == most_fields) {
      fail("{}:{}: this row has more than {} cells: use an .npy file for a matrix this wide", where_, row_line_,
           most_fields);
    }
    fields_.push_back(read_field());
    if (at_line_end()) break;
    if (separator_ != Separator::blanks) ++at_;
  }
  at_ = std::min(text_.find('\n', at_), text_.size()) + 1;
  ++line_;
  for (CsvField& field : fields_) {
    if (!spells_out_ || field.quoted) continue;
    if (field.text == "T") field.text = "true";
    if (field.text == "F") field.text = "false";
  }
  return fields_;
}

// Passes over one line if it holds no cells.
bool FieldReader::skip_line() {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view line = text_.substr(at_, end - at_);
  const bool is_blank = std::ranges::all_of(line, [&](char c) { return is_space(c); });
  if (!is_blank && !is_comment(line)) return false;
  is_behind_blank_ = is_behind_blank_ || is_blank;
  comments_ += is_blank || at_ == name_ ? 0u : 1u;
  at_ = end + 1;
  ++line_;
  return true;
}

void FieldReader::skip_spaces() {
  while (at_ < text_.size() && at_ != row_end_ && is_space(text_[at_])) ++at_;
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
  while (at_ < text_.size() && at_ != row_end_ && !ends_field(text_[at_])) ++at_;
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
