#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "commands_tried.hpp"
#include "core/support/error.hpp"
#include "data/files/matrix_file.hpp"
#include "data/files/npz.hpp"
#include "data/files/safetensors.hpp"
#include "data/problem/problem.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;
using namespace std::string_literals;

// The files that other programs write by default, and the matrix that is meant.

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Labels = std::vector<std::string>;

// What is doubtful in a file, as warnings say it.
std::string doubts(const MatrixFile& file) {
  std::string all;
  for (const Assumption& one : file.assumed) {
    if (one.is_doubtful) all += one.sentence + ": " + one.other + "\n";
  }
  return all;
}

void check_doubt(const MatrixFile& file, std::string_view doubt) {
  const std::string all = doubts(file);
  CAPTURE(all);
  CHECK(doubt.empty() == all.empty());
  CHECK(all.find(doubt) != std::string::npos);
}

struct WrittenTable {
  const char* how;  // it was written
  std::string text;
  Matrix matrix;
  Labels rows = {}, columns = {};
  CellKind kind = CellKind::real;
  std::string_view doubt = {};
};

const Matrix two = matrix({{0.1, 0.9}, {0.3, 0.7}});
const Labels counted = {"0", "1"}, from_one = {"1", "2"}, two_words = {"it", "was"}, of_r = {"V1", "V2"};

