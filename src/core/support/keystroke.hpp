#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A key, or something else that happens at a terminal.
struct Keystroke {
  enum class Kind {
    character,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    enter,
    backspace,
    tab,
    back_tab,
    escape,
    mouse,    // a click, at `row` and `column`
    resized,  // the terminal has another size
    left_off  // no more keys come
  };
  Kind kind = Kind::character;
  std::string text = {};  // of a character, in UTF-8
  std::size_t row = 0, column = 0;

  bool operator==(const Keystroke&) const = default;
};

/// A character that was typed.
Keystroke character_key(std::string_view character);

/// Keys that are written as words: "right right = 3 enter tab". A word of one character is that character, `space` is a
/// blank, and other words are the kinds of keys. Behind a character of `asking`, words are typed as they stand until
/// `enter` or `esc`. Throws InputError for a word that is no key.
std::vector<Keystroke> keystrokes_in(std::string_view script, std::string_view asking);

}  // namespace attn
