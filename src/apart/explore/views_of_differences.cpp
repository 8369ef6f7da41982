// What the explorer draws: what differs from before or from another computation, and what each head does.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include "apart/change/alteration.hpp"
#include "apart/explore/ancestry.hpp"
#include "apart/explore/explorer.hpp"
#include "apart/explore/view_text.hpp"
#include "core/graph/find.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/number_pair.hpp"
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/render/format.hpp"
#include "page/render/width.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// The chosen matrix before and now, or here and in the second computation, and by how much they differ.
void Explorer::draw_differences(Grid& grid, Area area) {
  const Node& now = changed_.now(*place_.node);
  const Node* const other = what_.second ? what_.second->find(place_.node->name) : place_.node;
  if (!what_.second && changed_.settings().empty()) {
    grid.put(area.row, 1, "Nothing is changed: = sets the chosen cell to another number.");
    return;
  }
  if (!other || other->frame.shape != now.frame.shape) {
    grid.put(area.row, 1, fmt::format("The second computation has no {} of this shape.", place_.node->name));
    return;
  }
  // From the one on the left to the one on the right.
  const Node &left = what_.second ? now : *other, &right = what_.second ? *other : now;
  const auto graph = std::make_shared<Graph>();
  const Value difference =
      graph->input({*left.family, *left.role, std::string(left.plain_leaf())},
                   cell_changes(left.matrix(), right.matrix()), left.frame.rows, left.frame.columns);
  std::size_t row = area.row, column = 1, height = 0;
  boxes_.clear();
  for (const auto& [node, title, is_marked] :
       {std::tuple(&left, what_.second ? "here" : "before", false),
        std::tuple(&right, what_.second ? "second" : "now", true),
        std::tuple(&difference.node(), what_.second ? "second − here" : "now − before", false)}) {
    MatrixBox box({.node = node, .before = is_marked ? &left : nullptr, .title = title}, matrix_layout(*node, style_),
                  area.columns - 1);
    const TerminalSize natural = box.natural();
    if (column > 1 && column + natural.columns > area.columns) {
      row += height;
      column = 1;
      height = 0;
    }
    const std::size_t rows =
        std::min({natural.rows, area.row + area.rows - row, std::max<std::size_t>(3, area.rows / 3)});
    if (rows < 2) break;
    box.place({row, column, rows, std::min(natural.columns, area.columns - column)}, place_.row, place_.column,
              corners_[place_.node]);
    box.draw(grid, [&](std::size_t r, std::size_t c) {
      return r == place_.row && c == place_.column ? Tie::chosen : Tie::none;
    });
    column += natural.columns + 2;
    height = std::max(height, rows);
  }
}

// All matrices that differ: in how many of their cells, and the one that differs most.
void Explorer::draw_moved(Grid& grid, Area area) {
  Listing listing{.columns = {"matrix", what_.second ? "cells" : "cells moved", "most", what_.second ? "here" : "from",
                              what_.second ? "second" : "to"},
                  .headed = true};
  for (const ChangedMatrix& one : differing()) {
    auto [from, to] = written_apart(one.before(), one.after());
    listing.rows.push_back({one.node->name, fmt::format("{} of {}", one.moved.cells, one.node->frame.shape.cells()),
                            one.place(), std::move(from), std::move(to)});
  }
  if (listing.rows.empty()) {
    if (what_.second && compared_ == 0) {
      grid.put(area.row, 1, "No matrix of the two computations has the same name and the same shape.");
    } else if (what_.second) {
      grid.put(area.row, 1,
               fmt::format("Compared by name and shape, {:# matrix is|# matrices are} equal, to the last bit.",
                           Count{compared_}));
    } else if (!changed_.settings().empty()) {
      grid.put(area.row, 1, "No number differs from before.");
    }
    return;
  }
  put_lines(grid, area, lines_of({std::move(listing)}, area.columns, style_));
}

// What the chosen cell would be without each of the heads.
void Explorer::draw_heads(Grid& grid, Area area) {
  if (!changed_.settings().empty()) {
    grid.put(area.row, 1, "Undo all changes with U first: the heads are left out of the computation as it was.");
    return;
  }
  struct Effect {
    std::string head;
    double without;
  };
  std::vector<Effect> effects;
  const double value = as_it_was().value();
  for (const Node* head : head_outputs(*what_.graph)) {
    if (head->index >= place_.node->index) continue;
    Rewriting again(*what_.graph, without_head(*head));
    if (!again.changes(*place_.node)) continue;
    effects.push_back({name_of_head(*head), again.of(*place_.node).node().cell(place_.row, place_.column)});
  }
  if (effects.empty()) {
    grid.put(
        area.row, 1,
        fmt::format("No head goes into {}. Choose a matrix behind the heads, such as the output.", place_.node->name));
    return;
  }
  std::ranges::stable_sort(effects, std::ranges::greater(),
                           [&](const Effect& one) { return std::fabs(one.without - value); });
  Listing listing{.columns = {"without", "the cell is", "moved by"}, .headed = true};
  for (const Effect& one : effects)
    listing.rows.push_back({one.head, written_value(one.without), written_value(one.without - value)});
  put_lines(grid, area, lines_of({std::move(listing)}, area.columns, style_));
}

}  // namespace attn
