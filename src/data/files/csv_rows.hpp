#pragma once

#include <cstddef>
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

/// One cell of a row as its text: a view into the file. Within quotes, a quote is still doubled.
struct CsvField {
  std::string_view text;
  bool quoted = false;
};

/// Takes a CSV text apart row by row (RFC 4180), passing over blank lines and lines that begin with `#`.
class FieldReader {
 public:
  FieldReader(const CsvBlock& block, Separator separator, const std::string& where);

  /// The next row, or nothing at the end. The fields stay valid as long as the file's bytes, the span until
  /// the next call. Throws InputError: a quote that is not closed, or has text behind it; a
  /// row of millions of cells.
  std::span<const CsvField> next();

  /// The line on which the last row began.
  std::size_t line() const { return row_line_; }

 private:
  bool skip_line();
  void skip_spaces();
  bool at_line_end() const { return at_ >= text_.size() || text_[at_] == '\n'; }
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
  std::vector<CsvField> fields_;
};

/// The matrices of a CSV file. Several only where lines `# NAME` stand directly above rows and not directly
/// below them, and no row stands above the first; in any other file such lines are comments.
std::vector<CsvBlock> csv_blocks(std::string_view text);

/// Semicolons if every row has one, because their commas are those of decimals; else commas if there is one outside
/// comments, else semicolons if there is one, else blanks.
Separator csv_separator(std::string_view text);

/// A field's text with its quotes undoubled.
std::string unescaped(const CsvField& field);

}  // namespace attn