const WrittenTable tables[] = {
    // pandas
    {"DataFrame(m, columns=words).to_csv()", ",it,was\n0,0.1,0.9\n1,0.3,0.7\n", two, counted, two_words},
    {"DataFrame(m).to_csv()", ",0,1\n0,0.1,0.9\n1,0.3,0.7\n", two, counted, counted},
    {"DataFrame(m, words, words).to_csv()", ",it,was\nit,0.1,0.9\nwas,0.3,0.7\n", two, two_words, two_words},
    {"DataFrame(m, words, words).to_csv(index=False)", "it,was\n0.1,0.9\n0.3,0.7\n", two, {}, two_words},
    {"DataFrame(m, words, words).to_csv(header=False)", "it,0.1,0.9\nwas,0.3,0.7\n", two, two_words, {}},
    {"DataFrame(m).to_csv(index=False)",
     "0,1\n0.1,0.9\n0.3,0.7\n",
     matrix({{0, 1}, {0.1, 0.9}, {0.3, 0.7}}),
     {},
     {},
     CellKind::real,
     "the first row, '0,1', is read as numbers: if it is a header, put its cells in quotes"},
    {"DataFrame(m).to_csv(header=False)",
     "0,0.1,0.9\n1,0.3,0.7\n",
     matrix({{0, 0.1, 0.9}, {1, 0.3, 0.7}}),
     {},
     {},
     CellKind::real,
     "the first column counts the rows, and is read as numbers: if it has labels, put them"},
    {"DataFrame(m).to_csv(index=False, header=False)", "0.1,0.9\n0.3,0.7\n", two},
    {"DataFrame of one row", ",it,was\n0,0.1,0.9\n", matrix({{0.1, 0.9}}), {"0"}, two_words},
    {"DataFrame of one row, unnamed", ",0,1\n0,0.1,0.9\n", matrix({{0.1, 0.9}}), {"0"}, counted},
    {"DataFrame of one column", ",0\n0,0.1\n1,0.3\n", matrix({{0.1}, {0.3}}), counted, {"0"}},
    {"DataFrame of whole numbers", ",0,1\n0,5,6\n1,7,8\n", matrix({{5, 6}, {7, 8}}), counted, counted, CellKind::whole},
    {"DataFrame of booleans", ",0,1\n0,True,False\n1,True,True\n", matrix({{1, 0}, {1, 1}}), counted, counted,
     CellKind::boolean},
    {"DataFrame of booleans.to_csv(index=False)",
     "0,1\nTrue,False\n",
     matrix({{0, 1}, {1, 0}}),
     {},
     {},
     CellKind::whole,
     "the first row, '0,1', is read as numbers"},
    {"DataFrame with infinities", ",0,1\n0,0.0,-inf\n1,0.0,0.0\n", matrix({{0, -infinity}, {0, 0}}), counted, counted},
    {"DataFrame of years", ",2019,2020\n0,0.1,0.9\n1,0.3,0.7\n", two, counted, {"2019", "2020"}},
    {"DataFrame of years and one row", ",2019,2020\n0,0.1,0.9\n", matrix({{0.1, 0.9}}), {"0"}, {"2019", "2020"}},
    {"DataFrame of keys in another order", ",3,1\n0,0.1,0.9\n1,0.3,0.7\n", two, counted, {"3", "1"}},
    {"DataFrame with indices of floats", ",0.0,1.0\n0.0,0.1,0.9\n1.0,0.3,0.7\n", two, {"0.0", "1.0"}, {"0.0", "1.0"}},
    {"DataFrame of years and words", ",2019,2020\nit,0.1,0.9\nwas,0.3,0.7\n", two, two_words, {"2019", "2020"}},
    {"DataFrame of which nothing but the empty cell says what it is",
     ",7,3\n0.5,0.1,0.9\n1.5,0.3,0.7\n",
     two,
     {"0.5", "1.5"},
     {"7", "3"},
     CellKind::real,
     "the first row, ',7,3', is read as a header and the first column as labels, because the first cell is empty: if a "
     "number is missing there, write it"},
    {"a matrix whose first number is missing",
     ",0.9\n0.3,0.7\n",
     matrix({{0.7}}),
     {"0.3"},
     {"0.9"},
     CellKind::real,
     "because the first cell is empty"},
    {"read_csv(DataFrame(m).to_csv()).to_csv()",
     ",Unnamed: 0,it\n0,0,0.1\n1,1,0.3\n",
     matrix({{0, 0.1}, {1, 0.3}}),
     counted,
     {"Unnamed: 0", "it"},
     CellKind::real,
     "the second column, 'Unnamed: 0', repeats the labels, and is read as numbers: if its cells are labels, leave out"},
    {"the same of one row",
     ",Unnamed: 0,it\n0,0,0.1\n",
     matrix({{0, 0.1}}),
     {"0"},
     {"Unnamed: 0", "it"},
     CellKind::real,
     "the second column, 'Unnamed: 0', repeats"},
    {"DataFrame of whole numbers.to_csv(index=False)",
     "0,1,2\n1,2,7\n3,3,4\n",
     matrix({{0, 1, 2}, {1, 2, 7}, {3, 3, 4}}),
     {},
     {},
     CellKind::whole,
     "the first row, '0,1,2', is read as numbers: if it is a header, put its cells in quotes; if not"},
    {"DataFrame of a mask.to_csv(index=False)",
     "0,1\n1,0\n1,1\n",
     matrix({{0, 1}, {1, 0}, {1, 1}}),
     {},
     {},
     CellKind::whole,
     "the first row, '0,1', is read as numbers: if it is a header, put its cells in quotes; if not, numbers with "
     "decimals, such as 1.0, say so (in a mask, true and false do)"},
    {"DataFrame with a whole row.to_csv(index=False)",
     "0,1,2\n0.5,0.25,0\n0,1,0\n",
     matrix({{0, 1, 2}, {0.5, 0.25, 0}, {0, 1, 0}}),
     {},
     {},
     CellKind::real,
     "the first row, '0,1,2', is read as numbers"},
    {"DataFrame of whole numbers.to_csv(header=False)",
     "0,1,2,7\n1,3,3,4\n",
     matrix({{0, 1, 2, 7}, {1, 3, 3, 4}}),
     {},
     {},
     CellKind::whole,
     "the first column counts the rows, and is read as numbers: if it has labels, put them in quotes"},
    {"DataFrame of one column.to_csv(index=False)",
     "0\n0.1\n0.2\n",
     matrix({{0}, {0.1}, {0.2}}),
     {},
     {},
     CellKind::real,
     "the first row, '0', is read as numbers"},
    {"DataFrame of years.to_csv(index=False)",
     "2019,2020\n0.1,0.9\n",
     matrix({{2019, 2020}, {0.1, 0.9}}),
     {},
     {},
     CellKind::real,
     "the first row, '2019,2020', is read as numbers"},
    {"DataFrame of some years.to_csv(index=False)",
     "2015,2020\n0.1,0.9\n",
     matrix({{2015, 2020}, {0.1, 0.9}}),
     {},
     {},
     CellKind::real,
     "the first row, '2015,2020', is read as numbers"},
    {"DataFrame by years.to_csv(header=False)",
     "2015,0.1\n2020,0.3\n",
     matrix({{2015, 0.1}, {2020, 0.3}}),
     {},
     {},
     CellKind::real,
     "the first column has increasing whole numbers, and is read as numbers"},
    {"DataFrame of one row.to_csv(index_label='id')",
     "id,it,was\n0,0.1,0.9\n",
     matrix({{0, 0.1, 0.9}}),
     {},
     {"id", "it", "was"},
     CellKind::real,
     "the first column counts"},
    {"DataFrame of whole numbers.to_csv(index_label='w')",
     "w,1,2\nx,1,9\ny,3,7\n",
     matrix({{1, 2}, {1, 9}, {3, 7}}),
     {"w", "x", "y"},
     {},
     CellKind::whole,
     "the first row, 'w,1,2', is read as a label and numbers: if it is a header, put its cells in quotes"},
    {"DataFrame of some years.to_csv(index_label='w')",
     "w,2015,2020\nx,0.1,0.9\n",
     matrix({{2015, 2020}, {0.1, 0.9}}),
     {"w", "x"},
     {},
     CellKind::real,
     "the first row, 'w,2015,2020', is read as a label and numbers"},
    // Nothing here looks like labels.
    {"whole numbers", "1,2\n3,4\n", matrix({{1, 2}, {3, 4}}), {}, {}, CellKind::whole},
    {"whole numbers of savetxt", "14 12\n11 10\n", matrix({{14, 12}, {11, 10}}), {}, {}, CellKind::whole},
    {"an identity", "1,0\n0,1\n", matrix({{1, 0}, {0, 1}}), {}, {}, CellKind::whole},
    {"a causal mask", "1,0,0\n1,1,0\n1,1,1\n", matrix({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}), {}, {}, CellKind::whole},
    {"causal weights", "1,0\n0.5,0.5\n", matrix({{1, 0}, {0.5, 0.5}})},
    {"causal weights with words", "it,1,0\nwas,0.5,0.5\n", matrix({{1, 0}, {0.5, 0.5}}), two_words, {}},
    {"a labelled causal mask", "it,1,0\nwas,1,1\n", matrix({{1, 0}, {1, 1}}), two_words, {}, CellKind::whole},
    {"words in quotes", "\"it\",0,1\n\"was\",0.3,0.7\n", matrix({{0, 1}, {0.3, 0.7}}), two_words, {}},
    {"one row", "0,1,2\n", matrix({{0, 1, 2}}), {}, {}, CellKind::whole},
    // R
    {"write.csv(m)", "\"\",\"V1\",\"V2\"\n\"1\",0.1,0.9\n\"2\",0.3,0.7\n", two, from_one, of_r},
    {"write.csv(m, row.names = FALSE)", "\"V1\",\"V2\"\n0.1,0.9\n0.3,0.7\n", two, {}, of_r},
    {"write.csv(m) with names", "\"\",\"it\",\"was\"\n\"it\",0.1,0.9\n\"was\",0.3,0.7\n", two, two_words, two_words},
    {"write.table(m)", "\"V1\" \"V2\"\n\"1\" 0.1 0.9\n\"2\" 0.3 0.7\n", two, from_one, of_r},
    {"write.table(m) with names", "\"it\" \"was\"\n\"it\" 0.1 0.9\n\"was\" 0.3 0.7\n", two, two_words, two_words},
    {"write.table(m, row.names = FALSE, col.names = FALSE)", "0.1 0.9\n0.3 0.7\n", two},
    {"write.csv(m) of logicals", "\"\",\"V1\",\"V2\"\n\"1\",TRUE,FALSE\n\"2\",TRUE,TRUE\n", matrix({{1, 0}, {1, 1}}),
     from_one, of_r, CellKind::boolean},
    {"write.csv(m) of integers", "\"\",\"V1\",\"V2\"\n\"1\",5,6\n\"2\",7,8\n", matrix({{5, 6}, {7, 8}}), from_one, of_r,
     CellKind::whole},
    {"write.csv(m) with infinities", "\"\",\"V1\",\"V2\"\n\"1\",0,-Inf\n", matrix({{0, -infinity}}), {"1"}, of_r},
    // LibreOffice and Excel
    {"a spreadsheet", "0.1,0.9\n0.3,0.7\n", two},
    {"a spreadsheet with labels", ",it,was\nit,0.1,0.9\nwas,0.3,0.7\n", two, two_words, two_words},
    {"a spreadsheet with labels and a corner", "query,it,was\nit,0.1,0.9\nwas,0.3,0.7\n", two, two_words, two_words},
    {"a spreadsheet with semicolons", ";it;was\r\nit;0.1;0.9\r\nwas;0.3;0.7\r\n", two, two_words, two_words},
    {"a spreadsheet with a comma in a label", "\"a,b\";c\n0.1;0.9\n0.3;0.7\n", two, {}, {"a,b", "c"}},
    {"a spreadsheet of Excel", "\xEF\xBB\xBF,it,was\r\nit,TRUE,FALSE\r\nwas,TRUE,TRUE\r\n", matrix({{1, 0}, {1, 1}}),
     two_words, two_words, CellKind::boolean},
    // NumPy
    {"savetxt(m)",
     "1.000000000000000056e-01 9.000000000000000222e-01\n"
     "2.999999999999999889e-01 6.999999999999999556e-01\n",
     two},
    {"savetxt(m, delimiter=',')",
     "1.000000000000000056e-01,9.000000000000000222e-01\n"
     "2.999999999999999889e-01,6.999999999999999556e-01\n",
     two},
    {"savetxt(m, header='it was')", "# it was\n1.0e-01 9.0e-01\n3.0e-01 7.0e-01\n", two},
    {"savetxt(whole)", "5.000000000000000000e+00 6.000000000000000000e+00\n", matrix({{5, 6}})},
    {"savetxt(whole, fmt='%d')", "5 6\n7 8\n", matrix({{5, 6}, {7, 8}}), {}, {}, CellKind::whole},
    // Julia
    {"writedlm(m)", "0.1\t0.9\n0.3\t0.7\n", two},
    {"writedlm(m, ',')", "0.1,0.9\n0.3,0.7\n", two},
    {"writedlm of Bool", "true\tfalse\ntrue\ttrue\n", matrix({{1, 0}, {1, 1}}), {}, {}, CellKind::boolean},
    {"writedlm of Inf", "0.0\t-Inf\n0.0\t0.0\n", matrix({{0, -infinity}, {0, 0}})},
    {"CSV.write(Tables.table(m))", "Column1,Column2\n0.1,0.9\n0.3,0.7\n", two, {}, {"Column1", "Column2"}},
    {"CSV.write(DataFrame(m, :auto))", "x1,x2\n0.1,0.9\n0.3,0.7\n", two, {}, {"x1", "x2"}},
};

