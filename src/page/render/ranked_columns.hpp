#pragma once

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"
#include "page/render/table_layout.hpp"

namespace attn {

/// Of a table whose rows rank more columns than this, readers are shown the first of each row.
constexpr std::size_t most_ranked_columns = 256, columns_ranked_first = 10;

/// Whether it is one of those.
bool is_wide(const Table& table);

/// The columns with the largest numbers of each of its rows, with their places, a line for each; then how many others
/// there are and, of weights, what they add up to. A long table has its first and its last rows.
std::vector<Block> blocks_of_ranks(const Table& table, int precision);

/// For a terminal that has no room for all columns: these rows of the table, each with the columns that have its
/// largest numbers, as many as a line holds. Weights are told in percent, and what rounds to 0 is not listed.
void write_ranked_rows(const Table& table, const ShownPlaces& rows, const Style& style, Sink& sink);

}  // namespace attn
