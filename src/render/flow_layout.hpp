#pragma once

#include <vector>

#include "page/page.hpp"

namespace attn {

/// What stands in one row of a flow: a box, or a line that passes by on its way to a row further down.
struct FlowItem {
  const Flow::Box* box = nullptr;      // null: a line
  std::vector<std::size_t> from = {};  // places in the row above
  bool leads_on = false;               // to the row below
  std::size_t width = 1;               // in columns
  std::size_t center = 0;              // the column of its middle
};
using FlowRow = std::vector<FlowItem>;

/// The rows of a flow, from the top: every box as high as those that lead to it allow, and as far as possible
/// to the right or left as they are.
std::vector<FlowRow> rows_of(const Flow& flow);

/// Gives every item of measured width its place between the columns 0 and `limit`: in the middle of what it
/// is connected with, as far as others leave room.
void place(std::vector<FlowRow>& rows, std::size_t limit);

}  // namespace attn