// The same with signs that other programs and people put into tables.
const WrittenTable tables_with_signs[] = {
    {"rows with a blank line behind each", "0.1,0.9\r\n\r\n0.3,0.7\r\n\r\n", two},
    {"rows of which some have a blank line behind them",
     "0.1,0.9\n0.3,0.7\n\n0.5,0.5\n",
     matrix({{0.1, 0.9}, {0.3, 0.7}, {0.5, 0.5}}),
     {},
     {},
     CellKind::real,
     "blank lines separate the rows, and all 3 rows are one matrix: if there are several matrices, keep the blank lines and "
     "write # and a name"},
    {"two features of one bit, and another number",
     "0,0,0.1\n0,1,0.9\n1,0,0.3\n1,1,0.7\n",
     matrix({{0, 0, 0.1}, {0, 1, 0.9}, {1, 0, 0.3}, {1, 1, 0.7}}),
     {},
     {},
     CellKind::real,
     "the first 2 columns are numbered as places in a matrix are, so each row may be a place and its number, and all are "
     "read as numbers: write one row for each query"},
    {"the same of whole numbers",
     "1,1,5\n1,2,7\n2,1,3\n2,2,4\n",
     matrix({{1, 1, 5}, {1, 2, 7}, {2, 1, 3}, {2, 2, 4}}),
     {},
     {},
     CellKind::whole,
     "the first 2 columns are numbered as places in a matrix are, so each row may be a place and its number, and all are "
     "read as numbers: write one row for each query"},
    {"features of one bit below a header, and a bit",
     "a,b,xor\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n",
     matrix({{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}),
     {},
     {"a", "b", "xor"},
     CellKind::whole,
     "the first 2 columns are numbered as places in a matrix are, so each row may be a place and its number"},
    {"whole numbers below a header, of which no column is numbered as places are",
     "a,b,c\n1,5,7\n1,2,3\n2,4,5\n",
     matrix({{1, 5, 7}, {1, 2, 3}, {2, 4, 5}}),
     {},
     {"a", "b", "c"},
     CellKind::whole},
    {"a first column that counts from 1 below a header, beside whole numbers",
     "a,b,c\n1,5,7\n2,2,3\n3,4,5\n",
     matrix({{1, 5, 7}, {2, 2, 3}, {3, 4, 5}}),
     {},
     {"a", "b", "c"},
     CellKind::whole,
     "the first column counts the rows, and is read as numbers: if it has labels, put them in quotes"},
    {"a first column that counts years below a header",
     "year,b\n2019,5\n2020,2\n",
     matrix({{2019, 5}, {2020, 2}}),
     {},
     {"year", "b"},
     CellKind::whole,
     "the first column counts the rows, and is read as numbers"},
    {"the same without a header, which are numbers",
     "1,5,7\n2,2,3\n3,4,5\n",
     matrix({{1, 5, 7}, {2, 2, 3}, {3, 4, 5}}),
     {},
     {},
     CellKind::whole},
    {"a spreadsheet that names its separator", "sep=;\r\nit;was\r\n0.1;0.9\r\n0.3;0.7\r\n", two, {}, two_words},
    {"comments of MATLAB", "% weights of head 3\n%%\n0.1 0.9\n0.3 0.7\n", two},
    {"comments of other languages", "// weights of head 3\n0.1,0.9\n//\n0.3,0.7\n", two},
    {"a label that begins with the sign of comments", "% off,0.1,0.9\n% a,0.3,0.7\n", two, {"% off", "% a"}},
    {"a header of percentages", "%\n10\n20\n", matrix({{10}, {20}}), {}, {"%"}, CellKind::whole},
    {"a header that begins with it", "% off,it\n0.1,0.9\n0.3,0.7\n", two, {}, {"% off", "it"}},
    {"labels that are signs of comments", "%,0.1,0.9\n//,0.3,0.7\n", two, {"%", "//"}},
    {"comments at the end of rows", "0.1,0.9 # one, of two\n0.3,0.7\t# 5\n", two},
    {"comments at the end of rows with blanks", "0.1 0.9 # one 2\n0.3 0.7\n", two},
    {"labels with the sign of comments", "a # b,0.1,0.9\n1 # c,0.3,0.7\n", two, {"a # b", "1 # c"}},
    {"a mask of R with letters", "T,F\nT,T\n", matrix({{1, 0}, {1, 1}}), {}, {}, CellKind::boolean},
    {"a mask with letters and labels", ",it,was\nit,T,F\nwas,T,T\n", matrix({{1, 0}, {1, 1}}), two_words, two_words,
     CellKind::boolean},
    {"letters that are labels", "T,F\n0.1,0.9\n0.3,0.7\n", two, {}, {"T", "F"}},
    {"percentages that are labels", "10%,50%\n0.1,0.9\n0.3,0.7\n", two, {}, {"10%", "50%"}},
    {"a document's sign for minus", "\u22120.1,0.9\n0.3,\u22127e\u22121\n", matrix({{-0.1, 0.9}, {0.3, -0.7}})},
    {"blanks behind commas", "0.1,\t0.9\n0.3, 0.7\n", two},
};

struct RefusedTable {
  std::string text;
  std::string_view why;
};
const RefusedTable refused_tables[] = {
    // A header of numbers beside labels, as DataFrame(m, words).to_csv(index_label='w') has it.
    {"w,1,2\nx,0.1,0.9\ny,0.3,0.7\n", "x.csv:1: the first row, 'w,1,2', may be a header or a row of numbers"},
    {"w,2019,2020\na,0.1,0.9\n", "x.csv:1: the first row, 'w,2019,2020', may be a header or a row of numbers"},
    {"w,0,1\nx,0.1,0.9\n", "put its cells in quotes if it is a header, or write its numbers with decimals"},
    // write.csv2(m), and a spreadsheet with decimal commas.
    {"\"\";\"V1\";\"V2\"\n\"1\";0,1;0,9\n", "x.csv:2: '0,1' in column 2 has a decimal comma: write a decimal point"},
    {"0,1;0,9\n0,3;0,7\n", "x.csv:1: '0,1' in column 1 has a decimal comma"},
    {"\"0,1\",\"0,2\"\n", "x.csv:1: '0,1' in column 1 has a decimal comma: write a decimal point"},
    {"\"0,1\",\"0,2\"\n\"0,3\",\"0,4\"\n", "x.csv:1: '0,1' in column 1 has a decimal comma"},
    {"it,was\n\"0,1\",\"0,2\"\n", "x.csv:2: '0,1' in column 1 has a decimal comma"},
    // Other notations of numbers are no labels.
    {"1_000,2\n",
     "'1_000' in column 1 is not a number, because it has underscores: write the digits alone, or put it in quotes"},
    {"1_000,2\n2_000,3\n", "x.csv:1: '1_000' in column 1 is not a number"},
    {"0x10,2\n0x11,3\n",
     "'0x10' in column 1 is not a number, because it is hexadecimal: write a decimal one, or put it in quotes"},
    {"2,0x1F\n", "'0x1F' in column 2 is not a number, because it is hexadecimal"},
    // write.table(m, quote = FALSE), and to_string() of a DataFrame.
    {"V1 V2\n1 0.1 0.9\n2 0.3 0.7\n",
     "x.csv:2: the first row has 2 cells, and this row one more: if it is a header above a column of labels, begin it "
     "with an empty cell, \"\""},
    {"       0    1\nit   0.1  0.9\nwas  0.3  0.7\n", "x.csv:2: the first row has 2 cells, and this row one more"},
    {"0.1 0.2\n0.1 0.2 0.3\n", "x.csv:2: this row has 3 cells, the rows above have 2"},
    {",0.9\n", "x.csv:1: column 1 is empty"},
    {",it,was\n", "and no row of numbers follows"},
    {"it,was\n1,0.1,0.9\n", "x.csv:2: the first row has 2 cells, and this row one more"},
    {"it,was\n0.1,0.9\n1,0.1,0.9\n", "this row has 3 cells, the rows above have 2"},
};

// Tables that may mean two things.
const RefusedTable refused_readings[] = {
    // DataFrame(m, columns=words).to_csv(index_label='id'), of numbers with decimals or of more rows than a mask has
    // bits.
    {"id,it,was\n0,0.1,0.9\n1,0.3,0.7\n",
     "x.csv:1: the first column, 'id', counts the rows, and may have labels or numbers: if it has labels, write an "
     "empty cell, \"\", in place of the first cell of the first row; if not, write its numbers with decimals, such as 1.0"},
    {"position,it\n1,0.1\n2,0.3\n", "x.csv:1: the first column, 'position', counts the rows"},
    {"Unnamed: 0,it,was\n0,5,6\n1,7,8\n2,3,4\n", "x.csv:1: the first column, 'Unnamed: 0', counts the rows"},
    // Heads that a script has appended.
    {"0.1,0.9\n0.3,0.7\n\n0.2,0.8\n0.5,0.5\n",
     "x.csv:4: a blank line stands above this row, and there may be 2 matrices of 2 rows: keep the blank lines and write # "
     "and a name above each of them, or leave out the blank lines if they are one"},
    {"it,was\n1,2\n3,4\n \n\n# more\n5,6\n7,8\n", "x.csv:7: a blank line stands above this row"},
    // A row for each number of a matrix.
    {"query,key,weight\n0,0,0.1\n0,1,0.9\n1,0,0.3\n1,1,0.7\n",
     "x.csv: the first 2 columns are numbered as places in a matrix are, so each row may be a place and its number: write "
     "one row for each query, with a number for each key, or write decimals, such as 1.0, in these columns"},
    {"query,key,weight\n1,1,1.0\n2,1,0.3\n2,2,0.7\n", "the first 2 columns are numbered as places"},
    {"key,query,weight\n0,0,0.1\n1,0,0.9\n0,1,0.3\n1,1,0.7\n", "the first 2 columns are numbered as places"},
    {",query,key,weight\n0,0,0,0.1\n1,0,1,0.9\n2,1,0,0.3\n3,1,1,0.7\n", "the first 2 columns are numbered as places"},
    {"head,query,key,weight\n0,0,0,0.1\n0,0,1,0.9\n0,1,0,0.3\n0,1,1,0.7\n",
     "the first 3 columns are numbered as places"},
    {"0,0,1.0\n1,0,0.3\n1,1,0.7\n2,0,0.1\n2,1,0.2\n2,2,0.7\n", "the first 2 columns are numbered as places"},
    {"query,key,weight\n1,1,5\n1,2,7\n2,1,3\n2,2,4\n", "the first 2 columns are numbered as places"},
    {"query,key,weight\n0,0,5\n1,0,7\n1,1,3\n", "the first 2 columns are numbered as places"},
    {"0,0,5\n0,1,7\n0,2,3\n1,0,4\n1,1,5\n1,2,6\n", "the first 2 columns are numbered as places"},
    {"query,key,weight\nit,it,0.1\nit,was,0.9\n",
     "x.csv:2: this row has 2 words and a number, and may be a place and its number: write one row for each query"},
    {"it,it,0.1\nit,was,0.9\n", "x.csv:1: this row has 2 words and a number"},
    // Two separators.
    {"0.1,0.2;0.7\n0.3,0.3;0.4\n",
     "x.csv:1: '0.1,0.2' in column 1 is not a number, but several: separate all cells by the same sign, or put it in "
     "quotes if it is a label"},
    {"0.1 0.2;0.7\n0.3 0.3;0.4\n", "x.csv:1: '0.1 0.2' in column 1 is not a number, but several"},
    {"0.1,0.2;0.7\n0.3,0.4\n", "'0.2;0.7' in column 2 is not a number, but several"},
    // Decimal commas between tabs and blanks, and signs between thousands.
    {"0,1\t0,2\n0,3\t0,4\n", "x.csv:1: '0,1' in column 1 has a decimal comma: write a decimal point"},
    {"0,1 0,2\n0,3 4\n", "x.csv:1: '0,1' in column 1 has a decimal comma: write a decimal point"},
    {"1,000;2,000\n3,500;4,250\n",
     "x.csv:1: '1,000' in column 1 has a comma, which may be a decimal comma or a sign between thousands: write a decimal "
     "point, or the digits alone"},
    {"0,125;2,5\n-12,125;4\n", "x.csv:1: '0,125' in column 1 has a decimal comma: write a decimal point"},
    {"2,5;1\n", "x.csv:1: '2,5' in column 1 has a decimal comma: write a decimal point"},
    {"1;-12,125\n",
     "x.csv:1: '-12,125' in column 2 has a comma, which may be a decimal comma or a sign between thousands"},
    {"1;1234,125\n", "x.csv:1: '1234,125' in column 2 has a decimal comma: write a decimal point"},
    {"1.234,5;2\n4;5\n",
     "x.csv:1: '1.234,5' in column 1 is not a number, because it has signs between thousands: write the digits alone"},
    {"1,234.5;2\n4;5\n", "x.csv:1: '1,234.5' in column 1 is not a number, because it has signs between thousands"},
    {"-1,234,567;2\n4;5\n", "'-1,234,567' in column 1 is not a number, because it has signs between thousands"},
    {"10%,20%\n30%,40%\n",
     "x.csv:2: '40%' in column 2 is not a number, because it is a percentage: write a decimal fraction, such as 0.1 for "
     "10%"},
    {"sep=|\n1|2\n", "x.csv:1: the separator '|' is not read: separate the cells by commas, semicolons or tabs"},
    {"sep=;\n0,1;0,9\n", "x.csv:2: '0,1' in column 1 has a decimal comma"},
};

std::vector<WrittenTable> all_tables() {
  std::vector<WrittenTable> all(std::begin(tables), std::end(tables));
  all.insert(all.end(), std::begin(tables_with_signs), std::end(tables_with_signs));
  return all;
}

std::vector<RefusedTable> all_refused_tables() {
  std::vector<RefusedTable> all(std::begin(refused_tables), std::end(refused_tables));
  all.insert(all.end(), std::begin(refused_readings), std::end(refused_readings));
  return all;
}

}  // namespace

