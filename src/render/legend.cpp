#include "render/drawing.hpp"
#include "render/width.hpp"

namespace attn {

void write_entries(const std::vector<std::string>& entries, std::size_t width, Sink& sink) {
  constexpr std::size_t margin = 2, gap = 3;
  std::string line;
  for (const std::string& entry : entries) {
    if (!line.empty() && margin + visible_width(line) + gap + visible_width(entry) > width) {
      sink.write("  " + line + "\n");
      line.clear();
    }
    line += (line.empty() ? "" : std::string(gap, ' ')) + entry;
  }
  if (!line.empty()) sink.write("  " + line + "\n");
}

}  // namespace attn
