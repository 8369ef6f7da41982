// Tables that are formatted by hand, between // clang-format off and // clang-format on: their rows stay in columns.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/text.hpp"
#include "source_code.hpp"
#include "source_files.hpp"

using namespace attn;

namespace {

constexpr std::string_view begin_of_region = "// clang-format off", end_of_region = "// clang-format on";
constexpr std::size_t widest_line = 120, indentation_of_rows = 4;

// Columns are letters, not bytes.
std::size_t letters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

struct TableLine {
  std::size_t number = 0;  // in its file, from 1
  std::string_view text;
  std::string_view code;  // with blanks in place of comments and of what stands in quotes
};

// Where something begins that other rows may have below it: the `=` behind a name, or a field between the brackets of
// the row.
struct Stop {
  std::size_t column = 0;
  std::size_t blanks = 0;  // before it
  bool is_sign = false;    // `=`, which is aligned in all tables
};

struct TableRow {
  std::size_t line = 0;
  std::vector<Stop> stops = {};  // of its first line
};

// Reads the regions of a file. A region has tables: lines that are deeper than its marks, between others that are not,
// or are empty. A row ends with a comma outside of brackets.
class TableReader {
 public:
  explicit TableReader(const SourceFile& file) : path_(file.path), code_(code_of(file.text)) {
    const std::string_view code = code_.text;
    std::size_t at = 0, number = 0;
    for (const std::string_view line : split_at(file.text, '\n')) {
      read({++number, line, code.substr(at, line.size())});
      at += line.size() + 1;
    }
    if (region_) complain(*region_, "the region has no end");
  }

  const std::vector<std::string>& complaints() const { return complaints_; }
  std::size_t rows() const { return count_; }

 private:
  void complain(std::size_t line, std::string_view says) {
    complaints_.push_back(fmt::format("{}:{}: {}", path_, line, says));
  }

  void read(const TableLine& line) {
    const std::size_t begin = std::min(line.text.find_first_not_of(' '), line.text.size());
    const std::string_view words = line.text.substr(begin);
    if (words == end_of_region && region_) {
      end_table();
      region_.reset();
    } else if (words == begin_of_region && !region_) {
      region_ = line.number;
      column_ = begin;
    } else if (region_) {
      check_signs(line);
      read_in_region(line, begin);
    }
  }

  void check_signs(const TableLine& line) {
    if (const std::size_t width = letters_in(line.text); width > widest_line)
      complain(line.number, fmt::format("{} columns, and {} are the most", width, widest_line));
    if (line.text.find('\t') != line.text.npos) complain(line.number, "a tab");
    if (line.text.ends_with(' ')) complain(line.number, "a blank at the end");
  }

  void read_in_region(const TableLine& line, std::size_t begin) {
    if (begin == line.text.size() || begin <= column_) return end_table();
    const std::size_t column = column_ + indentation_of_rows;
    const std::size_t end = line.code.find_last_not_of(' ') + 1;  // 0: a comment alone
    if (begins_row_ && begin != column)
      complain(line.number, fmt::format("a row begins in column {}, and not in {}", begin + 1, column + 1));
    if (!begins_row_ && begin <= column)
      complain(line.number, fmt::format("a row goes on in column {}, and not behind {}", begin + 1, column + 1));
    if (end == 0) return;
    if (begins_row_) rows_.push_back({line.number});
    read_code(line, begin, end);
    begins_row_ = depth_ == 0 && line.code[end - 1] == ',';
  }

  void read_code(const TableLine& line, std::size_t begin, std::size_t end) {
    const std::string_view code = line.code;
    bool is_quoted = false, is_field = false, has_sign = false;
    for (std::size_t at = begin; at < end; ++at) {
      const char c = code[at];
      if (is_quoted || c == ' ') {
        is_quoted = is_quoted && c != '"';
        continue;
      }
      const std::size_t blanks = at - 1 - std::min(code.find_last_not_of(' ', at - 1), at - 1);
      const bool is_sign = c == '=' && depth_ == 0 && !has_sign;
      if (begins_row_ && (is_field || is_sign)) {
        rows_.back().stops.push_back({letters_in(line.text.substr(0, at)), blanks, is_sign});
      } else if (at > begin && blanks > 1) {
        complain(line.number, fmt::format("{} blanks that align nothing", blanks));
      }
      has_sign = has_sign || is_sign;
      is_field = c == ',' && depth_ == 1;
      is_quoted = c == '"';
      if (std::string_view("({[").find(c) != std::string_view::npos) ++depth_;
      if (std::string_view(")}]").find(c) != std::string_view::npos) --depth_;
      if (c == ',' && depth_ == 0 && at + 1 < end) complain(line.number, "two rows in a line");
    }
  }

  // What is aligned in one row is aligned in all, and no further to the right than one of them needs.
  void end_table() {
    std::size_t most = 0;
    for (const TableRow& row : rows_) most = std::max(most, row.stops.size());
    for (std::size_t k = 0; k < most; ++k) check_column(k);
    count_ += rows_.size();
    rows_.clear();
    depth_ = 0;
    begins_row_ = true;
  }

