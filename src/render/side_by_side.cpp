#include <algorithm>

#include "render/text_table.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::size_t most_cells_beside = 400;  // a larger table stands alone
constexpr std::size_t gap = 2;                  // between tables, beside their own margin

// A table as it would be written, line by line.
struct WrittenTable {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

WrittenTable written(const Table& table, const Style& style) {
  std::string text;
  Sink sink([&](std::string_view bytes) { text += bytes; });
  write_text_table(table, style, sink);
  sink.flush();
  WrittenTable result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    result.lines.push_back(text.substr(begin, end - begin));
    result.width = std::max(result.width, visible_width(result.lines.back()));
    begin = end + 1;
  }
  return result;
}

void write_beside(const std::vector<WrittenTable>& tables, Sink& sink) {
  std::size_t height = 0;
  for (const WrittenTable& table : tables) height = std::max(height, table.lines.size());
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    std::size_t missing = 0;  // blanks are written only before something
    for (const WrittenTable& table : tables) {
      const std::string text = i < table.lines.size() ? table.lines[i] : "";
      if (!text.empty()) line += std::string(missing, ' ') + text;
      missing = (text.empty() ? missing : 0) + table.width + gap - visible_width(text);
    }
    sink.write(line + "\n");
  }
}

}  // namespace

void write_side_by_side(const std::vector<Table>& tables, const Style& style, Sink& sink) {
  std::vector<WrittenTable> line;
  std::size_t used = 0;
  bool first = true;
  const auto finish_line = [&] {
    if (line.empty()) return;
    if (!first) sink.write("\n");
    first = false;
    write_beside(line, sink);
    line.clear();
    used = 0;
  };
  for (const Table& table : tables) {
    if (table.cells->size() > most_cells_beside) {
      finish_line();
      if (!first) sink.write("\n");
      first = false;
      write_text_table(table, style, sink);
      continue;
    }
    WrittenTable next = written(table, style);
    if (used + next.width > style.limit()) finish_line();
    used += next.width + gap;
    line.push_back(std::move(next));
  }
  finish_line();
}

}  // namespace attn
