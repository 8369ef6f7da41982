#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cells.hpp"
#include "data/files/csv_rows.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

using Row = std::span<const CsvField>;

// A cell in quotes is text, whatever it says.
WrittenCell cell_in(const CsvField& field) {
  return field.quoted ? WrittenCell{CellKind::text, 0} : parse_cell(field.text);
}

// A number in a notation that is not ours, what to say of it, and what to write instead.
struct OtherNotation {
  bool (*is_in)(std::string_view text);
  std::string_view complaint;
  std::string_view way_out;
  bool may_be_quoted = false;  // because commas separate the cells
};

bool has_decimal_comma(std::string_view text) {
  std::string point(text);
  const std::size_t comma = point.find(',');
  if (comma == std::string::npos) return false;
  point[comma] = '.';
  return has_value(parse_cell(point));
}

bool has_underscores(std::string_view text) {
  std::string digits(text);
  const bool is_between = digits.find('_') != std::string::npos && digits.front() != '_' && digits.back() != '_';
  std::erase(digits, '_');
  return is_between && has_value(parse_cell(digits));
}

bool is_hexadecimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  return has_prefix && text.size() > 2 && text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

constexpr OtherNotation other_notations[] = {
    {has_decimal_comma, "has a decimal comma", "write a decimal point", true},
    {has_underscores, "is not a number, because it has underscores",
     "write the digits alone, or put it in quotes if it is a label"},
    {is_hexadecimal, "is not a number, because it is hexadecimal",
     "write a decimal one, or put it in quotes if it is a label"},
};

// Nothing, for text and for our own numbers.
const OtherNotation* notation_of(const CsvField& field) {
  const auto* const row =
      std::ranges::find_if(other_notations, [&](const OtherNotation& notation) { return notation.is_in(field.text); });
  return row == std::end(other_notations) ? nullptr : row;
}

bool is_label(const CsvField& field) {
  const OtherNotation* const notation = notation_of(field);
  return cell_in(field).kind == CellKind::text && (!notation || (field.quoted && !notation->may_be_quoted));
}

bool is_missing(const CsvField& field) { return field.text.empty() && !field.quoted; }

// Whether the cells of a row or column are such as programs number rows and columns with.
class Count {
 public:
  void take(WrittenCell cell) {
    const double before = seen_ == 0 ? -1 : last_;
    if (seen_ == 0) first_ = cell.value;
    is_whole_ = is_whole_ && cell.kind == CellKind::whole;
    increases_ = increases_ && has_value(cell) && cell.value > before;
    counts_ = counts_ && increases_ && cell.value == std::floor(cell.value) &&
              cell.value == first_ + static_cast<double>(seen_);
    last_ = cell.value;
    ++seen_;
  }
  double first() const { return first_; }
  /// 0, 1, 2 or 2019, 2020; one cell alone counts if it is 0.
  bool counts() const { return is_whole_ && goes_up_by_one(); }
  /// The same also for 0.0, 1.0.
  bool goes_up_by_one() const { return counts_ && (seen_ > 1 || (seen_ == 1 && first_ == 0)); }
  /// 2015, 2020.
  bool increases() const { return is_whole_ && increases_ && seen_ > 1; }

 private:
  double first_ = 0, last_ = 0;
  std::size_t seen_ = 0;
  bool is_whole_ = true, increases_ = true, counts_ = true;
};

Count count_of_row(Row fields) {
  Count count;
  for (const CsvField& field : fields) count.take(cell_in(field));
  return count;
}

// What the first row is; where it says so, labels stand in the first column.
enum class Top { numbers, header, header_above_labels };

// So pandas, R's write.csv and spreadsheets begin a header above labels of rows.
bool has_empty_corner(Row first) { return first.size() > 1 && first[0].text.empty(); }

// R's write.table has no cell above the labels of rows.
bool lacks_corner(Row first, Row second) {
  return second.size() == first.size() + 1 && is_label(second[0]) && std::ranges::all_of(first, is_label);
}

Top top_of(Row first, Row second) {
  if (lacks_corner(first, second)) return Top::header_above_labels;
  if (has_empty_corner(first) && !second.empty()) return Top::header_above_labels;
  if (!std::ranges::all_of(first.subspan(1), is_label)) return Top::numbers;
  // A number in the corner belongs to a header only if it stands above labels.
  const bool is_header = is_label(first[0]) || (first.size() > 1 && !second.empty() && is_label(second[0]));
  return is_header ? Top::header : Top::numbers;
}

