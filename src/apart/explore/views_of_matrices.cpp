// What the explorer draws: matrices, the arithmetic of the chosen cell, and maps of heads.

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
#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/render/format.hpp"
#include "page/render/width.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

// The lines of an arithmetic in so many rows. Each of its equations keeps its beginning; what is left out of one is
// told by … at the end of its last line.
std::vector<std::string> equations_within(const std::vector<std::string>& lines, std::size_t rows) {
  std::vector<std::vector<std::string>> equations;
  for (const std::string& line : lines) {
    const std::string_view text = trimmed(line);
    if (equations.empty() || text.starts_with("=") || text.starts_with("≈")) equations.emplace_back();
    equations.back().push_back(line);
  }
  std::size_t total = lines.size();
  while (total > std::max(rows, equations.size())) {
    auto& longest = *std::ranges::max_element(equations, {}, [](const auto& one) { return one.size(); });
    longest.pop_back();
    if (!longest.back().ends_with(" …")) longest.back() += " …";
    --total;
  }
  std::vector<std::string> all;
  for (const auto& equation : equations) all.insert(all.end(), equation.begin(), equation.end());
  return all;
}

// How much room each of some maps has beside and below the others, and how many cells it shows. Where a matrix has
// more, several of its cells share one.
Tiles tiles_within(std::size_t count, Shape shape, TerminalSize area) {
  constexpr std::size_t label = 11;
  Tiles best{.beside = 1, .label = 0, .rows = 1, .columns = 1};
  double largest = 0.0;
  for (std::size_t beside = 1; beside <= count; ++beside) {
    const std::size_t below = (count + beside - 1) / beside;
    const std::size_t width = (area.columns - 1) / beside, height = area.rows / below;
    if (width < Tiles::gap + Tiles::cell || height < 2) continue;
    const std::size_t columns = std::min(shape.columns, (width - Tiles::gap) / Tiles::cell),
                      rows = std::min(shape.rows, height - 1);
    const double size = static_cast<double>(columns) / static_cast<double>(shape.columns) * static_cast<double>(rows) /
                        static_cast<double>(shape.rows);
    if (size <= largest) continue;
    largest = size;
    const bool has_labels = rows == shape.rows && columns * Tiles::cell + label + Tiles::gap <= width;
    best = {.beside = beside, .label = has_labels ? label : 0, .rows = rows, .columns = columns};
  }
  return best;
}

// The same, with a last row for a sentence where several cells share one.
Tiles tiles_for(std::size_t count, Shape shape, Area area) {
  const Tiles all = tiles_within(count, shape, {area.columns, area.rows});
  const bool is_whole = all.rows == shape.rows && all.columns == shape.columns;
  return is_whole ? all : tiles_within(count, shape, {area.columns, area.rows - 1});
}

}  // namespace

// The matrices that the chosen one is made of, itself, and those that are made of it.
std::vector<const Node*> Explorer::shown_nodes() const {
  std::vector<const Node*> all = place_.node->original().named_operands();
  if (place_.node->is_alias()) all = {&place_.node->original()};
  std::erase(all, place_.node);
  all.push_back(place_.node);
  for (const Node* node : dependents_of_node(*place_.node)) all.push_back(node);
  std::vector<const Node*> once;
  for (const Node* node : all) {
    if (std::ranges::find(once, node) == once.end()) once.push_back(node);
  }
  return once;
}