TEST_CASE("a table that another program writes by default is the matrix that is meant, or there is a warning") {
  for (const WrittenTable& row : all_tables()) {
    CAPTURE(row.text);
    const MatrixFile read = read_csv(row.text, "", "x.csv");
    CHECK(same(read.matrix, row.matrix));
    CHECK(read.row_labels == row.rows);
    CHECK(read.column_labels == row.columns);
    CHECK(read.kind == row.kind);
    check_doubt(read, row.doubt);
  }
}

TEST_CASE("a table with tabs is read as the same table with commas") {
  for (const WrittenTable& row : all_tables()) {
    if (row.text.find('"') != std::string::npos || row.text.find_first_of(" ;\t") != std::string::npos) continue;
    CAPTURE(row.how);
    std::string tabs = row.text;
    std::ranges::replace(tabs, ',', '\t');
    const MatrixFile read = read_tsv(tabs, "", "x.tsv");
    CHECK(same(read.matrix, row.matrix));
    CHECK(read.row_labels == row.rows);
    CHECK(read.column_labels == row.columns);
    check_doubt(read, row.doubt.substr(0, row.doubt.find('\'')));
  }
}

TEST_CASE("a table of which nobody knows what it means is refused") {
  for (const RefusedTable& row : all_refused_tables()) {
    const std::string sentence = refusal([&] { read_csv(row.text, "", "x.csv"); });
    CAPTURE(row.text);
    CHECK_MESSAGE(sentence.find(row.why) != std::string::npos, sentence);
  }
}

