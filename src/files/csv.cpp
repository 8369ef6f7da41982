#include <algorithm>

#include "files/cells.hpp"
#include "files/csv_rows.hpp"
#include "files/matrix_file.hpp"
#include "support/error.hpp"

namespace attn {

namespace {

using Row = std::span<const CsvField>;

bool is_label(const CsvField& field) {
  return field.quoted || parse_cell(field.text).kind == CellKind::text;
}

bool is_header(Row first, Row second) {
  if (!std::ranges::all_of(first.subspan(1), is_label)) return false;
  // A number in the corner belongs to a header only if it stands above labels.
  return is_label(first[0]) || (first.size() > 1 && !second.empty() && is_label(second[0]));
}

// The rows of numbers below the header, as they come.
class Table {
 public:
  Table(const std::string& where, std::size_t width) : where_(where), width_(width) {}

  void add(Row fields, std::size_t line);
  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  bool labelled() const { return labelled_; }
  MatrixFile finish(std::vector<std::string> column_labels);

 private:
  void add_label(const CsvField& field, std::size_t line);
  double number(Row fields, std::size_t column, std::size_t line);
  [[noreturn]] void refuse(const CsvField& field, std::size_t column, std::size_t line) const;

  const std::string& where_;
  std::size_t width_;
  std::size_t rows_ = 0;
  bool labelled_ = false;
  CellKind kind_ = CellKind::boolean;
  std::vector<std::string> labels_;
  std::vector<double> cells_;
};

void Table::add(Row fields, std::size_t line) {
  if (fields.size() != width_) {
    fail("{}:{}: this row has {}, the rows above have {}: every row must have the same number", where_, line,
         count_of(fields.size(), "cell"), width_);
  }
  if (cells_.size() + width_ > most_cells) {
    fail("{}:{}: the matrix has more than {} cells: give a smaller one", where_, line, most_cells);
  }
  if (rows_ == 0) labelled_ = width_ > 1 && is_label(fields[0]);
  if (labelled_) add_label(fields[0], line);
  for (std::size_t i = labelled_ ? 1 : 0; i < width_; ++i) cells_.push_back(number(fields, i, line));
  ++rows_;
}

void Table::add_label(const CsvField& field, std::size_t line) {
  if (!is_label(field)) {
    fail(
        "{}:{}: {} in column 1 is a number, but the rows above begin with labels: put it in quotes if it is "
        "a label",
        where_, line, in_quotes(field.text));
  }
  labels_.push_back(unescaped(field));
}

double Table::number(Row fields, std::size_t column, std::size_t line) {
  const CsvField& field = fields[column];
  const WrittenCell cell = parse_cell(field.text);
  if (field.quoted || !has_value(cell)) refuse(field, column, line);
  kind_ = std::max(kind_, cell.kind);
  return cell.value;
}

void Table::refuse(const CsvField& field, std::size_t column, std::size_t line) const {
  if (field.quoted) {
    fail("{}:{}: {} in column {} is a label, because it is in quotes: write a number without quotes", where_,
         line, in_quotes(field.text), column + 1);
  }
  if (field.text.empty()) fail("{}:{}: column {} is empty: write a number there", where_, line, column + 1);
  fail("{}:{}: {} in column {} {}: write a number there", where_, line, in_quotes(field.text), column + 1,
       complaint(parse_cell(field.text)));
}

MatrixFile Table::finish(std::vector<std::string> column_labels) {
  MatrixFile file;
  file.matrix = Matrix({rows_, cells_.size() / rows_});
  std::ranges::copy(cells_, cells(file.matrix).begin());
  file.row_labels = std::move(labels_);
  file.column_labels = std::move(column_labels);
  file.kind = kind_;
  return file;
}

MatrixFile read_table(const CsvBlock& block, Separator separator, const std::string& where) {
  FieldReader reader(block, separator, where);
  const Row top = reader.next();
  const std::vector<CsvField> first(top.begin(), top.end());
  if (first.empty()) fail("{} is empty: write at least one row of numbers", where);
  const std::size_t first_line = reader.line();

  Table table(where, first.size());
  Row fields = reader.next();
  const bool header = is_header(first, fields);
  if (!header) table.add(first, first_line);
  for (; !fields.empty(); fields = reader.next()) table.add(fields, reader.line());
  if (table.empty()) {
    fail("{}:{}: {} is not a number, and no row of numbers follows: write numbers below the labels", where,
         first_line, in_quotes(first[0].text));
  }

  const bool doubtful = !header && table.rows() == 1 && table.labelled() && !first[0].quoted;
  if (doubtful) {
    fail("{}:{}: {} in column 1 is not a number: if it is the label of this one row, put it in quotes", where,
         first_line, in_quotes(first[0].text));
  }

  std::vector<std::string> column_labels;
  if (header) std::ranges::transform(first, std::back_inserter(column_labels), unescaped);
  if (header && table.labelled()) column_labels.erase(column_labels.begin());
  return table.finish(std::move(column_labels));
}

std::string_view without_byte_order_mark(std::string_view bytes) {
  return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
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
