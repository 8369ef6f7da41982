#include <algorithm>

#include "render/drawing.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

// The signs that boxes are made of.
struct Lines {
  std::string_view top_left, top_right, bottom_left, bottom_right, across, down, arrow;
};
constexpr Lines drawn = {"╭", "╮", "╰", "╯", "─", "│", " → "};
constexpr Lines ascii = {"+", "+", "+", "+", "-", "|", " > "};

class FlowWriter {
 public:
  FlowWriter(const Flow& flow, const Style& style, Sink& sink)
      : flow_(flow),
        style_(style),
        sink_(sink),
        lines_(style.unicode ? drawn : ascii),
        limit_(limit_of(style)) {}

  void write() {
    if (flow_.boxes.empty()) return;
    std::size_t begin = 0, used = margin;
    for (std::size_t i = 0; i < flow_.boxes.size(); ++i) {
      const std::size_t width = inner_width(flow_.boxes[i]) + frame + arrow;
      if (i > begin && used + width > limit_) {
        write_boxes(begin, i);
        begin = i;
        used = margin;
      }
      used += width;
    }
    write_boxes(begin, flow_.boxes.size());
  }

 private:
  static constexpr std::size_t margin = 2, frame = 4, arrow = 3;

  static std::size_t limit_of(const Style& style) {
    constexpr std::size_t usual = 80, least = 20;
    return style.width == 0 ? usual : std::max(style.width, least);
  }

  // Shortened where a box by itself would be too wide.
  std::string signs(std::string_view text) const {
    const std::string shown = printable(style_.unicode ? text : in_ascii(text));
    return shortened(shown, limit_ - margin - frame - arrow, style_.unicode ? "…" : "~");
  }

  std::size_t inner_width(const Flow::Box& box) const {
    return std::max(display_width(signs(box.title)), display_width(signs(box.detail)));
  }

  static void append(std::string& line, std::string_view sign, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) line += sign;
  }

  std::string padded(std::string_view text, std::size_t width) const {
    const std::string shown = signs(text);
    return std::string(lines_.down) + " " + shown + std::string(width - display_width(shown), ' ') + " " +
           std::string(lines_.down);
  }

  // Boxes from `begin` to before `end`, in four lines. One that follows on the line above begins with an
  // arrow, too.
  void write_boxes(std::size_t begin, std::size_t end) {
    std::string top, title, detail, bottom;
    for (std::size_t i = begin; i < end; ++i) {
      const Flow::Box& box = flow_.boxes[i];
      const std::size_t width = inner_width(box);
      const std::string gap = i == 0 ? " " : "   ";
      top += gap + std::string(lines_.top_left);
      append(top, lines_.across, width + 2);
      top += lines_.top_right;
      title += (i == 0 ? " " : std::string(lines_.arrow)) + padded(box.title, width);
      detail += gap + padded(box.detail, width);
      bottom += gap + std::string(lines_.bottom_left);
      append(bottom, lines_.across, width + 2);
      bottom += lines_.bottom_right;
    }
    for (const std::string& line : {top, title, detail, bottom}) sink_.write(" " + line + "\n");
  }

  const Flow& flow_;
  const Style& style_;
  Sink& sink_;
  const Lines& lines_;
  std::size_t limit_;
};

}  // namespace

void write_flow(const Flow& flow, const Style& style, Sink& sink) {
  FlowWriter(flow, style, sink).write();
}

}  // namespace attn