TEST_CASE("what a warning of a table says to do gives the other reading, or the same one without a warning") {
  const auto read = [](std::string_view text) { return read_csv(text, "", "x.csv"); };
  const MatrixFile header = read("\"0\",\"1\"\n0.1,0.9\n0.3,0.7\n");
  CHECK(same(header.matrix, two));
  CHECK(header.column_labels == counted);
  const MatrixFile labels = read("\"0\",0.1,0.9\n\"1\",0.3,0.7\n");
  CHECK(same(labels.matrix, two));
  CHECK(labels.row_labels == counted);
  CHECK(same(read("\"\" V1 V2\n1 0.1 0.9\n2 0.3 0.7\n").matrix, two));
  CHECK(same(read("\"0\"\n0.1\n0.2\n").matrix, matrix({{0.1}, {0.2}})));
  CHECK(doubts(read("0.0,1.0\n0.1,0.9\n")).empty());
  CHECK(doubts(read("0.0,1.0\n1,0\n1,1\n")).empty());
  CHECK(doubts(read("false,true\ntrue,false\n")).empty());
  CHECK(doubts(read(",Unnamed: 0,it\n0,0.0,0.1\n1,1.0,0.3\n")).empty());
  CHECK(doubts(read("0.0,0.1,0.9\n1.0,0.3,0.7\n")).empty());
  CHECK(same(read("\"w\",\"1\",\"2\"\nx,0.1,0.9\ny,0.3,0.7\n").matrix, two));
  CHECK(read("w,1.0,2.0\nx,0.1,0.9\n").row_labels == Labels{"w", "x"});
}

// --- NumPy and PyTorch

namespace {

std::string bytes_of_number(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (; bytes > 0; --bytes, number >>= 8U) text += static_cast<char>(number & 0xFFU);
  return text;
}

template <class Number>
std::string bytes_of_numbers(std::initializer_list<Number> numbers) {
  std::string all;
  for (const Number number : numbers) {
    if constexpr (std::is_same_v<Number, double>) {
      all += bytes_of_number(std::bit_cast<std::uint64_t>(number), 8);
    } else if constexpr (std::is_same_v<Number, float>) {
      all += bytes_of_number(std::bit_cast<std::uint32_t>(number), 4);
    } else {
      all += bytes_of_number(static_cast<std::uint64_t>(number), sizeof(Number));
    }
  }
  return all;
}

// numpy.save
std::string saved(const std::string& type, const std::string& shape, const std::string& elements,
                  const std::string& fortran = "False") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  return "\x93NUMPY\x01"s + '\0' + bytes_of_number(header.size(), 2) + header + elements;
}

// safetensors.torch.save_file of one tensor.
std::string tensor_file(const std::string& type, const std::string& shape, const std::string& elements) {
  std::string header = R"({"a":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":[0,)" +
                       std::to_string(elements.size()) + "]}}";
  header.append((8 - header.size() % 8) % 8, ' ');
  return bytes_of_number(header.size(), 8) + header + elements;
}

struct WrittenArray {
  const char* how;
  MatrixFile file;
  Matrix matrix;
  CellKind kind;
  std::string_view told;  // among what is assumed
  std::string_view doubt = {};
};

MatrixFile npy(const std::string& bytes) { return read_npy(bytes, "", "x.npy"); }
MatrixFile tensor(const std::string& bytes) { return read_safetensors(bytes, "", "x.safetensors"); }

constexpr std::int64_t too_large = (std::int64_t{1} << 53) + 1;

}  // namespace

TEST_CASE("an array or tensor that another program writes by default is the matrix that is meant") {
  const std::string doubles = bytes_of_numbers<double>({1, 2, 3, 4}),
                    bits = bytes_of_numbers<std::uint8_t>({1, 0, 1, 1}),
                    wholes = bytes_of_numbers<std::int64_t>({5, -6, 7, 8});
  const Matrix counts = matrix({{1, 2}, {3, 4}}), flags = matrix({{1, 0}, {1, 1}});
  const WrittenArray arrays[] = {
      {"save(m)", npy(saved("<f8", "(2, 2)", doubles)), counts, CellKind::real, "row by row (C order)"},
      {"save(m.T)", npy(saved("<f8", "(2, 2)", doubles, "True")), matrix({{1, 3}, {2, 4}}), CellKind::real,
       "column by column (Fortran order)"},
      {"save(m.astype('f4'))", npy(saved("<f4", "(2, 2)", bytes_of_numbers<float>({1, 2, 3, 4}))), counts,
       CellKind::real, "the type f4"},
      {"save(one row)", npy(saved("<f8", "(4,)", doubles)), matrix({{1, 2, 3, 4}}), CellKind::real, "is one row"},
      {"save(bool)", npy(saved("|b1", "(2, 2)", bits)), flags, CellKind::boolean, "the type b1"},
      {"save(uint8)", npy(saved("|u1", "(2, 2)", bits)), flags, CellKind::whole, "the type u1"},
      {"save(int64)", npy(saved("<i8", "(2, 2)", wholes)), matrix({{5, -6}, {7, 8}}), CellKind::whole, "the type i8"},
      {"save(int64 beyond 2^53)", npy(saved("<i8", "(1, 2)", bytes_of_numbers<std::int64_t>({1, too_large}))),
       matrix({{1, 9007199254740992.0}}), CellKind::whole, "the type i8", "is rounded to the nearest double"},
      {"save(2^60)", npy(saved("<i8", "(1, 1)", bytes_of_numbers<std::int64_t>({-(std::int64_t{1} << 60)}))),
       matrix({{-1152921504606846976.0}}), CellKind::whole, "the type i8"},
      {"save_file(float)", tensor(tensor_file("F32", "[2,2]", bytes_of_numbers<float>({1, 2, 3, 4}))), counts,
       CellKind::real, "the type F32"},
      {"save_file(vector)", tensor(tensor_file("F64", "[4]", doubles)), matrix({{1, 2, 3, 4}}), CellKind::real,
       "the vector of size 4 is one row"},
      {"save_file(bool)", tensor(tensor_file("BOOL", "[2,2]", bits)), flags, CellKind::boolean, "the type BOOL"},
      {"save_file(int64)", tensor(tensor_file("I64", "[2,2]", wholes)), matrix({{5, -6}, {7, 8}}), CellKind::whole,
       "the type I64"},
      {"save_file(int64 beyond 2^53)", tensor(tensor_file("I64", "[1,1]", bytes_of_numbers<std::int64_t>({too_large}))),
       matrix({{9007199254740992.0}}), CellKind::whole, "the type I64", "is rounded to the nearest double"},
  };
  for (const WrittenArray& row : arrays) {
    CAPTURE(row.how);
    CHECK(same(row.file.matrix, row.matrix));
    CHECK(row.file.kind == row.kind);
    check_doubt(row.file, row.doubt);
    CHECK(std::ranges::any_of(row.file.assumed,
                              [&](const Assumption& one) { return one.sentence.find(row.told) != std::string::npos; }));
  }
}

TEST_CASE("a whole number that no double is gets a warning in text and JSON, and an exact one none") {
  const auto csv = [](std::string_view text) { return doubts(read_csv(text, "", "x")); };
  const auto json = [](std::string_view text) { return doubts(read_json(text, "", "x")); };
  CHECK(csv("9007199254740993,0.5\n") ==
        "'9007199254740993' is rounded to the nearest double: "
        "whole numbers above 2⁵³ need not be exact, so give smaller ones\n");
  CHECK(csv("-9007199254740993,0.5\n").find("is rounded") != std::string::npos);
  CHECK(csv("9007199254740992,1152921504606846976\n").empty());
  CHECK(csv("0.1,9007199254740993.0\n").empty());  // decimals are always rounded
  CHECK(json("[[1, 9007199254740993]]").find("9007199254740993 is rounded") == 0);
  CHECK(json("[-9007199254740993]").find("-9007199254740993 is rounded") == 0);
  CHECK(json("[[1, 9007199254740992]]").empty());
}

