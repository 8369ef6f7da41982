#include "render/pager.hpp"

#include <algorithm>

#include "render/color.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

constexpr std::string_view keys = "Enter or Space: next page · b: back · q: quit";
constexpr std::string_view erase_line = "\r\x1b[K", clear_screen = "\x1b[H\x1b[2J";
constexpr char end_of_input = '\x04';

bool leaves(std::optional<char> key) {
  return !key || *key == 'q' || *key == 'Q' || *key == end_of_input;
}

bool goes_on(char key) {
  return key == ' ' || key == '\n' || key == '\r';
}

}  // namespace

void Pager::write(std::string_view bytes) {
  for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
    lines_.push_back(open_ + std::string(bytes.substr(0, end + 1)));
    open_.clear();
  }
  open_ += bytes;
  show_lines();
}

void Pager::finish() {
  if (open_.empty()) return;
  lines_.push_back(std::move(open_));
  show_lines();
}

void Pager::write_together(std::string_view text) {
  const std::size_t rows = rows_of(text, terminal_.size().columns);
  if (screen() > 0 && used_ > 0 && used_ + rows > screen()) {
    for (bool waits = true; waits;) {
      const std::optional<char> key = key_after("Enter: continue · q: quit");
      if (leaves(key)) throw PageLeft{};
      waits = !goes_on(*key);
    }
    restart();
  }
  write(text);
  finish();
}

void Pager::restart() {
  lines_.clear();
  open_.clear();
  next_ = used_ = 0;
}

// The rows of a screen; 0: not known.
std::size_t Pager::screen() const {
  constexpr std::size_t least = 4;
  const std::size_t rows = terminal_.size().rows;
  return rows < least + reserved_ ? 0 : rows - reserved_;
}

void Pager::show_lines() {
  while (next_ < lines_.size()) {
    const std::size_t rows = rows_of(lines_[next_], terminal_.size().columns);
    if (screen() > 0 && used_ > 0 && used_ + rows > screen()) {
      wait();
      continue;
    }
    terminal_.write(lines_[next_++]);
    used_ += rows;
  }
}

std::optional<char> Pager::key_after(std::string_view says) {
  terminal_.write(dim(style_) + shortened(style_.signs(says), style_.limit() - 1, "") + plain(style_));
  const std::optional<char> key = terminal_.read_key();
  terminal_.write(erase_line);
  return key;
}

// Until a key says what comes next.
void Pager::wait() {
  for (;;) {
    const std::optional<char> key = key_after(keys);
    if (leaves(key)) throw PageLeft{};
    if (*key == 'b') return back();
    if (goes_on(*key)) {
      used_ = 0;
      return;
    }
    if (*key == 'j') {
      const std::size_t rows = rows_of(lines_[next_], terminal_.size().columns);
      used_ = screen() - std::min(screen(), rows);
      return;
    }
  }
}

// A screen before the one that is shown.
void Pager::back() {
  const std::size_t columns = terminal_.size().columns;
  std::size_t rows = 0, begin = next_;
  while (begin > 0 && rows + rows_of(lines_[begin - 1], columns) <= 2 * screen())
    rows += rows_of(lines_[--begin], columns);
  terminal_.write(clear_screen);
  next_ = begin;
  used_ = 0;
}

}  // namespace attn
