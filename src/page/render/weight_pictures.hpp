#pragma once

#include <vector>

#include "core/support/outside.hpp"
#include "page/block/page.hpp"
#include "page/render/style.hpp"

namespace attn {

/// What stands below pictures: the scale of shades, whether lines or cells are shared, and what the columns are; or
/// without the last; or nothing.
enum class PictureLegend { whole, scale, none };

/// What room there is for pictures: columns, and lines for all of them with their legend, or as many as they take.
struct PictureRoom {
  std::size_t width = 80;
  std::size_t height = 0;  // 0: as many as it takes
  PictureLegend legend = PictureLegend::whole;
};

/// Whether pictures of the tables have a cell of its own for each of their weights, and all fit this room.
bool have_whole_pictures(const std::vector<Table>& tables, const Style& style, PictureRoom room);

/// Pictures of weights of equal shapes, beside each other as far as there is room, with one legend for all: a line for
/// each row, beside its word; where there are many rows and colors enough, one for two rows. Only where there is no
/// room, neighbors share a cell, which has their largest weight; rows that do have their numbers in place of words.
void write_weight_pictures(const std::vector<Table>& tables, const Style& style, PictureRoom room, Sink& sink);

/// Whether both axes have the same words.
bool are_same_words(const Axis& rows, const Axis& columns);

/// "columns: 1 The, 2 animal": what columns are that only have numbers, in lines of this width.
std::vector<std::string> numbered_columns(const Table& table, const Style& style, std::size_t width);

}  // namespace attn
