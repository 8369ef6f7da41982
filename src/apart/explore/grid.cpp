#include "apart/explore/grid.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/utf8.hpp"
#include "page/render/width.hpp"

namespace attn {
namespace {

constexpr std::string_view plain_look = "\x1b[0m";

std::string sequence_of(const Look& look) {
  std::string sequence(plain_look);
  sequence += look.color;
  if (look.bold) sequence += "\x1b[1m";
  if (look.dim) sequence += "\x1b[2m";
  if (look.underlined) sequence += "\x1b[4m";
  if (look.reversed) sequence += "\x1b[7m";
  return sequence;
}

// The length of the first character of UTF-8 and of the marks that are combined with it.
std::size_t length_of_first(std::string_view text) {
  const auto next = [&](std::size_t i) {
    do ++i;
    while (i < text.size() && continues_character(text[i]));
    return i;
  };
  std::size_t end = next(0);
  while (end < text.size()) {
    const std::size_t behind = next(end);
    if (display_width(text.substr(end, behind - end)) > 0) break;
    end = behind;
  }
  return end;
}

// Writes cells of one row, and changes the look only where it differs from the one before. At its beginning and its
// end, what is written is plain.
class Pen {
 public:
  explicit Pen(std::string& out) : out_(out) {}

  void write(const Grid::GridCell& cell) {
    change_to(cell.look);
    out_ += cell.text;
  }
  void finish() { change_to({}); }

 private:
  void change_to(const Look& look) {
    if (look == look_) return;
    out_ += look == Look{} ? std::string(plain_look) : sequence_of(look);
    look_ = look;
  }

  std::string& out_;
  Look look_ = {};
};

// Writing a few cells that are the same is shorter than going past them.
constexpr std::size_t shortest_way = 8;

}  // namespace

Grid::Grid(TerminalSize size, bool unicode) : size_(size), unicode_(unicode), cells_(size.rows * size.columns) {}

std::size_t Grid::put(std::size_t row, std::size_t column, std::string_view text, const Look& look, std::size_t end) {
  end = std::min(end, size_.columns);
  const std::string shown = unicode_ ? printable(text) : in_ascii(printable(text));
  std::string_view rest = shown;
  while (!rest.empty() && row < size_.rows) {
    const std::size_t length = length_of_first(rest);
    const std::string_view character = rest.substr(0, length);
    const std::size_t width = display_width(character);
    if (column + width > end) break;
    rest.remove_prefix(length);
    if (width == 0) continue;
    GridCell* const cell = &cells_[row * size_.columns + column];
    // Of a wide character that is written over in part, blanks are left.
    if (cell->text.empty() && column > 0) cell[-1].text = " ";
    *cell = {std::string(character), look};
    for (std::size_t i = 1; i < width; ++i) cell[i] = {"", look};
    if (column + width < size_.columns && cell[width].text.empty()) cell[width].text = " ";
    column += width;
  }
  return column;
}

void Grid::put_line(std::size_t row, std::size_t column, std::string_view line, std::size_t end) {
  Look look;
  while (!line.empty()) {
    const std::size_t escape = std::min(line.find('\x1b'), line.size());
    column = put(row, column, line.substr(0, escape), look, end);
    line.remove_prefix(escape);
    const std::size_t behind = std::min(line.find('m'), line.size() - 1) + 1;
    if (line.empty()) break;
    const std::string_view sequence = line.substr(0, behind);
    line.remove_prefix(behind);
    if (sequence == plain_look || sequence == "\x1b[m") {
      look = {};
    } else {
      look.color += sequence;
    }
  }
}

std::string Grid::text() const {
  std::string all;
  for (std::size_t row = 0; row < size_.rows; ++row) {
    std::string line;
    for (std::size_t column = 0; column < size_.columns; ++column) line += at(row, column).text;
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + '\n';
  }
  return all;
}

std::string screen_redraw(const Grid& grid) {
  std::string out = "\x1b[0m\x1b[H\x1b[2J";
  out += screen_update(Grid(grid.size()), grid);
  return out;
}

std::string screen_update(const Grid& before, const Grid& now) {
  const std::size_t columns = now.size().columns, rows = now.size().rows;
  if (before.size().columns != columns || before.size().rows != rows) return screen_redraw(now);
  std::string out;
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t column = 0;
    const auto differs = [&](std::size_t i) { return before.at(row, i) != now.at(row, i); };
    const auto next_difference = [&](std::size_t from) {
      while (from < columns && !differs(from)) ++from;
      return from;
    };
    for (column = next_difference(0); column < columns; column = next_difference(column)) {
      // A wide character is written from its beginning.
      while (column > 0 && now.at(row, column).text.empty()) --column;
      std::size_t end = column + 1;
      for (std::size_t next = next_difference(end); next < columns && next - end <= shortest_way;
           next = next_difference(end))
        end = next + 1;
      while (end < columns && now.at(row, end).text.empty()) ++end;
      out += fmt::format("\x1b[{};{}H", row + 1, column + 1);
      Pen pen(out);
      for (; column < end; ++column) pen.write(now.at(row, column));
      pen.finish();
    }
  }
  return out;
}

}  // namespace attn
