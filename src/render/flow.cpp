#include <algorithm>
#include <array>

#include "render/drawing.hpp"
#include "render/flow_layout.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

// Where a piece of a line leads.
enum Direction : unsigned { up = 1, down = 2, left = 4, right = 8 };

// The signs that lines are made of, by the sum of their directions.
struct Lines {
  std::array<std::string_view, 16> signs;
  std::string_view arrow_head;
};
constexpr Lines drawn = {{" ", "│", "│", "│", "─", "╯", "╮", "┤", "─", "╰", "╭", "├", "─", "┴", "┬", "┼"},
                         "▼"};
constexpr Lines ascii = {{" ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+"},
                         "v"};

constexpr std::size_t margin = 2, frame = 4;

class FlowWriter {
 public:
  FlowWriter(const Flow& flow, const Style& style, Sink& sink)
      : style_(style), sink_(sink), lines_(style.unicode ? drawn : ascii), rows_(rows_of(flow)) {
    for (FlowRow& row : rows_) measure(row);
    place(rows_, style.limit() - margin);
  }

  void write() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (i > 0) write_lines_between(rows_[i - 1], rows_[i]);
      write_row(rows_[i]);
    }
  }

 private:
  std::string_view sign(unsigned directions) const { return lines_.signs[directions]; }

  void measure(FlowRow& row) const {
    const std::size_t share = (style_.limit() - margin) / row.size();
    for (FlowItem& item : row) {
      if (!item.box) continue;
      const std::size_t inner = std::max(display_width(style_.signs(item.box->title)),
                                         display_width(style_.signs(item.box->detail)));
      constexpr std::size_t gap = 3, least = 2;
      const std::size_t most = std::max(share, frame + gap + least) - gap;
      item.width = std::min(inner + frame, most);
    }
  }

  void finish(std::string line) const {
    line.erase(line.find_last_not_of(' ') + 1);
    sink_.write(line + "\n");
  }

  // One line of a row: what each item has there, with blanks between.
  template <class Piece>
  void write_line(const FlowRow& row, Piece&& piece) const {
    std::string line(margin, ' ');
    std::size_t column = 0;
    for (const FlowItem& item : row) {
      const std::size_t begin = item.center - std::min(item.center, item.width / 2);
      line += std::string(begin - std::min(begin, column), ' ');
      line += item.box ? piece(item) : std::string(sign(up | down));
      column = begin + item.width;
    }
    finish(std::move(line));
  }

  // The upper or lower edge of a box, with what leads to it or away in its middle.
  std::string edge(const FlowItem& item, unsigned corners, std::string_view middle) const {
    std::string text(sign(corners | right));
    for (std::size_t i = 1; i + 1 < item.width; ++i)
      text += i == item.width / 2 ? middle : sign(left | right);
    return text + std::string(sign(corners | left));
  }

  std::string inside(const FlowItem& item, std::string_view words) const {
    const std::size_t room = item.width - frame;
    const std::string text = shortened(style_.signs(words), room, style_.unicode ? "…" : "~");
    const std::size_t blanks = room - std::min(room, display_width(text));
    return std::string(sign(up | down)) + std::string(1 + blanks / 2, ' ') + text +
           std::string(blanks - blanks / 2 + 1, ' ') + std::string(sign(up | down));
  }

  void write_row(const FlowRow& row) const {
    const bool detailed =
        std::ranges::any_of(row, [](const FlowItem& item) { return item.box && !item.box->detail.empty(); });
    write_line(row, [&](const FlowItem& item) {
      return edge(item, down, item.from.empty() ? sign(left | right) : lines_.arrow_head);
    });
    write_line(row, [&](const FlowItem& item) { return inside(item, item.box->title); });
    if (detailed) write_line(row, [&](const FlowItem& item) { return inside(item, item.box->detail); });
    write_line(row, [&](const FlowItem& item) {
      return edge(item, up, sign(left | right | (item.leads_on ? down : 0u)));
    });
  }

  // Lines that fork and join. Those that go straight down need no room.
  void write_lines_between(const FlowRow& above, const FlowRow& below) const {
    std::vector<unsigned> pieces(style_.limit(), 0);
    bool straight = true;
    for (const FlowItem& item : below) {
      for (const std::size_t place : item.from) {
        const std::size_t from = above[place].center, to = item.center;
        straight = straight && from == to;
        pieces[from] |= up;
        pieces[to] |= down;
        for (std::size_t i = std::min(from, to); i < std::max(from, to); ++i) {
          pieces[i] |= right;
          pieces[i + 1] |= left;
        }
      }
    }
    if (straight) return;
    std::string line(margin, ' ');
    for (const unsigned piece : pieces) line += sign(piece);
    finish(std::move(line));
  }

  const Style& style_;
  Sink& sink_;
  const Lines& lines_;
  std::vector<FlowRow> rows_;
};

}  // namespace

void write_flow(const Flow& flow, const Style& style, Sink& sink) {
  FlowWriter(flow, style, sink).write();
}

}  // namespace attn
