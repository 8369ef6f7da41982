#pragma once

#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What room there is for pictures: columns, and lines for all of them, or as many as they take.
struct PictureRoom {
  std::size_t width = 80;
  std::size_t height = 0;  // 0: as many as it takes
  bool has_legend = true;
};

/// Whether a picture of the table has a cell of its own for each of its weights, at this width.
bool has_whole_picture(const Table& table, std::size_t width, const Style& style);

/// Pictures of weights of equal shapes, beside each other as far as there is room, with one legend for all: a line for
/// each row, beside its word; where there are many rows and colors enough, one for two rows. Only where there is no
/// room, neighbors share a cell, which has their largest weight.
void write_weight_pictures(const std::vector<Table>& tables, const Style& style, PictureRoom room, Sink& sink);

/// Whether both axes have the same words.
bool are_same_words(const Axis& rows, const Axis& columns);

/// "columns: 1 The, 2 animal": what columns are that only have numbers, in lines of this width.
std::vector<std::string> numbered_columns(const Table& table, const Style& style, std::size_t width);

}  // namespace attn
