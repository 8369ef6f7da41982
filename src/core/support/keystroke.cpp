#include "core/support/keystroke.hpp"

#include <algorithm>
#include <array>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "core/support/utf8.hpp"

namespace attn {
namespace {

struct NamedKey {
  std::string_view name;
  Keystroke::Kind kind;
};

constexpr std::array named_keys = {
    NamedKey{"up", Keystroke::Kind::up},        NamedKey{"down", Keystroke::Kind::down},
    NamedKey{"left", Keystroke::Kind::left},    NamedKey{"right", Keystroke::Kind::right},
    NamedKey{"pgup", Keystroke::Kind::page_up}, NamedKey{"pgdn", Keystroke::Kind::page_down},
    NamedKey{"home", Keystroke::Kind::home},    NamedKey{"end", Keystroke::Kind::end},
    NamedKey{"enter", Keystroke::Kind::enter},  NamedKey{"backspace", Keystroke::Kind::backspace},
    NamedKey{"tab", Keystroke::Kind::tab},      NamedKey{"backtab", Keystroke::Kind::back_tab},
    NamedKey{"esc", Keystroke::Kind::escape},
};

// In UTF-8.
std::vector<std::string_view> characters_of(std::string_view word) {
  std::vector<std::string_view> characters;
  while (!word.empty()) {
    std::size_t end = 1;
    while (end < word.size() && continues_character(word[end])) ++end;
    characters.push_back(word.substr(0, end));
    word.remove_prefix(end);
  }
  return characters;
}

}  // namespace

Keystroke character_key(std::string_view character) {
  return {.kind = Keystroke::Kind::character, .text = std::string(character)};
}

std::vector<Keystroke> keystrokes_in(std::string_view script, std::string_view asking) {
  std::vector<Keystroke> keys;
  bool is_asked = false, is_first_typed = false;
  for (const std::string_view word : split_at(script, ' ')) {
    if (word.empty()) continue;
    const auto named = std::ranges::find(named_keys, word, &NamedKey::name);
    if (named != named_keys.end()) {
      keys.push_back({.kind = named->kind});
      is_first_typed = true;
      is_asked = is_asked && named->kind != Keystroke::Kind::enter && named->kind != Keystroke::Kind::escape;
      continue;
    }
    if (word == "space") {
      keys.push_back(character_key(" "));
      continue;
    }
    const std::vector<std::string_view> characters = characters_of(word);
    if (!is_asked && characters.size() > 1) fail_unknown("key", word, names_of(std::span<const NamedKey>(named_keys)));
    // Words that are typed have blanks between them.
    if (is_asked && !is_first_typed) keys.push_back(character_key(" "));
    for (const std::string_view character : characters) keys.push_back(character_key(character));
    is_first_typed = !is_asked;
    is_asked = is_asked || asking.find(word) != std::string_view::npos;
  }
  return keys;
}

}  // namespace attn