std::string row_in_quotes(Row fields) {
  std::string all;
  for (const CsvField& field : fields) all += fmt::format("{}{}", &field == fields.data() ? "" : ",", field.text);
  return in_quotes(all);
}

// Which numbers beside those of the first row or column are whole ones.
struct Wholeness {
  bool has_whole = false;   // one at least
  bool has_others = false;  // one at least is not
  void take(bool is_whole) { (is_whole ? has_whole : has_others) = true; }
};

// Whether whole numbers may be labels. Matrices of whole numbers are common, and so are rows such as 1, 2 in them; a
// row of numbers that has a label itself is more doubtful.
bool may_be_labels(const Count& count, Wholeness others, bool has_label) {
  if (count.counts()) return count.first() == 0 || has_label || others.has_others;
  return count.increases() && (has_label ? others.has_others : !others.has_whole);
}

// The rows of numbers below the header, as they come.
class Table {
 public:
  Table(const std::string& where, std::size_t width, Top top) : where_(where), width_(width), top_(top) {}

  void add(Row fields, std::size_t line);
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  bool labelled() const { return labelled_; }
  /// With the first row of the file. Throws InputError where it may be a header or numbers and stands above labels.
  MatrixFile finish(Row first, std::size_t first_line, Separator separator);

 private:
  void add_label(const CsvField& field, std::size_t line);
  WrittenCell number(Row fields, std::size_t column, std::size_t line);
  [[noreturn]] void refuse(const CsvField& field, std::size_t column, std::size_t line) const;
  std::vector<Assumption> assumptions(Row first, std::size_t first_line, Separator separator) const;
  Assumption about_header(Row first, std::size_t first_line) const;
  Assumption about_labels() const;
  std::vector<Assumption> about_empty_corner(Row first) const;
  std::string way_out_of(std::string_view labels) const;

  const std::string& where_;
  std::size_t width_;
  Top top_;
  std::size_t rows_ = 0;
  bool labelled_ = false;
  CellKind kind_ = CellKind::boolean;
  NumberNotation notation_;
  std::vector<std::string> labels_;
  std::vector<double> cells_;
  // What tells whether the first row or column may be labels all the same.
  Count labels_count_;            // the labels of rows, also in quotes
  Count first_column_;            // of the numbers
  bool has_text_labels_ = false;  // of rows
  bool has_only_bits_ = true;     // all numbers are 0 or 1
  Wholeness below_first_row_, beside_first_column_;
  bool has_whole_row_ = false;  // below the first row
  std::string rounded_;         // the first whole number that is no double
};

void Table::add(Row fields, std::size_t line) {
  const bool has_header = top_ != Top::numbers && rows_ == 0, may_have_one = rows_ == 1 && kind_ == CellKind::whole;
  if (fields.size() == width_ + 1 && (has_header || may_have_one)) {
    fail(
        "{}:{}: the first row has one cell fewer than this row, {}: if it is a header above a column of labels, begin it with an empty cell, \"\"",
        where_, line, width_);
  }
  if (fields.size() != width_) {
    fail("{}:{}: this row has {}, the rows above have {}: every row must have the same number", where_, line,
         count_of(fields.size(), "cell"), width_);
  }
  if (cells_.size() + width_ > most_cells) {
    fail("{}:{}: the matrix has more than {} cells: give a smaller one", where_, line, most_cells);
  }
  if (rows_ == 0) {
    const bool begins_with_label = is_label(fields[0]) && !(top_ == Top::numbers && is_missing(fields[0]));
    labelled_ = width_ > 1 && (top_ == Top::header_above_labels || begins_with_label);
  }
  if (labelled_) add_label(fields[0], line);
  const std::size_t first = labelled_ ? 1 : 0;
  bool all_whole = true;
  for (std::size_t i = first; i < width_; ++i) {
    const WrittenCell cell = number(fields, i, line);
    const bool is_whole = cell.kind == CellKind::whole;
    if (i == first) {
      first_column_.take(cell);
    } else {
      beside_first_column_.take(is_whole);
    }
    if (rows_ > 0) below_first_row_.take(is_whole);
    all_whole = all_whole && is_whole;
    has_only_bits_ = has_only_bits_ && is_whole && (cell.value == 0 || cell.value == 1);
    if (is_whole && rounded_.empty() && is_rounded(fields[i].text)) rounded_ = fields[i].text;
    cells_.push_back(cell.value);
  }
  if (rows_ > 0) has_whole_row_ = has_whole_row_ || all_whole;
  ++rows_;
}

