#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// What stands between the cells of a row. `blanks` is one or more spaces or tabs.
enum class Separator : char { comma = ',', semicolon = ';', tab = '\t', blanks = ' ' };

/// Part of a CSV file: one matrix under a line `# NAME`, or the whole file without a name.
struct CsvBlock {
  std::string name;
  std::string_view text;
  std::size_t first_line;
};

/// The matrices of a CSV file. Several only where lines `# NAME` stand directly above rows and not directly
/// below them, and no row stands above the first; in any other file such lines are comments.
std::vector<CsvBlock> csv_blocks(std::string_view text);

/// A comma if there is one outside comments, else a semicolon if there is one, else blanks.
Separator csv_separator(std::string_view text);

}  // namespace attn
