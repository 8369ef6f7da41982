#include "data/files/csv_fields.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::size_t most_fields = std::size_t{1} << 22;  // of a row; each takes far more than its byte

}  // namespace

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
      fail("{}:{}: this row has more than {} cells: use an .npy file for a matrix this wide", where_,
           row_line_, most_fields);
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