void Explorer::draw_matrices(Grid& grid, Area area) {
  boxes_.clear();
  const std::vector<const Node*> nodes = shown_nodes();
  const Cell here{place_.node, place_.row, place_.column};
  // Of each matrix a cell that is to be seen.
  std::map<const Node*, Place> seen;
  std::vector<CellsOfOperand> parts;
  each_named_part(*place_.node, place_.row, place_.column, [&](const CellsOfOperand& cells) {
    parts.push_back(cells);
    seen.try_emplace(cells.node, Place{cells.node, cells.row, cells.column});
  });
  seen[place_.node] = place_;
  for (const Node* node : nodes) {
    const Shape shape = node->frame.shape;
    if (node->index > place_.node->index)
      seen.try_emplace(node,
                       Place{node, within_size(place_.row, shape.rows), within_size(place_.column, shape.columns)});
    seen.try_emplace(node, Place{node, 0, 0});
  }
  // Boxes stand beside each other as long as there is room, and the rows of boxes share the height.
  struct Line {
    std::vector<std::size_t> boxes;
    std::size_t width = 0, height = 0;
  };
  constexpr std::size_t gap = 2;
  std::vector<Line> lines;
  for (const Node* node : nodes) {
    const bool is_here = node == place_.node;
    boxes_.emplace_back(MatrixBox::ShownMatrix{.node = &changed_.now(*node),
                                               .before = changed_.has_changed(*node) ? node : nullptr,
                                               .title = node->name_within(place_.node->scope()),
                                               .is_transposed = is_here && is_transposed_,
                                               .is_chosen = is_here},
                        measure(changed_.now(*node)), area.columns - 1);
    const TerminalSize natural = boxes_.back().natural();
    const std::size_t width = std::min(natural.columns, area.columns);
    if (lines.empty() || lines.back().width + gap + width > area.columns) lines.emplace_back();
    Line& line = lines.back();
    line.width += (line.boxes.empty() ? 0 : gap) + width;
    line.height = std::max(line.height, natural.rows);
    line.boxes.push_back(boxes_.size() - 1);
  }
  const auto holds_chosen = [&](const Line& line) {
    return std::ranges::any_of(line.boxes, [&](std::size_t i) { return boxes_[i].shown().is_chosen; });
  };
  // The line of the chosen matrix gets what the others leave, which need at least a row each.
  constexpr std::size_t least = 3;
  std::size_t total = 0;
  for (const Line& line : lines) total += line.height;
  // An empty row between them, where there is room for it.
  const std::size_t blank = total + lines.size() - 1 <= area.rows ? 1 : 0;
  const std::size_t at_chosen = static_cast<std::size_t>(std::ranges::find_if(lines, holds_chosen) - lines.begin());
  while (total > area.rows) {
    // The highest of the others shrinks first, and then the chosen one; lines that find no room are left out.
    Line* highest = nullptr;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i != at_chosen && lines[i].height > least && (!highest || lines[i].height > highest->height))
        highest = &lines[i];
    }
    if (lines[at_chosen].height > 4 && (!highest || lines[at_chosen].height > highest->height))
      highest = &lines[at_chosen];
    if (!highest) break;
    --highest->height;
    --total;
  }
  std::size_t first = 0, last = lines.size();
  const auto needed = [&] {
    std::size_t rows = 0;
    for (std::size_t i = first; i < last; ++i) rows += lines[i].height;
    return rows;
  };
  while (needed() > area.rows && last - first > 1) {
    if (last - 1 > at_chosen) {
      --last;
    } else {
      ++first;
    }
  }
  std::size_t row = area.row;
  std::vector<MatrixBox> drawn;
  for (std::size_t l = first; l < last; ++l) {
    std::size_t column = area.column + 1;
    for (const std::size_t i : lines[l].boxes) {
      MatrixBox& box = boxes_[i];
      const Node* const node = nodes[i];
      const Place& place = seen.at(node);
      const std::size_t rows = std::min(lines[l].height, area.row + area.rows - row);
      box.place({row, column, rows, std::min(box.natural().columns, area.columns - column)}, place.row, place.column,
                corners_[node]);
      box.draw(grid, [&](std::size_t r, std::size_t c) {
        if (node == place_.node) return Place{node, r, c} == place_ ? Tie::chosen : Tie::none;
        for (const CellsOfOperand& part : parts) {
          if (part.node == node && r - part.row < part.rows && c - part.column < part.columns) return Tie::part;
        }
        return node->index > place_.node->index && is_made_of({node, r, c}, here) ? Tie::result : Tie::none;
      });
      column += box.natural().columns + gap;
      drawn.push_back(std::move(box));
    }
    row += lines[l].height + blank;
  }
  boxes_ = std::move(drawn);
}