// --- masks

namespace {

struct WrittenMask {
  const char* how;
  MatrixFile file;
  bool is_added;
  std::string_view doubt = {};
};

MatrixFile typed(const char* literal) { return read_literal(literal, "x"); }

}  // namespace

TEST_CASE("a mask permits or is added as its cells are written, and where both may be meant there is a warning") {
  const std::string bits = bytes_of_numbers<std::uint8_t>({1, 0}), signs = bytes_of_numbers<std::int8_t>({0, -1});
  constexpr std::string_view of_floats = "the mask is of floats", of_others = "other whole numbers than 0 and 1";
  const WrittenMask masks[] = {
      {"bool of NumPy", npy(saved("|b1", "(1, 2)", bits)), false},
      {"0 and 1 of NumPy", npy(saved("|u1", "(1, 2)", bits)), false},
      {"0 and -1 of NumPy", npy(saved("|i1", "(1, 2)", signs)), true, of_others},
      {"floats 0 and 1 of NumPy", npy(saved("<f8", "(1, 2)", bytes_of_numbers<double>({1, 0}))), true, of_floats},
      {"0 and -inf of NumPy", npy(saved("<f8", "(1, 2)", bytes_of_numbers<double>({0, -infinity}))), true},
      {"zeros of floats", npy(saved("<f8", "(1, 2)", bytes_of_numbers<double>({0, 0}))), true},
      {"bool of PyTorch", tensor(tensor_file("BOOL", "[1,2]", bits)), false},
      {"0 and -inf of PyTorch", tensor(tensor_file("F32", "[1,2]", bytes_of_numbers<float>({0, -INFINITY}))), true},
      {"True and False of pandas", read_csv(",0,1\n0,True,False\n", "", "x"), false},
      {"TRUE and FALSE of R", read_csv("\"\",\"V1\"\n\"1\",TRUE\n\"2\",FALSE\n", "", "x"), false},
      {"0 and 1 of a spreadsheet", read_csv("0,1\n1,1\n", "", "x"), false},
      {"0 and 1 of savetxt", read_csv("0.000000000000000000e+00 1.000000000000000000e+00\n", "", "x"), true, of_floats},
      {"true and false of Julia", read_csv("true\tfalse\n", "", "x"), false},
      {"true and false in JSON", read_json("[[true, false]]", "", "x"), false},
      {"0 and -Infinity in JSON", read_json("[[0.0, -Infinity]]", "", "x"), true},
      {"typed 0 and 1", typed("0 1"), false},
      {"typed 0.0 and 1.0", typed("0.0 1.0"), true, of_floats},
      {"typed 0 and -1", typed("0 -1"), true, of_others},
      {"typed distances", typed("0 -1 -2"), true, of_others},
      {"typed numbers", typed("0 1 2"), true, of_others},
      {"typed 0 and -inf", typed("0 -inf"), true},
  };
  for (const WrittenMask& row : masks) {
    CAPTURE(row.how);
    const MaskReading read = reading_of_mask(row.file);
    CHECK(read.is_added == row.is_added);
    CHECK(read.assumption.is_doubtful == !row.doubt.empty());
    CHECK_MESSAGE(read.assumption.sentence.find(row.doubt) != std::string::npos, read.assumption.sentence);
  }
}

TEST_CASE("a mask of 0 and another whole number above 1, as images have it, is refused") {
  const MatrixFile image = npy(saved("|u1", "(1, 2)", bytes_of_numbers<std::uint8_t>({255, 0})));
  CHECK(refusal([&] { reading_of_mask(image); }) ==
        "the mask has only the whole numbers 0 and 255: to permit and to mask, give true and false, or 1 and 0; "
        "to add these numbers to the scores, give them as floats");
  CHECK(refusal([&] { reading_of_mask(typed("2 0")); }).find("0 and 2") != std::string::npos);
  CHECK(reading_of_mask(typed("2.0 0.0")).is_added);
}

// --- the command line

TEST_CASE("two readings of a file are told on standard error, and --say-input shows all that was assumed") {
  const TemporaryFolder folder;
  const std::string counted_header = folder.write("c.csv", "0,1\n0.1,0.9\n0.3,0.7\n"),
                    labelled = folder.write("l.csv", ",it,was\n0,0.1,0.9\n1,0.3,0.7\n"),
                    mask = folder.write("m.npy", saved("<f8", "(1, 2)", bytes_of_numbers<double>({1, 0})));
  const ProcessResult doubted = run_attn({"softmax", "--scores", counted_header});
  CHECK(doubted.code == 0);
  CHECK(
      doubted.errors.starts_with("attn: warning: " + counted_header + ": the first row, '0,1', is read as numbers: "));
  CHECK(run_attn({"softmax", "--scores", labelled}).errors.empty());
  for (const Words& line :
       {Words{"softmax", "--scores", labelled}, Words{"softmax", "--scores", labelled, "--mask", mask},
        Words{"check", labelled, "walk", "--scores", "0 1; 1 0", "--as", "weights"}}) {
    CAPTURE(command_line(line));
    const ProcessResult told = run_attn(line + Words{"--say-input"});
    check_has(told.out, "Input");
    check_has(told.out, "the first column has labels");
    check_has(told.out, "commas separate the cells");
    check_lacks(run_attn(line).out, "commas separate the cells");
  }
  // Beside what programs read.
  for (const Words& line : {Words{"convert", labelled, folder.path("o.npy")},
                            Words{"softmax", "--scores", labelled, "--only", "weights", "--format", "csv"}}) {
    CAPTURE(command_line(line));
    const ProcessResult told = run_attn(line + Words{"--say-input"});
    CHECK(told.out == run_attn(line).out);
    check_has(told.errors, " from " + labelled + ", 2×2: first column: the first column has labels\n");
  }
  const ProcessResult masked = run_attn({"softmax", "--scores", labelled, "--mask", mask, "--say-input"});
  CHECK(masked.out.find("the elements have the type f8") != std::string::npos);
  CHECK(masked.errors.find(mask + ": the mask is of floats") != std::string::npos);
}

TEST_CASE("--say-input tells of truth values as numbers, of letters for them, and of comments that are left out") {
  const auto sentences = [](const MatrixFile& file) {
    std::vector<std::string> all;
    for (const Assumption& one : file.assumed) all.push_back(one.sentence);
    return all;
  };
  const auto of_csv = [&](std::string_view text, std::string_view key) {
    return sentences(read_csv(text, key, "x.csv"));
  };
  const auto says = [](const std::vector<std::string>& all, std::string_view sentence) {
    return std::ranges::find(all, sentence) != all.end();
  };
  constexpr std::string_view truth = "true is read as 1, and false as 0",
                             letters = "T without quotes is true, and F is false";
  CHECK(says(of_csv("T,F\nF,T\n", ""), truth));
  CHECK(says(of_csv("T,F\nF,T\n", ""), letters));
  CHECK(says(of_csv("true,2\n3,4\n", ""), truth));
  CHECK_FALSE(says(of_csv("true,2\n3,4\n", ""), letters));
  CHECK_FALSE(says(of_csv("1,2\n3,4\n", ""), truth));
  CHECK(says(sentences(read_json("[[true, 2], [3, 4]]", "", "x.json")), truth));
  CHECK_FALSE(says(sentences(read_json("[[1, 2], [3, 4]]", "", "x.json")), truth));
  CHECK(says(of_csv("1,2 # first\n3,4\n# end\n", ""), "2 comments are left out"));
  CHECK(says(of_csv("# q\n1,2 # first\n3,4\n\n# k\n1,2\n", "q"), "1 comment is left out"));
  for (const std::string& one : of_csv("# q\n1,2 # first\n3,4\n\n# k\n1,2\n", "k")) check_lacks(one, "left out");
}

