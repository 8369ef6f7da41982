#include "lesson/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "document/document.hpp"
#include "render/color.hpp"
#include "render/format.hpp"
#include "support/error.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

constexpr std::array keys_of_lessons = {
    key::next,
    key::hint,
    key::answer,
    key::skip,
    LessonKey{"b", " back previous ", "back", "goes one step back", LessonAction::back, true, false},
    LessonKey{"l", " list steps ", "steps", "lists the steps", LessonAction::list, true, false},
    LessonKey{"go N", "", "step N", "goes to step N; where no answer is asked for, N alone does",
              LessonAction::go, false, false},
    key::help,
    saying(key::quit, "quit", "ends the lesson; your progress is saved"),
};

// "go 7", "step 7".
std::optional<KeyPress> going(const std::string& typed) {
  for (const std::string_view verb : {"go to ", "goto ", "go ", "step ", "g "}) {
    if (!typed.starts_with(verb)) continue;
    const auto step = parsed<std::size_t>(trimmed(std::string_view(typed).substr(verb.size())));
    if (step) return KeyPress{LessonAction::go, *step};
  }
  return std::nullopt;
}

}  // namespace

std::span<const LessonKey> lesson_keys() {
  return keys_of_lessons;
}

std::optional<KeyPress> key_press(std::string_view typed, std::span<const LessonKey> keys) {
  const std::string word = in_lower_case(trimmed(typed));
  if (word.empty()) return std::nullopt;
  for (const LessonKey& key : keys) {
    if (key.name == word || key.words.find(" " + word + " ") != std::string_view::npos)
      return KeyPress{key.action};
  }
  const bool can_go = std::ranges::find(keys, LessonAction::go, &LessonKey::action) != keys.end();
  return can_go ? going(word) : std::nullopt;
}

std::string prompt_of(std::span<const LessonKey> keys, bool LessonKey::*is_shown, std::string_view begin) {
  std::string says(begin);
  for (const LessonKey& key : keys) {
    if (key.*is_shown) says += fmt::format("{}{} {}", says.empty() ? "" : " · ", key.name, key.does);
  }
  return says;
}

Block listing_of(std::span<const LessonKey> keys) {
  Listing listing{{"key", "what it does"}, {}};
  for (const LessonKey& key : keys) {
    std::string name(key.name);
    for (const std::string& word : parted(key.words, " ")) name += ", " + word;
    listing.rows.push_back({std::move(name), std::string(key.about)});
  }
  return listing;
}

Conversation::Conversation(Terminal& terminal, const Style& style)
    : terminal_(terminal), style_(style), pager_(terminal, style, rows_to_ask) {}

void Conversation::say(std::string sentence) {
  show({Prose{text(std::move(sentence))}});
}

LessonTerminal::LessonTerminal(Terminal& terminal, const Style& style, std::string state)
    : Conversation(terminal, style),
      kept_(terminal, std::move(state), [this](Text sentence) { show({Prose{std::move(sentence)}}); }) {}

void Conversation::show(std::vector<Block> blocks) {
  if (blocks.empty() || left_) return;
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

std::optional<std::string> Conversation::ask(std::string_view says) {
  if (std::exchange(left_, false)) {
    pager_.restart();
    return std::nullopt;
  }
  terminal_.write("\n" + dim(style_) + style_.signs(says) + plain(style_) + "\n");
  const std::optional<std::string> typed = terminal_.read_line("> ");
  pager_.restart();
  if (!typed) return std::nullopt;
  return std::string(trimmed(*typed));
}

}  // namespace attn