// Where the cell stands, in words, and the number that it had.
void Explorer::draw_panel(Grid& grid, Area area) {
  const Cell cell = chosen();
  const std::string_view scope = place_.node->scope();
  std::string where = cell_name(as_it_was());
  where.erase(0, place_.node->name.size());
  where = fmt::format(" {}{} {}", place_.node->name_within(scope), where, with_equality_sign(cell.value()));
  const std::size_t column = grid.put(area.row, 0, where, strong_look);
  const bool has_moved = changed_.has_changed(*place_.node) && as_it_was().value() != cell.value();
  if (has_moved) grid.put(area.row, column + 2, fmt::format("was {}", compact_number(as_it_was().value())));
  if (area.rows == 1) return;
  const Area rest{area.row + 1, area.column, area.rows - 1, area.columns};
  // What was set did not come about: its numbers are told as they were.
  const bool is_set = changed_.is_set(*place_.node) && place_.node->op;
  if (is_set) grid.put(rest.row, 1, "A number of this matrix is set. Before, the cell came about so:", quiet_look);
  const std::size_t behind = is_set ? 1 : 0;
  const Area below{rest.row + behind, rest.column, rest.rows - behind, rest.columns};
  const Cell told = is_set ? as_it_was() : cell;
  if (is_shown_as_shares(told) && below.rows >= 4) return draw_shares(grid, below, told);
  put_lines(grid, below,
            equations_within(lines_of({derivation(told, 0, scope)}, area.columns - 2, style_), below.rows));
}

// A softmax as a table: of each key its score, the exponential, and its share of their sum.
void Explorer::draw_shares(Grid& grid, Area area, const Cell& cell) {
  const Node& weights = cell.node->original();
  const Node& scores = *weights.operands.front();
  const std::vector<double> x = scores.row(cell.row), shares = weights.row(cell.row);
  const double largest = *std::ranges::max_element(x);
  std::vector<double> exponentials;
  double sum = 0.0;
  for (const double score : x) {
    exponentials.push_back(std::isinf(largest) && largest < 0 ? 0.0 : std::exp(score - largest));
    sum += exponentials.back();
  }
  const auto number = [](double value) { return compact_number(value); };
  const std::string largest_told = number(largest);
  const std::string score_named = scores.name.empty() ? "score" : scores.name_within(place_.node->scope());
  struct Line {
    std::string label;
    std::vector<std::string> cells;
  };
  std::vector<Line> lines = {
      {"key", {}},
      {score_named, {}},
      {fmt::format("exp({} − {})", score_named, largest < 0 ? "(" + largest_told + ")" : largest_told), {}},
      {"share of the sum", {}}};
  std::size_t label = 0, width = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const std::array cells = {shortened(place_.node->frame.columns.label(j), 10, "…"), number(x[j]),
                              number(exponentials[j]), number(shares[j])};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      width = std::max(width, display_width(cells[i]) + 2);
      lines[i].cells.push_back(cells[i]);
    }
  }
  for (Line& line : lines) {
    line.label = shortened(line.label, area.columns / 3, "…");
    label = std::max(label, display_width(line.label));
  }
  const std::size_t room = area.columns - label - 3, count = std::max<std::size_t>(1, std::min(x.size(), room / width));
  const std::size_t first = first_share_ = attn::first_shown(first_share_, cell.column, count, x.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t row = area.row + i;
    grid.put(row, 1, lines[i].label, quiet_look);
    for (std::size_t j = first; j < first + count; ++j) {
      const std::string& text = lines[i].cells[j];
      const std::size_t at = label + 2 + (j - first) * width + width - std::min(width, display_width(text));
      grid.put(row, at, text, {.bold = j == cell.column, .reversed = j == cell.column && i + 1 == lines.size()});
    }
    if (first > 0) grid.put(row, label + 2, "‹", quiet_look);
    if (first + count < x.size()) grid.put(row, area.columns - 1, "›", quiet_look);
  }
  if (area.rows <= lines.size()) return;
  if (sum == 0.0) {
    grid.put(area.row + lines.size(), 1, "Every score of the row is −∞, so its weights are 0.");
    return;
  }
  grid.put(area.row + lines.size(), 1,
           fmt::format("{} / {} {}; {} {} the sum of all exponentials", number(exponentials[cell.column]), number(sum),
                       with_equality_sign(shares[cell.column]), number(sum), is_exact(sum) ? "is" : "is about"));
  if (area.rows > lines.size() + 1)
    grid.put(area.row + lines.size() + 1, 1,
             fmt::format("{}, the largest score of the row, is subtracted: exp cannot overflow", largest_told),
             quiet_look);
}