TEST_CASE("a causal mask of fewer queries than keys says where it begins, and how it is aligned at the end") {
  const Words few = {"softmax", "--scores", "0 0 0", "--causal"};
  const ProcessResult told = run_attn(few);
  CHECK(told.errors ==
        "attn: warning: --causal: there are 1 query and 3 keys, and query 1 attends to key 1: "
        "if the queries are those of the last keys, as with a KV cache, give --causal-offset 2\n");
  for (const char* offset : {"0", "2"}) CHECK(run_attn(few + Words{"--causal-offset", offset}).errors.empty());
  CHECK(run_attn({"softmax", "--scores", "0 0; 0 0", "--causal"}).errors.empty());
  CHECK(run_attn({"walk", "--text", "a b", "--memory-text", "a b c", "--causal"}).errors.find("--causal-offset 1") !=
        std::string::npos);
}

TEST_CASE("messages name the file and the member, and no option that nobody typed") {
  const TemporaryFolder folder;
  const std::string problem = folder.path("p.json");
  const auto told = [&](const Words& line, std::string_view json) {
    folder.write("p.json", json);
    const ProcessResult finished = run_attn(line);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors.starts_with("attn: " + problem + ":"), finished.errors);
    CHECK_MESSAGE(finished.errors.find("--") == std::string::npos, finished.errors);
    return finished.errors;
  };
  const auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  for (const Words& line : {Words{"walk", "--problem", problem}, Words{"walk", "--problem", problem, "--causal"}}) {
    has(told(line, R"({"text": ["a b"], "heads": 0})"), "\"heads\" must be 1 or more");
    has(told(line, R"({"text": ["a b"], "soft_cap": -1})"), "\"soft_cap\": '-1' is not a positive finite number");
    has(told(line, R"({"text": ["a b"], "score": "dut"})"), "\"score\": unknown name 'dut' (did you mean 'dot'?)");
    has(told(line, R"({"text": ["a b"], "random": "numpi:0"})"), "\"random\": unknown name 'numpi:0'");
    has(told(line, R"({"x": [[1, 2]], "heads": 1, "x": [[1]]})"), "p.json:1:29: the member 'x' is given twice");
  }
  const Words encoder = {"encoder", "--model", problem};
  has(told(encoder, R"({"norm": "foo", "parameters": {}})"), "\"norm\": unknown placement of norms 'foo'");
  has(told(encoder, R"({"activation": "foo", "parameters": {}})"), "\"activation\": unknown activation 'foo'");
  has(told(encoder, R"({"scale": "foo", "parameters": {}})"), "\"scale\": unknown scale 'foo'");
  has(told(encoder, R"({"scale": "-2", "parameters": {}})"), "\"scale\" -2: the scores are divided by it");
  const Words align = {"align", "--model", problem};
  has(told(align, R"({"cell": "foo"})"), "\"cell\": unknown cell 'foo'");
  has(told(align, R"({"variant": "foo"})"), "\"variant\": unknown variant 'foo'");
  has(told(align, R"({"variants": {"foo": {}}})"), "\"variants\": unknown variant 'foo'");
}

TEST_CASE("what a problem file gives is named by its file and member, wherever it is refused") {
  const TemporaryFolder folder;
  const std::string problem = folder.path("p.json");
  const auto told = [&](const Words& words, std::string_view json, std::string_view sentence) {
    folder.write("p.json", json);
    const ProcessResult finished = run_attn(words + Words{"--problem", problem});
    CAPTURE(json);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors.starts_with("attn: " + problem + ": " + std::string(sentence)), finished.errors);
  };
  told({"align"}, R"({"cell": "foo"})", "\"cell\": unknown name 'foo'. Choose one of: tanh, gru");
  told({"align"}, R"({"variant": "foo"})", "\"variant\": unknown name 'foo'");
  for (const char* command : {"encoder", "transformer"}) {
    told({command}, R"({"norm": "foo"})", "\"norm\": unknown name 'foo'. Choose one of: post, pre, none");
    told({command}, R"({"size": "foo"})", "\"size\": unknown name 'foo'");
    told({command}, R"({"scale": 0})", "\"scale\" 0: the scores are divided by it");
    told({command}, R"({"heads": 4, "kv_heads": 3})", "\"kv_heads\": the number of heads (4) is not divisible");
    told({command}, R"({"text": "a b", "mask": [[1, 0, 1]]})", "\"mask\" is 1×3, and must be 2×2 or 1×2");
    told({command}, R"({"text": "a b", "key_mask": [[1, 0, 1]]})", "\"key_mask\" has 3 columns, and there are 2 keys");
  }
  told({"walk"}, R"({"scale": 0})", "\"scale\" 0: the scores are divided by it, so give a positive number");
  told({"walk"}, R"({"text": "a b", "scale": "x"})", "\"scale\": unknown scale 'x'");
  told({"walk"}, R"({"text": "a b", "heads": 4, "kv_heads": 3})", "\"kv_heads\": the number of heads (4)");
  told({"walk"}, R"({"text": "a b", "mask": [[1, 0, 1]]})", "\"mask\" is 1×3 but the scores are 2×2: give a mask");
  told({"walk"}, R"({"text": "a b", "valid_length": [1, 2, 3]})", "\"valid_length\": 3 lengths are given");
  told({"walk"}, R"({"text": "a b", "key_mask": [[255, 0]]})", "\"key_mask\": the cell in row 1, column 1 is 255");
  // What was typed takes the place of what the file gives.
  folder.write("p.json", R"({"text": "a b", "heads": 4, "scale": 0})");
  CHECK(run_attn({"walk", "--problem", problem, "--scale", "-1"}).errors.starts_with("attn: --scale -1: "));
}

TEST_CASE("a mask of keys that does not permit is refused with what a mask of keys has") {
  const auto told = [](const char* mask) {
    return run_attn({"softmax", "--scores", "1 2 3", "--key-mask", mask}).errors;
  };
  constexpr std::string_view what = "give true or 1 for each key that may be attended to, and false or 0 for padding\n";
  CHECK(told("255 255 0") == fmt::format("attn: --key-mask: the cell in row 1, column 1 is 255: {}", what));
  CHECK(told("0.0 0.0 -inf") == fmt::format("attn: --key-mask: the cell in row 1, column 3 is -inf: {}", what));
  CHECK(told("1.0 0.0 1.0").find("true or 1 (not 1.0)") != std::string::npos);
  const TemporaryFolder folder;
  const std::string path = folder.write("m.csv", "255,255,0\n");
  CHECK(told(path.c_str()).starts_with("attn: " + path + ": --key-mask: the cell in row 1, column 1 is 255"));
}

// --- containers

