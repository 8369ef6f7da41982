#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lesson/progress.hpp"
#include "render/pager.hpp"
#include "render/style.hpp"
#include "support/terminal.hpp"

namespace attn {

/// Where somebody takes a lesson: how it looks there, and which file keeps the progress. Nothing scrolls away
/// that was not seen.
class Desk {
 public:
  Desk(Terminal& terminal, const Style& style, std::string state)
      : terminal_(terminal), style_(style), state_(std::move(state)), pager_(terminal, style, rows_to_ask) {}

  /// Shows blocks of a page, which stay together where they fit on a screen.
  void show(std::vector<Block> blocks);
  /// Asks for a line, below a line that says what can be typed. Nothing: there is no more input, or a page
  /// was left with q.
  std::optional<std::string> ask(std::string_view says);

  CourseProgress progress() const { return read_progress(state_); }
  void save(const CourseProgress& progress) { terminal_.save({state_, bytes_of(progress)}); }

 private:
  static constexpr std::size_t rows_to_ask = 3;

  Terminal& terminal_;
  Style style_;
  std::string state_;
  Pager pager_;
  bool left_ = false;  // whether a page was
};

}  // namespace attn
