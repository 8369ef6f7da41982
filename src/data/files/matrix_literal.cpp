#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

namespace {

constexpr std::string_view blanks_and_ends = " \t\r";

// Cuts the first cell off a row: it ends at blanks, or at a comma with blanks around it.
std::string_view take_cell(std::string_view& row) {
  const std::size_t end = std::min(row.find_first_of(" \t\r,"), row.size());
  const std::string_view cell = row.substr(0, end);
  const std::size_t next = std::min(row.find_first_not_of(blanks_and_ends, end), row.size());
  const bool comma = next < row.size() && row[next] == ',';
  row.remove_prefix(comma ? next + 1 : next);
  row.remove_prefix(std::min(row.find_first_not_of(blanks_and_ends), row.size()));
  // A comma at the very end promises a cell that does not come.
  if (comma && row.empty()) row = ",";
  return cell;
}

// The cells of a literal, row after row.
struct Cells {
  std::vector<double> values;
  std::size_t rows = 0;
  CellKind kind = CellKind::boolean;
  NumberNotation notation = {};
};

void add_row(Cells& cells, std::string_view row, const std::string& where) {
  const std::size_t number = cells.rows + 1;
  const std::size_t before = cells.values.size();
  if (row.empty()) fail("{}: row {} is empty: write numbers between the semicolons", where, number);
  while (!row.empty()) {
    const std::string_view text = take_cell(row);
    const WrittenCell cell = parse_cell(text);
    if (text.empty()) fail("{}: a number is missing beside a comma in row {}: write it there", where, number);
    if (!has_value(cell)) {
      fail("{}: {} in row {} {}: a literal looks like '1 0; 0 1'", where, in_quotes(text), number, complaint(cell));
    }
    cells.kind = std::max(cells.kind, cell.kind);
    cells.notation.add(text);
    cells.values.push_back(cell.value);
  }
  const std::size_t width = cells.values.size() - before;
  if (cells.rows > 0 && width * cells.rows != before) {
    fail("{}: row {} has {}, the rows above have {}: every row must have the same number", where, number,
         count_of(width, "cell"), before / cells.rows);
  }
  ++cells.rows;
}

}  // namespace

MatrixFile read_literal(std::string_view text, const std::string& where) {
  std::string_view rest = trimmed(text, " \t\r\n");
  if (rest.starts_with('[')) return read_json(text, "", where);
  if (rest.ends_with(';')) rest.remove_suffix(1);
  Cells literal;
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find_first_of(";\n"), rest.size());
    more = end < rest.size();
    std::string_view row = trimmed(rest.substr(0, end), blanks_and_ends);
    add_row(literal, row, where);
    rest.remove_prefix(more ? end + 1 : end);
    // "1 0;\n0 1" breaks the line after the semicolon for the eye only.
    if (more) rest = trimmed(rest, " \t\r\n");
  }
  if (literal.values.size() > most_cells) {
    fail("{} has more than {} cells: give a smaller matrix", where, most_cells);
  }
  MatrixFile file;
  file.matrix = Matrix({literal.rows, literal.values.size() / literal.rows});
  std::ranges::copy(literal.values, cells(file.matrix).begin());
  file.kind = literal.kind;
  file.notation = literal.notation;
  return file;
}

}  // namespace attn