TEST_CASE("a file of another program is refused by its format, with what to do") {
  const TemporaryFolder folder;
  struct Row {
    const char* name;
    std::string bytes;
    std::string_view sentence;
  };
  const std::string zip = "PK\x03\x04"s + std::string(26, '\0'), gguf = "GGUF\x03"s + std::string(19, '\0') + '\n';
  const Row rows[] = {
      {"utf16.csv",
       "\xFF\xFE"s + "0\0,\0"
                     "1\0"s,
       "is UTF-16 text: save it as UTF-8"},
      {"big.csv",
       "\xFE\xFF\0"
       "1"s,
       "is UTF-16 text: save it as UTF-8"},
      {"x.xlsx", zip + "xl/workbook.xml", "is an Excel spreadsheet: save it as CSV"},
      {"x.csv", zip + "xl/workbook.xml", "is an Excel spreadsheet: save it as CSV"},
      {"x.ods", zip + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
       "is an OpenDocument spreadsheet: save it as CSV"},
      {"x.gguf", gguf, "is a GGUF file, which is a whole model and not a matrix: compute with it by attn transformer"},
      {"x.csv", gguf, "is a GGUF file, which is a whole model"},
      {"x.xls", "\xD0\xCF\x11\xE0\xA1\xB1", "is an old Excel spreadsheet"},
      {"x.csv.gz", "\x1F\x8B\x08", "is compressed by gzip: unpack it"},
      {"y.csv", "\x1F\x8B\x08", "is compressed by gzip: unpack it"},
      {"x.pt", "\x80\x02\x8A", "is a Python pickle: save its arrays as an .npz file"},
      {"x.pkl", "\x80\x04\x95", "is a Python pickle: save its arrays as an .npz file"},
      {"x.h5", "\x89HDF\r\n\x1A\n", "is an HDF5 file: save its arrays as an .npz file"},
      {"n.csv", saved("<f8", "(1, 1)", bytes_of_numbers<double>({1})),
       "is no text, but begins like an .npy file: give it a name that ends in .npy"},
      {"z.csv", zip, "is no text, but begins like an .npz file: give it a name that ends in .npz, or unpack it"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const std::string path = folder.write(row.name, row.bytes);
    for (const Words& line :
         {Words{"softmax", "--scores", path}, Words{"show", path}, Words{"check", path, "--scores", "1 2"}}) {
      const ProcessResult finished = run_attn(line);
      CHECK(finished.code == 2);
      CHECK_MESSAGE(finished.errors.starts_with("attn: " + path + " " + std::string(row.sentence)), finished.errors);
    }
  }
}

TEST_CASE("a device is refused, and a pipe and standard input are read") {
  const ProcessResult zero = run_attn({"softmax", "--scores", "/dev/zero"});
  CHECK(zero.code == 2);
  CHECK(zero.errors == "attn: /dev/zero is a device: give a regular file, a pipe, or '-' for standard input\n");
  CHECK(run_attn({"show", "/dev/urandom"}).code == 2);
}

TEST_CASE("a page with more numbers than anybody reads goes to a file or a program only") {
  const TemporaryFolder folder;
  const std::string path = folder.path("big.npy");
  folder.write("big.npy", saved("|b1", "(1, 4194305)", std::string(4194305, '\1')));
  for (const Words& line :
       {Words{"softmax", "--scores", path, "--only", "scores"}, Words{"convert", path, "-", "--format", "markdown"}}) {
    const ProcessResult finished = run_attn(line);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors.starts_with("attn: this page has 4194305 numbers, and at most 4194304 are shown: "),
                  finished.errors);
  }
  CHECK(run_attn({"convert", path, folder.path("o.npy")}).code == 0);
  CHECK(run_attn({"convert", path, folder.path("o.csv")}).code == 0);
  CHECK(run_attn({"convert", path, folder.path("o.txt")}).code == 0);
  CHECK(run_attn({"softmax", "--scores", path, "--only", "scores", "--format", "npy"}).code == 0);
}

TEST_CASE("a tensor that is empty is left out by attn check as by attn show") {
  const std::string header =
      R"({"empty":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},"weights":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]}})";
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "four.safetensors", bytes_of_number(header.size(), 8) + header + bytes_of_numbers<double>({0.5, 0.5}));
  const ProcessResult checked = run_attn({"check", path, "--scores", "1 1"});
  CHECK_MESSAGE(checked.code == 0, checked.errors);
  CHECK(run_attn({"show", path}).code == 0);
}

TEST_CASE("a container without matrices is refused with what to do") {
  const TemporaryFolder folder;
  for (const std::string& header : {"{}"s, R"({"__metadata__":{"format":"pt"}})"s}) {
    const std::string path = folder.write("empty.safetensors", bytes_of_number(header.size(), 8) + header);
    for (const Words& line :
         {Words{"softmax", "--scores", path}, Words{"softmax", "--scores", path + ":a"}, Words{"walk", "--q", path},
          Words{"softmax", "--scores", "1 2", "--mask", path}, Words{"convert", path, "-"}, Words{"show", path},
          Words{"check", path}, Words{"walk", "--parameters", path, "--text", "a", "--heads", "1"},
          Words{"encoder", "--parameters", path, "--heads", "1"}, Words{"encoder", "--model", path}}) {
      CAPTURE(command_line(line));
      const ProcessResult finished = run_attn(line);
      CHECK(finished.code == 2);
      CHECK(finished.errors == "attn: " + path + " has no tensors: save at least one\n");
    }
  }
}

TEST_CASE("arrays that together have too many numbers are refused by their headers") {
  // Eight arrays, of which each alone has as many numbers as a matrix may have, and no elements behind their headers.
  const Matrix one = matrix({{0}});
  std::vector<NamedMatrix> arrays;
  const std::vector<std::string> names = {"scores", "w1", "w2", "w3", "w4", "w5", "w6", "w7"};
  for (const std::string& name : names) arrays.push_back({name, &one});
  std::string bytes;
  Sink sink([&](std::string_view piece) { bytes += piece; });
  write_npz(arrays, sink);
  sink.flush();
  const std::string small = "(1, 1), }", large = "(8192, 16384), }";
  for (std::size_t at = 0; (at = bytes.find(small, at)) != std::string::npos; at += small.size())
    bytes.replace(at, large.size(), large);  // over blanks behind it
  const TemporaryFolder folder;
  const std::string path = folder.write("bomb.npz", bytes);
  for (const Words& line : {Words{"check", path}, Words{"show", path}}) {
    CAPTURE(command_line(line));
    const ProcessResult finished = run_attn(line);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(finished.errors == "attn: " + path + " has more than 134217728 numbers: leave out some " +
                                         (line.front() == "check" ? "matrices" : "arrays") + "\n",
                  finished.errors);
  }
}

TEST_CASE("arrays of every type and order are the same packed and not packed, whatever pieces they come in") {
  Matrix numbers({300, 200});
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers.data()[i] = static_cast<double>(i % 251) - 125.0;
  for (const bool fortran : {false, true}) {
    for (const std::string& type : {"<f8"s, ">f8"s, "<f4"s, "<i2"s, ">i4"s, "<i8"s}) {
      CAPTURE(type);
      const std::size_t size = static_cast<std::size_t>(type[2] - '0');
      std::string elements;
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const double value = fortran ? numbers(k % 300, k / 300) : numbers.data()[k];
        std::string element = type[1] == 'i'
                                  ? bytes_of_number(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), size)
                              : size == 8 ? bytes_of_numbers<double>({value})
                                          : bytes_of_numbers<float>({static_cast<float>(value)});
        if (type[0] == '>') std::ranges::reverse(element);
        elements += element;
      }
      const std::string whole = saved(type, "(300, 200)", elements, fortran ? "True" : "False");
      CHECK(same(npy(whole).matrix, numbers));
      const std::string where = "x";
      const NpyHeader header = parse_npy_header(whole, where);
      for (const std::size_t piece : {1U, 3U, 7U, 1000U}) {
        NpyReader reader(header, elements.size(), where);
        for (std::size_t at = 0; at < elements.size(); at += piece)
          reader.take(std::string_view(elements).substr(at, piece));
        CHECK(same(std::move(reader).finish().matrix, numbers));
      }
    }
  }
}
