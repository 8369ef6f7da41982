#include <algorithm>
#include <utility>

#include "page/render/text_table.hpp"
#include "page/render/width.hpp"

namespace attn {

// --- beside

WrittenLines::WrittenLines(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines_.emplace_back(text.substr(begin, end - begin));
    width_ = std::max(width_, visible_width(lines_.back()));
    begin = end + 1;
  }
}

WrittenLines WrittenLines::blank(std::size_t height, std::size_t width) {
  WrittenLines lines;
  lines.lines_.resize(height);
  lines.width_ = width;
  return lines;
}

const std::string& WrittenLines::line(std::size_t i) const {
  static const std::string nothing;
  return i < lines_.size() ? lines_[i] : nothing;
}

WrittenLines written_lines(const std::function<void(Sink&)>& write) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write(sink);
  sink.flush();
  return WrittenLines(text);
}

void write_beside(const std::vector<WrittenLines>& blocks, Sink& sink) {
  std::size_t height = 0;
  for (const WrittenLines& block : blocks) height = std::max(height, block.height());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    std::size_t missing = 0;  // blanks are written only before something
    for (const WrittenLines& block : blocks) {
      const std::string& text = block.line(i);
      if (!text.empty()) line += std::string(missing, ' ') + text;
      missing = (text.empty() ? missing : 0) + block.width() + gap_beside - visible_width(text);
    }
    sink.write(line + "\n");
  }
}

void Beside::add(WrittenLines block) {
  if (used_ + block.width() > limit_) finish_line();
  used_ += block.width() + gap_beside;
  line_.push_back(std::move(block));
}

void Beside::finish_line() {
  if (line_.empty()) return;
  begin_block();
  write_beside(line_, sink_);
  line_.clear();
  used_ = 0;
}

void Beside::begin_block() {
  if (!is_first_) sink_.write("\n");
  is_first_ = false;
}

// --- tables beside each other

namespace {

constexpr std::size_t most_cells_beside = 400;  // a larger table stands alone

}  // namespace

void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink) {
  Beside beside(style.limit(), sink);
  for (const Table& table : tables) {
    if (table.cells->size() > most_cells_beside) {
      beside.finish_line();
      beside.begin_block();
      write_text_table(table, style, sink);
      continue;
    }
    beside.add(written_lines([&](Sink& lines) { write_text_table(table, style, lines); }));
  }
  beside.finish_line();
}

}  // namespace attn
