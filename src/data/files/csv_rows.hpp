#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

// A CSV text as rows of cells, before anything is known of what stands in them.

/// What stands between the cells of a row. `blanks` is one or more spaces or tabs.
enum class Separator : char { comma = ',', semicolon = ';', tab = '\t', blanks = ' ' };

/// Part of a CSV file: one matrix under a line `# NAME`, or the whole file without a name.
struct CsvBlock {
  std::string name;
  std::string_view text;
  std::size_t first_line;
};

/// The separator that the first line names, as `sep=;` of spreadsheets does, and the rest of the text; nothing: it
/// names none. Throws InputError for one that is not read.
struct NamedSeparator {
  Separator separator;
  std::string_view rest;
};
std::optional<NamedSeparator> named_separator(std::string_view text, const std::string& where);

/// One cell of a row as its text: a view into the file. Within quotes, a quote is still doubled.
struct CsvField {
  std::string_view text;
  bool quoted = false;
};

/// Takes a CSV text apart row by row (RFC 4180). Passes over blank lines, lines that begin with `#`, and those that
/// begin with `%` or `//` and cannot be rows; and over what follows a number at the end of a row behind a blank and
/// `#`.
class FieldReader {
 public:
  FieldReader(const CsvBlock& block, Separator separator, const std::string& where);

  /// The next row, or nothing at the end. The fields stay valid as long as the file's bytes, the span until
  /// the next call. Throws InputError: a quote that is not closed, or has text behind it; a
  /// row of millions of cells.
  std::span<const CsvField> next();

  /// The line on which the last row began.
  std::size_t line() const { return row_line_; }
  /// Whether a blank line stands between the last row and the one before it.
  bool is_behind_blank() const { return is_behind_blank_; }
  /// The comments so far, but for the name of the block.
  std::size_t comments() const { return comments_; }
  /// Whether T and F were to be spelled out.
  bool spells_out() const { return spells_out_; }
  /// From now on, T and F without quotes are true and false, as R writes them.
  void spell_out_letters() { spells_out_ = true; }

 private:
  bool skip_line();
  void skip_spaces();
  bool at_line_end() const { return at_ >= text_.size() || at_ == row_end_ || text_[at_] == '\n'; }
  bool is_space(char c) const;
  bool ends_field(char c) const;
  CsvField read_field();
  CsvField read_plain();
  CsvField read_quoted();

  std::string_view text_;
  Separator separator_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t line_;
  std::size_t row_line_ = 0;
  std::size_t row_end_ = 0;  // of the first line of the row, without a comment
  bool is_behind_blank_ = false;
  bool spells_out_ = false;
  std::size_t name_;  // where the line of the block's name stands, if it has one
  std::size_t comments_ = 0;
  std::vector<CsvField> fields_;
};

/// The matrices of a CSV file. Several only where lines `# NAME` stand directly above rows and not directly
/// below them, and no row stands above the first; in any other file such lines are comments.
std::vector<CsvBlock> csv_blocks(std::string_view text);

/// Semicolons if every row has one, because their commas are those of decimals; blanks if decimal commas leave nothing
/// else; else commas if there is one outside comments, else semicolons if there is one, else blanks.
Separator csv_separator(std::string_view text);

/// Whether a text is a number with a decimal comma.
bool has_decimal_comma(std::string_view text);

/// A field's text with its quotes undoubled.
std::string unescaped(const CsvField& field);

}  // namespace attn
