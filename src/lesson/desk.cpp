#include "lesson/desk.hpp"

#include <utility>

#include "document/document.hpp"
#include "render/color.hpp"
#include "render/format.hpp"

namespace attn {

void Desk::show(std::vector<Block> blocks) {
  if (blocks.empty()) return;
  Page page;
  page.blocks = std::move(blocks);
  std::string text = "\n";
  Sink sink([&](std::string_view bytes) { text += bytes; });
  render_text(page, style_, sink);
  sink.flush();
  try {
    pager_.write_together(text);
  } catch (const PageLeft&) {
    left_ = true;
  }
}

std::optional<std::string> Desk::ask(std::string_view says) {
  if (std::exchange(left_, false)) return std::nullopt;
  terminal_.write("\n" + dim(style_) + style_.signs(says) + plain(style_) + "\n");
  const std::optional<std::string> typed = terminal_.read_line("> ");
  pager_.restart();
  if (!typed) return std::nullopt;
  return std::string(trimmed(*typed));
}

}  // namespace attn