// The weights of all heads beside the chosen matrix, each cell as a shade: darker without colors, as the shading of
// tables with them.
void Explorer::draw_map(Grid& grid, Area area) {
  const NamedScope* const own = place_.node->within(scope::head);
  const NamedScope* const here = own ? own->outer : place_.node->place;
  std::vector<const Node*> heads;
  for (const Node* node : steps_) {
    if (!node->is(role::weights)) continue;
    const NamedScope* const head = node->within(scope::head);
    if ((head ? head->outer : node->place) == here || node == place_.node) heads.push_back(node);
  }
  if (heads.empty()) {
    grid.put(area.row, 1, "No attention weights stand beside this matrix: n goes to the next one.");
    return;
  }
  const Frame& frame = heads.front()->frame;
  const Tiles tiles = tiles_for(heads.size(), frame.shape, area);
  const std::string_view scope = here ? std::string_view(here->prefix) : std::string_view();
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::size_t row = area.row + i / tiles.beside * (tiles.rows + 1),
                      column = 1 + i % tiles.beside * (tiles.label + tiles.columns * Tiles::cell + Tiles::gap);
    if (row + tiles.rows >= area.row + area.rows) break;
    draw_tile(grid, *heads[i], tiles, row, column, heads[i]->name_within(scope));
  }
  const std::size_t by_rows = (frame.shape.rows + tiles.rows - 1) / tiles.rows,
                    by_columns = (frame.shape.columns + tiles.columns - 1) / tiles.columns;
  if (by_rows > 1 || by_columns > 1)
    grid.put(area.row + area.rows - 1, 1,
             fmt::format("Each cell is the largest weight of {:# query|# queries} by {:# key|# keys}.", Count{by_rows},
                         Count{by_columns}),
             quiet_look);
}

void Explorer::draw_tile(Grid& grid, const Node& node, const Tiles& tiles, std::size_t row, std::size_t column,
                         const std::string& title) {
  constexpr std::array unicode_shades = {"  ", "░░", "▒▒", "▓▓", "██"}, ascii_shades = {"  ", "..", "++", "##", "@@"};
  const auto& shades = style_.unicode ? unicode_shades : ascii_shades;
  const Frame& frame = node.frame;
  const Node& now = changed_.now(node);
  const bool is_chosen = &node == place_.node;
  const std::size_t end = column + tiles.label + tiles.columns * Tiles::cell;
  grid.put(row, column, shortened(title, end - column, "…"), {.bold = is_chosen});
  const std::size_t by_rows = (frame.shape.rows + tiles.rows - 1) / tiles.rows,
                    by_columns = (frame.shape.columns + tiles.columns - 1) / tiles.columns;
  const Shading& shading = *measure(now).shading;
  for (std::size_t i = 0; i * by_rows < frame.shape.rows; ++i) {
    const std::size_t line = row + 1 + i;
    std::vector<double> largest(tiles.columns, 0.0);
    for (std::size_t k = i * by_rows; k < std::min((i + 1) * by_rows, frame.shape.rows); ++k) {
      const std::vector<double> weights = now.row(k);
      for (std::size_t j = 0; j < weights.size(); ++j)
        largest[j / by_columns] = std::max(largest[j / by_columns], weights[j]);
    }
    const bool is_row = is_chosen && place_.row / by_rows == i;
    if (tiles.label > 0) grid.put(line, column, shortened(frame.rows.label(i), tiles.label - 1, "…"), {.bold = is_row});
    for (std::size_t j = 0; j * by_columns < frame.shape.columns; ++j) {
      const std::size_t at = column + tiles.label + j * Tiles::cell;
      const bool has_colors = style_.colors != Colors::none;
      const auto shade = static_cast<std::size_t>(std::lround(std::clamp(largest[j], 0.0, 1.0) * 4));
      const Look look{.color = shading.of(largest[j]), .bold = is_row};
      const bool is_cell = is_row && place_.column / by_columns == j;
      grid.put(line, at, is_cell ? "[]" : has_colors ? "  " : shades[shade], look, end);
    }
  }
}

}  // namespace attn
