#pragma once

#include "page/block/page.hpp"

namespace attn {

/// Of a table whose rows rank more columns than this, readers are shown the first of each row.
constexpr std::size_t most_ranked_columns = 256, columns_ranked_first = 10;

/// Whether it is one of those.
bool is_wide(const Table& table);

/// The columns with the largest numbers of each of its rows, with their places, a line for each; then how many others
/// there are and, of weights, what they add up to. A long table has its first and its last rows.
std::vector<Block> ranked(const Table& table, int precision);

}  // namespace attn
