#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/csv_cells.hpp"
#include "data/files/csv_rows.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

// Whether the cells of a row or column are such as programs number rows and columns with.
class Numbering {
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

Numbering numbering_of(Row fields) {
  Numbering count;
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
// row or column of numbers that has a label itself is more doubtful.
bool may_be_labels(const Numbering& count, Wholeness others, bool has_label) {
  if (count.counts()) return count.first() == 0 || has_label || others.has_others;
  return count.increases() && (has_label ? others.has_others : !others.has_whole);
}

// The rows of numbers below the header, as they come.
class CsvTable {
 public:
  CsvTable(const std::string& where, std::size_t width, Top top) : where_(where), width_(width), top_(top) {}

  void add(Row fields, std::size_t line, bool is_behind_blank);
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  bool labelled() const { return labelled_; }
  /// With the first row of the file. Throws InputError where it may be a header or numbers and stands above labels.
  MatrixFile finish(Row first, std::size_t first_line, Separator separator);

 private:
  void add_label(const CsvField& field, std::size_t line);
  WrittenCell number(Row fields, std::size_t column, std::size_t line);
  [[noreturn]] void refuse(Row fields, std::size_t column, std::size_t line) const;
  std::vector<Assumption> assumptions(Row first, std::size_t first_line, Separator separator) const;
  Assumption about_header(Row first, std::size_t first_line) const;
  Assumption about_labels(Row first, std::size_t first_line) const;
  std::vector<Assumption> about_blocks() const;
  std::vector<Assumption> about_places() const;
  std::vector<Assumption> about_empty_corner(Row first) const;
  std::string way_out_of(std::string_view labels) const;

  const std::string& where_;
  std::size_t width_;
  Top top_;
  std::size_t rows_ = 0;
  bool labelled_ = false;
  CellKind kind_ = CellKind::boolean;
  bool has_truth_ = false;  // whether a cell is true or false
  NumberNotation notation_;
  std::vector<std::string> labels_;
  std::vector<double> cells_;
  // What tells whether the first row or column may be labels all the same.
  Numbering labels_count_;        // the labels of rows, also in quotes
  Numbering first_column_;        // of the numbers
  bool has_text_labels_ = false;  // of rows
  bool has_only_bits_ = true;     // all numbers are 0 or 1
  Wholeness below_first_row_, beside_first_column_;
  bool has_whole_row_ = false;           // below the first row
  std::string rounded_;                  // the first whole number that is no double
  std::vector<std::size_t> blocks_;      // rows between blank lines
  std::size_t second_block_ = 0;         // its line
  std::vector<bool> has_whole_columns_;  // of the numbers
};

void CsvTable::add(Row fields, std::size_t line, bool is_behind_blank) {
  const bool has_header = top_ != Top::numbers && rows_ == 0, may_have_one = rows_ == 1 && kind_ == CellKind::whole;
  if (fields.size() == width_ + 1 && (has_header || may_have_one)) {
    fail(
        "{}:{}: the first row has {}, and this row one more: if it is a header above a column of labels, begin it with an empty cell, \"\"",
        where_, line, count_of(width_, "cell"));
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
  if (rows_ == 0) has_whole_columns_.assign(width_ - first, true);
  if (blocks_.empty() || is_behind_blank) blocks_.push_back(0);
  if (blocks_.size() == 2 && blocks_.back() == 0) second_block_ = line;
  ++blocks_.back();
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
    has_whole_columns_[i - first] = has_whole_columns_[i - first] && is_whole;
    has_only_bits_ = has_only_bits_ && is_whole && (cell.value == 0 || cell.value == 1);
    if (is_whole && rounded_.empty() && is_rounded(fields[i].text)) rounded_ = fields[i].text;
    cells_.push_back(cell.value);
  }
  if (rows_ > 0) has_whole_row_ = has_whole_row_ || all_whole;
  ++rows_;
}

void CsvTable::add_label(const CsvField& field, std::size_t line) {
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

WrittenCell CsvTable::number(Row fields, std::size_t column, std::size_t line) {
  const CsvField& field = fields[column];
  const WrittenCell cell = cell_in(field);
  if (!has_value(cell)) refuse(fields, column, line);
  kind_ = std::max(kind_, cell.kind);
  has_truth_ = has_truth_ || cell.kind == CellKind::boolean;
  notation_.add(field.text);
  return cell;
}

void CsvTable::refuse(Row fields, std::size_t column, std::size_t line) const {
  const CsvField& field = fields[column];
  const Row places = fields.first(fields.size() - 1);
  if (may_have_places(fields.size()) && std::ranges::all_of(places, is_label) && has_value(cell_in(fields.back()))) {
    fail("{}:{}: this row has {} words and a number, and may be a place and its number: {}", where_, line,
         places.size(), rows_for_queries);
  }
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

// --- what may be read in two ways

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
std::string CsvTable::way_out_of(std::string_view labels) const {
  return fmt::format("if {} in quotes; if not, numbers with decimals, such as 1.0, say so{}", labels,
                     has_only_bits_ ? " (in a mask, true and false do)" : "");
}

Assumption CsvTable::about_header(Row first, std::size_t first_line) const {
  if (top_ != Top::numbers) return {&assumed::header, "the first row is a header"};
  const Numbering count = numbering_of(first.subspan(labelled_));
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

Assumption CsvTable::about_labels(Row first, std::size_t first_line) const {
  if (labelled_) return {&assumed::row_labels, "the first column has labels"};
  const bool counts_rows = top_ == Top::header && width_ > 1 && rows_ > 1 && first_column_.counts() &&
                           (first_column_.first() == 0 || first_column_.first() == 1);
  if (counts_rows && (beside_first_column_.has_others || (first_column_.first() == 0 && rows_ > 2))) {
    fail(
        "{}:{}: the first column, {}, counts the rows, and may have labels or numbers: if it has labels, write an empty cell, \"\", in place of the first cell of the first row; if not, write its numbers with decimals, such as 1.0",
        where_, first_line, in_quotes(first[0].text));
  }
  // One row alone may begin with any number, unless it stands below a header.
  const bool is_column = width_ > 1 && (rows_ > 1 || (top_ != Top::numbers && beside_first_column_.has_others));
  if (!is_column || !may_be_labels(first_column_, beside_first_column_, top_ == Top::header))
    return {&assumed::row_labels, "the first column has no labels"};
  return {&assumed::row_labels,
          fmt::format("the first column {}, and is read as numbers",
                      first_column_.counts() ? "counts the rows" : "has increasing whole numbers"),
          way_out_of("it has labels, put them"), true};
}

// An empty corner says that there are labels. It is doubtful where nothing else does, and where they stand twice, as
// when pandas reads its own table and writes it again.
std::vector<Assumption> CsvTable::about_empty_corner(Row first) const {
  std::vector<Assumption> all;
  if (!has_empty_corner(first) || first.size() != width_ || top_ != Top::header_above_labels) return all;
  const Row header = first.subspan(1);
  const bool has_labels =
      std::ranges::any_of(header, [](const CsvField& field) { return is_label(field) && !is_missing(field); });
  if (!has_labels && !has_text_labels_ && !numbering_of(header).goes_up_by_one() && !labels_count_.goes_up_by_one()) {
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

// Rows with a blank line behind each of them are one matrix, and blocks of equal size may be several.
std::vector<Assumption> CsvTable::about_blocks() const {
  const std::size_t rows = blocks_.front();
  const bool are_equal = std::ranges::all_of(blocks_, [&](std::size_t block) { return block == rows; });
  if (blocks_.size() < 2 || (are_equal && rows == 1)) return {};
  if (are_equal) {
    fail(
        "{}:{}: a blank line stands above this row, and there may be {} matrices of {}: keep the blank lines and write # and a name above each of them, or leave out the blank lines if they are one",
        where_, second_block_, blocks_.size(), count_of(rows, "row"));
  }
  return {{&assumed::dimensions, fmt::format("blank lines separate the rows, and all {} rows are one matrix", rows_),
           "if there are several matrices, keep the blank lines and write # and a name above each", true}};
}

// Places of whole numbers are doubtful only if none is left out. Two columns of bits may be features, as in a table of
// XOR: with a header, if all numbers are bits, and without one.
std::vector<Assumption> CsvTable::about_places() const {
  const std::size_t width = has_whole_columns_.size();
  const auto is_whole = [&](std::size_t column) -> bool { return has_whole_columns_[column]; };
  if (!may_have_places(width) || rows_ < 3) return {};
  for (std::size_t j = 0; j + 1 < width; ++j) {
    if (!is_whole(j)) return {};
  }
  const PlacesOfNumbers places = places_in(cells_, width);
  const bool has_header = top_ != Top::numbers, may_be_part = has_header && !is_whole(width - 1);
  if (!places.are_told || !(places.are_all || may_be_part)) return {};
  const std::string what = fmt::format(
      "the first {} columns are numbered as places in a matrix are, so each row may be a place and its number",
      width - 1);
  if (places.most > 2 || (has_header && !has_only_bits_)) {
    fail("{}: {}: {}, or write decimals, such as 1.0, in these columns if they are numbers of the matrix", where_, what,
         rows_for_queries);
  }
  return {{&assumed::dimensions, fmt::format("{}, and all are read as numbers", what), std::string(rows_for_queries),
           true}};
}

std::vector<Assumption> CsvTable::assumptions(Row first, std::size_t first_line, Separator separator) const {
  std::vector<Assumption> all = {{&assumed::separator, std::string(told(separator))},
                                 about_header(first, first_line),
                                 about_labels(first, first_line)};
  for (const auto& more : {about_blocks(), about_places()}) std::ranges::copy(more, std::back_inserter(all));
  for (Assumption& one : about_empty_corner(first)) all.push_back(std::move(one));
  if (has_truth_) all.push_back(truth_as_numbers());
  if (!rounded_.empty()) all.push_back(rounded_to_double(in_quotes(rounded_)));
  return all;
}

MatrixFile CsvTable::finish(Row first, std::size_t first_line, Separator separator) {
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

// Whether T and F stand where a number must: in the second row, or in the only one, behind its first cell.
bool has_letters_as_truth(const CsvBlock& block, Separator separator, const std::string& where) {
  FieldReader reader(block, separator, where);
  const Row top = reader.next();
  std::vector<CsvField> cells(top.begin(), top.end());
  if (const Row second = reader.next(); !second.empty()) cells.assign(second.begin(), second.end());
  return std::ranges::any_of(cells.begin() + (cells.size() > 1 ? 1 : 0), cells.end(), [](const CsvField& field) {
    return !field.quoted && (field.text == "T" || field.text == "F");
  });
}

MatrixFile read_table(const CsvBlock& block, Separator separator, const std::string& where) {
  FieldReader reader(block, separator, where);
  if (has_letters_as_truth(block, separator, where)) reader.spell_out_letters();
  const Row top_row = reader.next();
  const std::vector<CsvField> first(top_row.begin(), top_row.end());
  if (first.empty()) fail("{} is empty: write at least one row of numbers", where);
  const std::size_t first_line = reader.line();

  Row fields = reader.next();
  const Top top = top_of(first, fields);
  CsvTable table(where, lacks_corner(first, fields) ? fields.size() : first.size(), top);
  if (top == Top::numbers) table.add(first, first_line, false);
  for (; !fields.empty(); fields = reader.next()) table.add(fields, reader.line(), reader.is_behind_blank());
  if (table.empty()) {
    fail("{}:{}: {} is not a number, and no row of numbers follows: write numbers below the labels", where, first_line,
         in_quotes(first[0].text));
  }

  const bool doubtful = top == Top::numbers && table.rows() == 1 && table.labelled() && !first[0].quoted;
  if (doubtful) {
    fail("{}:{}: {} in column 1 is not a number: if it is the label of this one row, put it in quotes", where,
         first_line, in_quotes(first[0].text));
  }
  MatrixFile file = table.finish(first, first_line, separator);
  if (reader.spells_out()) file.assumed.push_back({&assumed::letters, "T without quotes is true, and F is false"});
  if (const std::size_t comments = reader.comments(); comments > 0)
    file.assumed.push_back(
        {&assumed::comments, fmt::format("{:# comment is|# comments are} left out", Count{comments})});
  return file;
}

// The blocks of a text, and the separator where its first line names it.
struct CsvText {
  std::vector<CsvBlock> blocks;
  std::optional<Separator> separator;
};

CsvText csv_text(std::string_view bytes, const std::string& where) {
  const std::string_view text = without_byte_order_mark(bytes);
  const std::optional<NamedSeparator> named = named_separator(text, where);
  if (!named) return {csv_blocks(text), std::nullopt};
  CsvText rest{csv_blocks(named->rest), named->separator};
  for (CsvBlock& block : rest.blocks) ++block.first_line;
  return rest;
}

CsvBlock choose_block(const std::vector<CsvBlock>& blocks, std::string_view key, const std::string& where) {
  if (blocks.size() == 1 && key != blocks[0].name) refuse_key(key, where);
  if (blocks.size() == 1) return blocks[0];
  std::vector<std::string> names;
  for (const CsvBlock& block : blocks) names.push_back(block.name);
  return blocks[choose_matrix(names, key, where)];
}

std::vector<MatrixFile> read_blocks(std::string_view bytes, Separator (*separator)(std::string_view),
                                    const std::string& where) {
  std::vector<MatrixFile> all;
  const CsvText text = csv_text(bytes, where);
  for (const CsvBlock& block : text.blocks) {
    all.push_back(read_table(block, text.separator ? *text.separator : separator(block.text), where));
    all.back().name = block.name;
  }
  return all;
}

}  // namespace

MatrixFile read_csv(std::string_view bytes, std::string_view key, const std::string& where) {
  const CsvText text = csv_text(bytes, where);
  const CsvBlock block = choose_block(text.blocks, key, where);
  return read_table(block, text.separator ? *text.separator : csv_separator(block.text), where);
}

MatrixFile read_tsv(std::string_view bytes, std::string_view key, const std::string& where) {
  const CsvText text = csv_text(bytes, where);
  return read_table(choose_block(text.blocks, key, where), text.separator.value_or(Separator::tab), where);
}

std::vector<MatrixFile> read_all_csv(std::string_view bytes, const std::string& where) {
  return read_blocks(bytes, csv_separator, where);
}

std::vector<MatrixFile> read_all_tsv(std::string_view bytes, const std::string& where) {
  return read_blocks(
      bytes, [](std::string_view) { return Separator::tab; }, where);
}

}  // namespace attn
