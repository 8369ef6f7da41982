#include "lesson/table_guard.hpp"

#include <algorithm>

#include "lesson/place.hpp"

namespace attn {
namespace {

constexpr std::size_t most_missing_cells = 100'000;  // in a whole text

// Nothing, or nothing but the signs of quotations.
bool is_empty(std::string_view line) {
  return line.find_first_not_of(" \t\v\f>") == std::string_view::npos;
}

// Whether this may be the line below the head of a table. Where it is none, too much is counted.
bool may_begin_rows(std::string_view line) {
  return line.find('-') != std::string_view::npos &&
         line.find_first_not_of(" \t\v\f>|:-") == std::string_view::npos;
}

// At most so many; there is one more than signs between them where the line neither begins nor ends with one.
std::size_t cells_in(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count(line, '|')) + 1;
}

}  // namespace

void refuse_monstrous_tables(std::string_view markdown, const std::string& path) {
  std::size_t columns = 0, missing = 0;
  for (std::size_t begin = 0, number = 1; begin < markdown.size(); ++number) {
    const std::size_t end = std::min(markdown.find_first_of("\r\n", begin), markdown.size());
    const std::string_view line = markdown.substr(begin, end - begin);
    begin = end + (markdown.substr(end).starts_with("\r\n") ? 2 : 1);
    if (is_empty(line)) {
      columns = 0;
    } else if (may_begin_rows(line)) {
      columns = std::max(columns, cells_in(line));
    }
    missing += columns - std::min(columns, cells_in(line));
    if (missing > most_missing_cells) {
      fail_at({path, number}, "rows of tables lack more than {} cells: give each row all of its cells",
              most_missing_cells);
    }
  }
}

}  // namespace attn