void Table::add_label(const CsvField& field, std::size_t line) {
  if (!is_label(field) && top_ != Top::header_above_labels) {
    fail(
        "{}:{}: "
        "{} in column 1 is a number, but the rows above begin with labels: put it in quotes if it is a label",
        where_, line, in_quotes(field.text));
  }
  labels_count_.take(parse_cell(field.text));
  has_text_labels_ = has_text_labels_ || (is_label(field) && !is_missing(field));
  labels_.push_back(unescaped(field));
}

WrittenCell Table::number(Row fields, std::size_t column, std::size_t line) {
  const CsvField& field = fields[column];
  const WrittenCell cell = cell_in(field);
  if (!has_value(cell)) refuse(field, column, line);
  kind_ = std::max(kind_, cell.kind);
  notation_.add(field.text);
  return cell;
}

void Table::refuse(const CsvField& field, std::size_t column, std::size_t line) const {
  if (const OtherNotation* const notation = notation_of(field)) {
    fail("{}:{}: {} in column {} {}: {}", where_, line, in_quotes(field.text), column + 1, notation->complaint,
         notation->way_out);
  }
  if (field.quoted) {
    fail("{}:{}: {} in column {} is a label, because it is in quotes: write a number without quotes", where_, line,
         in_quotes(field.text), column + 1);
  }
  if (field.text.empty()) fail("{}:{}: column {} is empty: write a number there", where_, line, column + 1);
  fail("{}:{}: {} in column {} {}: write a number there", where_, line, in_quotes(field.text), column + 1,
       complaint(parse_cell(field.text)));
}

constexpr std::string_view told(Separator separator) {
  switch (separator) {
    case Separator::comma:
      return "commas separate the cells";
    case Separator::semicolon:
      return "semicolons separate the cells";
    case Separator::tab:
      return "tabs separate the cells";
    case Separator::blanks:
      break;
  }
  return "blanks separate the cells";
}

// What to do where numbers were meant as labels, and where they were not.
std::string Table::way_out_of(std::string_view labels) const {
  return fmt::format("if {} in quotes; if not, numbers with decimals, such as 1.0, say so{}", labels,
                     has_only_bits_ ? " (in a mask, true and false do)" : "");
}

Assumption Table::about_header(Row first, std::size_t first_line) const {
  if (top_ != Top::numbers) return {&assumed::header, "the first row is a header"};
  const Count count = count_of_row(first.subspan(labelled_));
  // A program that puts text in quotes puts numbers that are labels in quotes, too.
  const bool is_said = labelled_ && first[0].quoted;
  if (rows_ < 2 || is_said || !may_be_labels(count, below_first_row_, labelled_))
    return {&assumed::header, "the first row is no header"};
  const std::string row = row_in_quotes(first);
  if (labelled_ && count.counts() && !has_whole_row_) {
    fail(
        "{}:{}: the first row, {}, may be a header or a row of numbers: put its cells in quotes if it is a header, or write its numbers with decimals, such as 1.0",
        where_, first_line, row);
  }
  return {&assumed::header,
          fmt::format("the first row, {}, is read as {}", row, labelled_ ? "a label and numbers" : "numbers"),
          way_out_of("it is a header, put its cells"), true};
}

Assumption Table::about_labels() const {
  if (labelled_) return {&assumed::row_labels, "the first column has labels"};
  // One row alone may begin with any number, unless it stands below a header.
  const bool is_column = width_ > 1 && (rows_ > 1 || (top_ != Top::numbers && beside_first_column_.has_others));
  if (!is_column || !may_be_labels(first_column_, beside_first_column_, false))
    return {&assumed::row_labels, "the first column has no labels"};
  return {&assumed::row_labels,
          fmt::format("the first column {}, and is read as numbers",
                      first_column_.counts() ? "counts the rows" : "has increasing whole numbers"),
          way_out_of("it has labels, put them"), true};
}

// An empty corner says that there are labels. It is doubtful where nothing else does, and where they stand twice, as
// when pandas reads its own table and writes it again.
std::vector<Assumption> Table::about_empty_corner(Row first) const {
  std::vector<Assumption> all;
  if (!has_empty_corner(first) || first.size() != width_ || top_ != Top::header_above_labels) return all;
  const Row header = first.subspan(1);
  const bool has_labels =
      std::ranges::any_of(header, [](const CsvField& field) { return is_label(field) && !is_missing(field); });
  if (!has_labels && !has_text_labels_ && !count_of_row(header).goes_up_by_one() && !labels_count_.goes_up_by_one()) {
    all.push_back({&assumed::header,
                   fmt::format("the first row, {}, is read as a header and the first column as labels, because the "
                               "first cell is empty",
                               row_in_quotes(first)),
                   "if a number is missing there, write it", true});
  }
  const bool is_repeated = labels_count_.counts() && first_column_.counts() &&
                           labels_count_.first() == first_column_.first() && is_label(header[0]);
  if (is_repeated && (rows_ > 1 || header[0].text.starts_with("Unnamed: "))) {
    all.push_back(
        {&assumed::row_labels,
         fmt::format("the second column, {}, repeats the labels, and is read as numbers", in_quotes(header[0].text)),
         "if its cells are labels, leave out this column; if not, numbers with decimals, such as 1.0, say so", true});
  }
  return all;
}