  void check_column(std::size_t k) {
    std::vector<const TableRow*> with;
    for (const TableRow& row : rows_) {
      if (k < row.stops.size()) with.push_back(&row);
    }
    const auto is_moved = [k](const TableRow* row) { return row->stops[k].blanks > 1; };
    auto aligned = std::ranges::find_if(with, is_moved);
    if (aligned == with.end()) {
      if (!with.front()->stops[k].is_sign) return;
      aligned = std::ranges::max_element(with, {}, [k](const TableRow* row) { return row->stops[k].column; });
    }
    const std::size_t column = (*aligned)->stops[k].column;
    for (const TableRow* const row : with) {
      if (row->stops[k].column == column) continue;
      complain(row->line, fmt::format("its column {} begins at {}, and that of line {} at {}", k + 2,
                                      row->stops[k].column + 1, (*aligned)->line, column + 1));
    }
    if (std::ranges::all_of(with, is_moved))
      complain((*aligned)->line, fmt::format("column {} could begin further left in all rows", k + 2));
  }

  const std::string& path_;
  Code code_;
  std::vector<std::string> complaints_ = {};
  std::optional<std::size_t> region_ = {};  // the line that it begins in
  std::size_t column_ = 0;                  // of its mark
  std::vector<TableRow> rows_ = {};
  std::size_t count_ = 0;  // of rows in all tables
  std::size_t depth_ = 0;  // of brackets
  bool begins_row_ = true;
};

// Three rows of commands and two of options. A sample changes a piece of it.
constexpr std::string_view well_aligned = R"(std::vector<Row> rows() {
  // clang-format off
  return {
      // the first
      {.name = "softmax",  .from = &steps,
       .examples = {"a,  b", "c"}, .run = run},  // behind  it
      {.name = "μ",        .from = &whole},
      {.name = "add-rows", .from = &steps, .run = run},
      {.name = "version"},
  };
  // clang-format on
}
// clang-format off
constexpr Option
    page   = flag("--page", "a page"),
    switch = flag("--switch",
                  "another").or_else("1");

constexpr Option
    width = 1'000;
// clang-format on
int  free;
)";

std::vector<std::string> complaints_of(std::string_view text) {
  const SourceFile file{"src/a.cpp", std::string(text)};
  return TableReader(file).complaints();
}

}  // namespace

TEST_CASE("tables that are formatted by hand keep their columns") {
  std::size_t rows = 0;
  for (const SourceFile& file : source_files("src")) {
    const TableReader reader(file);
    for (const std::string& complaint : reader.complaints()) FAIL_CHECK(complaint);
    rows += reader.rows();
  }
  CHECK(rows > 150);
}

TEST_CASE("a row of a table by hand that is out of its column is seen, and said in a sentence") {
  CHECK(complaints_of(well_aligned).empty());
  struct Sample {
    std::string_view before, after, says;
  };
  const Sample samples[] = {
      {"      {.name = \"softmax\"", "     {.name = \"softmax\"", "5: a row begins in column 6, and not in 7"},
      {"      // the first", "        // the first", "4: a row begins in column 9, and not in 7"},
      {"       .examples", "      .examples", "6: a row goes on in column 7, and not behind 7"},
      {"\"softmax\",  .from", "\"softmax\", .from", "5: its column 2 begins at 27, and that of line 7 at 28"},
      {"\"μ\",        .from", "\"μ\",       .from", "7: its column 2 begins at 27, and that of line 5 at 28"},
      {"\"add-rows\"", "\"add-more-rows\"", "8: its column 2 begins at 33, and that of line 5 at 28"},
      {"{.name = \"add-rows\", .from = &steps, .run = run},\n", "{.name = \"add\",      .from = &steps},\n",
       "5: column 2 could begin further left in all rows"},
      {"{.name = \"version\"},", "{.name =  \"version\"},", "9: 2 blanks that align nothing"},
      {"\"c\"}, .run", "\"c\"},  .run", "6: 2 blanks that align nothing"},
      {"&whole},\n     ", "&whole},", "7: two rows in a line"},
      {"    page   =", "    page =", "15: its column 2 begins at 10, and that of line 16 at 12"},
      {"= 1'000;", "= 1'000; ", "20: a blank at the end"},
      {"                  \"another\"", "\t                  \"another\"", "17: a tab"},
      {"{.name = \"version\"},",
       "{.name = \"αβγδεζηθικλμνξοπρστυφχψω are letters, and a line has as many columns as letters: here is one too many.\"},",
       "9: 121 columns, and 120 are the most"},
      {"// clang-format on\nint", "int", "13: the region has no end"},
  };
  for (const Sample& sample : samples) {
    CAPTURE(sample.says);
    std::string text(well_aligned);
    const std::size_t at = text.find(sample.before);
    REQUIRE(at != text.npos);
    text.replace(at, sample.before.size(), sample.after);
    const std::vector<std::string> complaints = complaints_of(text);
    CAPTURE(fmt::format("{}", fmt::join(complaints, "\n")));
    CHECK(std::ranges::any_of(
        complaints, [&](const std::string& one) { return one.starts_with(fmt::format("src/a.cpp:{}", sample.says)); }));
  }
}
