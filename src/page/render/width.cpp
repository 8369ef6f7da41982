#include "page/render/width.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "core/support/utf8.hpp"
#include "page/render/style.hpp"

namespace attn {

namespace {

// --- width

// What a terminal shows in one place: a character with its combining marks, an emoji with its modifiers, a
// flag.
struct Grapheme {
  std::size_t bytes = 0;
  std::size_t width = 0;
};

Grapheme next_grapheme(std::string_view text) {
  constexpr utf8proc_int32_t emoji_presentation = 0xFE0F;
  constexpr utf8proc_int32_t first_flag_letter = 0x1F1E6, last_flag_letter = 0x1F1FF;
  Grapheme grapheme;
  utf8proc_int32_t state = 0, previous = -1;
  while (grapheme.bytes < text.size()) {
    const auto [point, bytes] = first_character(text.substr(grapheme.bytes));
    if (grapheme.bytes > 0 &&
        (point < 0 || previous < 0 || utf8proc_grapheme_break_stateful(previous, point, &state))) {
      break;
    }
    const bool wide = point == emoji_presentation || (point >= first_flag_letter && point <= last_flag_letter);
    const std::size_t width = point < 0 ? 1
                              : wide    ? 2
                                        : static_cast<std::size_t>(std::max(0, utf8proc_charwidth(point)));
    // Spacing marks and vowel signs stand beside what they belong to; all others stand on it.
    const utf8proc_category_t category = utf8proc_category(std::max(point, 0));
    const bool beside = category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_LO;
    grapheme.width = beside ? grapheme.width + width : std::max(grapheme.width, width);
    grapheme.bytes += bytes;
    previous = point;
  }
  return grapheme;
}

struct Replacement {
  std::string_view sign;
  std::string_view ascii;
};

constexpr std::array ascii_signs = {
    Replacement{"\uFFFD", "?"}, Replacement{"─", "-"},     Replacement{"│", "|"},       Replacement{"┼", "+"},
    Replacement{"▲", "^"},      Replacement{"▼", "v"},     Replacement{"▐", ">"},       Replacement{"▌", "<"},
    Replacement{"⋮", ":"},      Replacement{"›", ">"},     Replacement{"▏", "_"},       Replacement{"←", "<"},
    Replacement{"↑", "^"},      Replacement{"↓", "v"},     Replacement{"·", "."},       Replacement{"⋅", "*"},
    Replacement{"×", "x"},      Replacement{"√", "sqrt "}, Replacement{"ᵀ", "^T"},      Replacement{"−", "-"},
    Replacement{"∞", "inf"},    Replacement{"≈", "~="},    Replacement{"→", "->"},      Replacement{"…", "..."},
    Replacement{"Σ", "sum"},    Replacement{"‖", "||"},    Replacement{"½", "1/2 "},    Replacement{"²", "^2"},
    Replacement{"ᵢ", "_i"},     Replacement{"ⱼ", "_j"},    Replacement{"σ", "sigma"},   Replacement{"Φ", "Phi"},
    Replacement{"÷", "/"},      Replacement{"⊙", "(*)"},   Replacement{"⁶", "^6"},      Replacement{"⁰", "^0"},
    Replacement{"₂", "_2"},     Replacement{"₁", "_1"},    Replacement{"ω", "omega"},   Replacement{"α", "alpha"},
    Replacement{"γ", "gamma"},  Replacement{"β", "beta"},  Replacement{"ε", "epsilon"}, Replacement{"✓", "+"},
    Replacement{"✗", "x"},      Replacement{"–", "-"},     Replacement{"●", "*"},       Replacement{"○", "o"},
};

std::string with_plain_blanks(std::string line) {
  constexpr std::string_view no_break = "\u00A0";
  for (std::size_t at = line.find(no_break); at != std::string::npos; at = line.find(no_break, at)) {
    line.replace(at, no_break.size(), " ");
  }
  return line;
}

// --- pager

constexpr std::string_view keys = "Enter or Space: next page · b: back · q: quit";
constexpr std::string_view erase_line = "\r\x1b[K", clear_screen = "\x1b[H\x1b[2J";
constexpr char end_of_input = '\x04';

bool leaves(std::optional<char> key) { return !key || *key == 'q' || *key == 'Q' || *key == end_of_input; }

bool goes_on(char key) { return key == ' ' || key == '\n' || key == '\r'; }

}  // namespace

// --- width

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Grapheme grapheme = next_grapheme(text);
    width += grapheme.width;
    text.remove_prefix(grapheme.bytes);
  }
  return width;
}

std::size_t visible_width(std::string_view line) {
  std::string visible;
  while (!line.empty()) {
    if (line.starts_with("\x1b[")) {
      line.remove_prefix(std::min(line.find('m'), line.size() - 1) + 1);
    } else {
      visible += line.front();
      line.remove_prefix(1);
    }
  }
  return display_width(visible);
}

std::size_t rows_of(std::string_view lines, std::size_t columns) {
  std::size_t rows = 0;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::size_t width = visible_width(lines.substr(0, end));
    rows += columns == 0 || width == 0 ? 1 : (width + columns - 1) / columns;
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return rows;
}

std::string shortened(std::string_view text, std::size_t width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t kept = 0, used = display_width(ellipsis);
  while (kept < text.size()) {
    const Grapheme grapheme = next_grapheme(text.substr(kept));
    if (used + grapheme.width > width) break;
    used += grapheme.width;
    kept += grapheme.bytes;
  }
  return std::string(text.substr(0, kept)) + std::string(ellipsis);
}

std::string abridged(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto begins_character = [&](std::size_t at) { return !continues_character(text[at]); };
  // What a sentence is about stands at its beginning, the way out at its end.
  std::size_t end = most - most / 3, begin = text.size() - most / 3;
  while (end > 0 && !begins_character(end)) --end;
  while (begin < text.size() && !begins_character(begin)) ++begin;
  return std::string(text.substr(0, end)) + "…" + std::string(text.substr(begin));
}

std::string in_ascii(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto sign = std::ranges::find_if(ascii_signs, [&](const Replacement& r) { return text.starts_with(r.sign); });
    if (sign != ascii_signs.end()) {
      result += sign->ascii;
      text.remove_prefix(sign->sign.size());
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t size = display_width(word);
    if (used > 0 && used + 1 + size > width) {
      lines.emplace_back();
      used = 0;
    }
    if (begin > 0 && used > 0) {
      lines.back() += ' ';
      ++used;
    }
    lines.back() += word;
    used += size;
    begin = end + 1;
  }
  std::ranges::transform(lines, lines.begin(), with_plain_blanks);
  return lines;
}

// --- pager

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
  const std::size_t columns = terminal_.size().columns;
  if (screen() > 0 && used_ > 0 && used_ + rows_of(text, columns) > screen()) {
    // What is there does not stand alone: the first paragraphs that still fit go with it.
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find("\n\n", begin)) != std::string_view::npos; begin = end + 2) {
      if (used_ + rows_of(text.substr(0, end + 2), columns) > screen()) break;
    }
    write(text.substr(0, begin));
    text.remove_prefix(begin);
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