std::vector<Assumption> Table::assumptions(Row first, std::size_t first_line, Separator separator) const {
  std::vector<Assumption> all = {
      {&assumed::separator, std::string(told(separator))}, about_header(first, first_line), about_labels()};
  for (Assumption& one : about_empty_corner(first)) all.push_back(std::move(one));
  if (!rounded_.empty()) all.push_back(rounded_to_double(in_quotes(rounded_)));
  return all;
}

MatrixFile Table::finish(Row first, std::size_t first_line, Separator separator) {
  MatrixFile file;
  file.assumed = assumptions(first, first_line, separator);
  file.matrix = Matrix({rows_, cells_.size() / rows_});
  std::ranges::copy(cells_, cells(file.matrix).begin());
  file.row_labels = std::move(labels_);
  if (top_ != Top::numbers) {
    std::ranges::transform(first, std::back_inserter(file.column_labels), unescaped);
    if (file.column_labels.size() > file.matrix.shape().columns) file.column_labels.erase(file.column_labels.begin());
  }
  file.kind = kind_;
  file.notation = notation_;
  return file;
}

MatrixFile read_table(const CsvBlock& block, Separator separator, const std::string& where) {
  FieldReader reader(block, separator, where);
  const Row top_row = reader.next();
  const std::vector<CsvField> first(top_row.begin(), top_row.end());
  if (first.empty()) fail("{} is empty: write at least one row of numbers", where);
  const std::size_t first_line = reader.line();

  Row fields = reader.next();
  const Top top = top_of(first, fields);
  Table table(where, lacks_corner(first, fields) ? fields.size() : first.size(), top);
  if (top == Top::numbers) table.add(first, first_line);
  for (; !fields.empty(); fields = reader.next()) table.add(fields, reader.line());
  if (table.empty()) {
    fail("{}:{}: {} is not a number, and no row of numbers follows: write numbers below the labels", where, first_line,
         in_quotes(first[0].text));
  }

  const bool doubtful = top == Top::numbers && table.rows() == 1 && table.labelled() && !first[0].quoted;
  if (doubtful) {
    fail("{}:{}: {} in column 1 is not a number: if it is the label of this one row, put it in quotes", where,
         first_line, in_quotes(first[0].text));
  }
  return table.finish(first, first_line, separator);
}

CsvBlock choose_block(std::string_view bytes, std::string_view key, const std::string& where) {
  const std::vector<CsvBlock> blocks = csv_blocks(without_byte_order_mark(bytes));
  if (blocks.size() == 1 && key != blocks[0].name) refuse_key(key, where);
  if (blocks.size() == 1) return blocks[0];
  std::vector<std::string> names;
  for (const CsvBlock& block : blocks) names.push_back(block.name);
  return blocks[choose_matrix(names, key, where)];
}

std::vector<MatrixFile> read_blocks(std::string_view bytes, Separator (*separator)(std::string_view),
                                    const std::string& where) {
  std::vector<MatrixFile> all;
  for (const CsvBlock& block : csv_blocks(without_byte_order_mark(bytes))) {
    all.push_back(read_table(block, separator(block.text), where));
    all.back().name = block.name;
  }
  return all;
}

}  // namespace

MatrixFile read_csv(std::string_view bytes, std::string_view key, const std::string& where) {
  const CsvBlock block = choose_block(bytes, key, where);
  return read_table(block, csv_separator(block.text), where);
}

MatrixFile read_tsv(std::string_view bytes, std::string_view key, const std::string& where) {
  return read_table(choose_block(bytes, key, where), Separator::tab, where);
}

std::vector<MatrixFile> read_all_csv(std::string_view bytes, const std::string& where) {
  return read_blocks(bytes, csv_separator, where);
}

std::vector<MatrixFile> read_all_tsv(std::string_view bytes, const std::string& where) {
  return read_blocks(
      bytes, [](std::string_view) { return Separator::tab; }, where);
}

}  // namespace attn
