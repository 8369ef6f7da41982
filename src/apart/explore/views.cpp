// What the explorer draws: the screen with its first and its last lines, and help.

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
#include "core/support/utf8.hpp"
#include "core/term/quantity.hpp"
#include "page/render/format.hpp"
#include "page/render/width.hpp"
#include "page/tell/describe.hpp"

namespace attn {
namespace {

struct KeyHelp {
  std::string_view keys, says;
};

constexpr std::array key_helps = {
    KeyHelp{"← ↑ ↓ →", "the next cell; PgUp PgDn by ten, Home End to the edges"},
    KeyHelp{"Enter", "deeper: into the first matrix that the cell is made of"},
    KeyHelp{"Backspace", "back to where you were"},
    KeyHelp{"Tab", "the next matrix on the screen"},
    KeyHelp{"n N", "the next matrix of the computation, the one before"},
    KeyHelp{"[ ] { }", "the same matrix of another head, of another layer"},
    KeyHelp{"/ \\", "the row of a word, the column of a word"},
    KeyHelp{"g", "a cell or a matrix by its name: weights[it,animal]"},
    KeyHelp{"=", "set the cell to a number: all that is made of it follows"},
    KeyHelp{"s", "a slider: ← and → move the number of the cell"},
    KeyHelp{"u U", "undo the last change, undo all"},
    KeyHelp{">", "the next matrix that a change has moved"},
    KeyHelp{"d", "differences: before and now, or here and in the second computation"},
    KeyHelp{"e", "effects: how far the cell moves without each of the heads"},
    KeyHelp{"b B", "stop where a law breaks: causal(weights); forget all laws"},
    KeyHelp{"t", "rows and columns exchanged"},
    KeyHelp{"m", "the weights of all heads as maps"},
    KeyHelp{"c", "the command line that shows the same; it is printed at the end"},
    KeyHelp{"?", "these keys"},
    KeyHelp{"q", "leave"},
};
// How cells are told apart where there are no colors.
constexpr std::array sign_helps = {
    KeyHelp{"▐1.5▌", "the chosen cell"},
    KeyHelp{"[1.5]", "the chosen cell is made of it"},
    KeyHelp{"(1.5)", "it is made of the chosen cell"},
    KeyHelp{"1.5▲ 1.5▼", "larger than before the change, smaller"},
    KeyHelp{"·", "masked: the score is −∞"},
};

// What stands in the last line, the most important first: as many as there is room for.
constexpr std::array footer = {KeyHelp{"?", "help"},         KeyHelp{"q", "leave"},     KeyHelp{"=", "change"},
                               KeyHelp{"Enter", "deeper"},   KeyHelp{"Bksp", "back"},   KeyHelp{"Tab", "matrix"},
                               KeyHelp{"n", "next"},         KeyHelp{"]", "next head"}, KeyHelp{"/ \\", "row, column"},
                               KeyHelp{"g", "go to"},        KeyHelp{"m", "map"},       KeyHelp{"e", "effect of heads"},
                               KeyHelp{"d", "differences"},  KeyHelp{"b", "break"},     KeyHelp{"}", "next layer"},
                               KeyHelp{"c", "command line"}, KeyHelp{"t", "transpose"}};
constexpr std::array footer_of_slider = {
    KeyHelp{"← →", "move the number"}, KeyHelp{"s", "end"},         KeyHelp{"u", "undo"},
    KeyHelp{">", "next that moved"},   KeyHelp{"d", "differences"}, KeyHelp{"q", "leave"}};
constexpr std::array footer_of_changes = {
    KeyHelp{"?", "help"},        KeyHelp{"u", "undo"},    KeyHelp{"U", "undo all"}, KeyHelp{">", "next that moved"},
    KeyHelp{"d", "differences"}, KeyHelp{"=", "change"},  KeyHelp{"c", "command"},  KeyHelp{"q", "leave"},
    KeyHelp{"Enter", "deeper"},  KeyHelp{"Bksp", "back"}, KeyHelp{"Tab", "matrix"}};

void put_rule(Grid& grid, std::size_t row) {
  std::string rule;
  for (std::size_t i = 0; i < grid.size().columns; ++i) rule += "─";
  grid.put(row, 0, rule, quiet_look);
}

}  // namespace

std::string Explorer::title() const {
  const auto at = static_cast<std::size_t>(std::ranges::find(steps_, place_.node) - steps_.begin());
  return fmt::format(" {} ({} of {}) · {}{}", place_.node->name, at + 1, steps_.size(),
                     what_.random.empty() ? "" : "random numbers · ", what_.command);
}

std::string Explorer::told_changes() const {
  const std::vector<CellSetting>& settings = changed_.settings();
  if (settings.empty()) return "";
  const CellSetting& last = settings.back();
  const Cell cell{last.node, last.row, last.column};
  std::set<Cell> cells;
  for (const CellSetting& one : settings) cells.insert({one.node, one.row, one.column});
  std::string told =
      fmt::format("{} {} → {}", cell_name(cell), compact_number(cell.value()), compact_number(last.value));
  if (cells.size() > 1) told += fmt::format(" and {} more", cells.size() - 1);
  return told;
}

Grid Explorer::draw(TerminalSize size) {
  Grid grid(size, style_.unicode);
  const auto [columns, rows] = size;
  if (rows < 3 || columns < 20) {
    grid.put(0, 0, "The window is too small.");
    return grid;
  }
  const bool has_rules = rows >= 16;
  const std::size_t foot = rows >= 24 ? 2 : 1, frame = foot + (has_rules ? 3 : 1), room = rows - frame;
  const std::size_t panel = panel_rows(size, room);
  Area body{has_rules ? 2U : 1U, 0, room - panel, columns};
  const Area below{body.row + body.rows + (has_rules ? 1 : 0), 0, panel, columns};
  const std::string changes = told_changes();
  grid.put(0, 0, shortened(title(), columns, "…"), strong_look);
  if (!changes.empty()) {
    const std::string told = shortened(fmt::format(" CHANGED {} ", changes), columns * 2 / 3, "…");
    grid.put(0, columns - std::min(columns, display_width(told)), told, {.bold = true, .reversed = true});
  }
  if (has_rules) put_rule(grid, 1);
  if (has_rules && showing_ != Showing::help) put_rule(grid, below.row - 1);
  switch (showing_) {
    case Showing::matrices:
      draw_matrices(grid, body);
      draw_panel(grid, below);
      break;
    case Showing::map:
      draw_map(grid, body);
      draw_panel(grid, below);
      break;
    case Showing::differences:
      draw_differences(grid, body);
      draw_moved(grid, below);
      break;
    case Showing::heads:
      draw_heads(grid, body);
      draw_panel(grid, below);
      break;
    case Showing::help:
      body.rows = room + (has_rules ? 1 : 0);
      draw_help(grid, body);
      break;
  }
  draw_footer(grid, {rows - foot, 0, foot, columns});
  return grid;
}

// What the arithmetic needs, within two fifths of the screen.
std::size_t Explorer::panel_rows(TerminalSize size, std::size_t room) const {
  const std::size_t most = std::clamp<std::size_t>(room * 2 / 5, 1, 14);
  if (showing_ == Showing::differences) return std::max<std::size_t>(1, room / 2);
  const Cell cell = chosen();
  constexpr std::size_t of_shares = 7;
  if (is_shown_as_shares(cell)) return std::min(most, of_shares);
  return std::min(most, 1 + lines_of({derivation(cell, 0, place_.node->scope())}, size.columns - 2, style_).size());
}

void Explorer::draw_footer(Grid& grid, Area area) const {
  const std::size_t columns = area.columns, row = area.row;
  if (question_) {
    // Of a long line, its end.
    std::string typed = question_->typed;
    constexpr std::string_view cursor = "▏", hint = "  Enter takes it, Esc leaves it";
    const std::size_t used = display_width(question_->asks) + 3;
    while (!typed.empty() && used + display_width(typed) > columns) {
      do typed.erase(0, 1);
      while (!typed.empty() && continues_character(typed.front()));
    }
    const std::size_t behind = grid.put(row, 0, fmt::format(" {}{}{}", question_->asks, typed, cursor), strong_look);
    if (behind + hint.size() <= columns) grid.put(row, behind, hint, quiet_look);
    return;
  }
  if (!message_.empty()) {
    // A long one takes rows of the arithmetic above.
    std::vector<std::string> lines;
    std::string_view rest = message_;
    while (!rest.empty()) {
      lines.push_back(shortened(rest, columns - 2, ""));
      rest.remove_prefix(lines.back().size());
    }
    const std::size_t behind = area.row + area.rows;
    const std::size_t count = std::min(lines.size(), behind / 2), first = std::min(row, behind - count);
    for (std::size_t i = first; i < behind; ++i) grid.put(i, 0, std::string(columns, ' '));
    for (std::size_t i = 0; i < count; ++i) grid.put(first + i, 1, lines[i], strong_look);
    return;
  }
  const std::span<const KeyHelp> keys = is_sliding_                    ? std::span<const KeyHelp>(footer_of_slider)
                                        : !changed_.settings().empty() ? std::span<const KeyHelp>(footer_of_changes)
                                                                       : std::span<const KeyHelp>(footer);
  std::size_t line = row, column = 1;
  for (const KeyHelp& one : keys) {
    const std::size_t width = display_width(one.keys) + 1 + display_width(one.says);
    if (column + width > columns && line + 1 < area.row + area.rows) {
      ++line;
      column = 1;
    }
    if (column + width > columns) continue;
    column = grid.put(line, column, one.keys, strong_look);
    column = grid.put(line, column + 1, one.says, quiet_look) + 2;
  }
}

void Explorer::draw_help(Grid& grid, Area area) const {
  std::vector<KeyHelp> all(key_helps.begin(), key_helps.end());
  all.insert(all.end(), sign_helps.begin(), sign_helps.end());
  constexpr std::size_t indent = 12;
  struct Line {
    std::string_view keys;
    std::string says;
  };
  std::vector<Line> lines;
  for (const KeyHelp& one : all) {
    std::string_view keys = one.keys;
    for (const std::string& line : wrap(std::string(one.says), area.columns - std::min(area.columns - 8, indent))) {
      lines.push_back({keys, line});
      keys = "";
    }
  }
  const bool has_more = lines.size() > area.rows;
  const std::size_t room = area.rows - (has_more ? 1 : 0);
  const std::size_t first = std::min(help_from_, lines.size() - std::min(lines.size(), room));
  for (std::size_t i = 0; i < std::min(room, lines.size() - first); ++i) {
    grid.put(area.row + i, 1, lines[first + i].keys, strong_look);
    grid.put(area.row + i, indent, lines[first + i].says);
  }
  if (has_more) grid.put(area.row + room, 1, first + room < lines.size() ? "↓ more" : "↑ more", quiet_look);
}

std::span<const Explorer::View> Explorer::views() {
  static constexpr std::array all = {
      View{"matrices", "the chosen matrix, what it is made of, and what is made of it", ""},
      View{"map", "the weights of all heads as maps", "m"},
      View{"differences", "the chosen matrix before and after a change, and all that has moved", "d"},
      View{"heads", "how far the chosen cell moves without each of the heads", "e"},
      View{"help", "the keys", "?"},
  };
  return all;
}

}  // namespace attn
