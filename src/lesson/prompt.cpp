#include "lesson/prompt.hpp"

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

constexpr std::array keys = {
    LessonKey{"Enter", " next continue ", "next", "goes on", LessonAction::next, true, false},
    LessonKey{"h", " hint hints ", "hint", "shows a hint, and then the next one", LessonAction::hint, false,
              true},
    LessonKey{"a", " answer solution ", "answer", "shows the answer", LessonAction::answer, false, true},
    LessonKey{"s", " skip ", "skip", "goes on without an answer", LessonAction::skip, false, true},
    LessonKey{"b", " back previous ", "back", "goes one step back", LessonAction::back, true, false},
    LessonKey{"l", " list steps ", "steps", "lists the steps", LessonAction::list, true, false},
    LessonKey{"go N", "", "step N", "goes to step N; where no answer is asked for, N alone does",
              LessonAction::go, false, false},
    LessonKey{"?", " help keys ", "help", "shows this list", LessonAction::help, true, true},
    LessonKey{"q", " quit exit bye :q ", "quit", "ends the lesson; your progress is saved",
              LessonAction::quit, true, true},
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
  return keys;
}

std::optional<KeyPress> key_press(std::string_view typed) {
  const std::string word = in_lower_case(trimmed(typed));
  if (word.empty()) return std::nullopt;
  for (const LessonKey& key : keys) {
    if (key.name == word || key.words.find(" " + word + " ") != std::string_view::npos)
      return KeyPress{key.action};
  }
  return going(word);
}

LessonTerminal::LessonTerminal(Terminal& terminal, const Style& style, std::string state)
    : terminal_(terminal), style_(style), state_(std::move(state)), pager_(terminal, style, rows_to_ask) {
  progress_ = read_progress(state_).progress;
  try_to_keep([&] {
    terminal_.prepare_to_save(state_);
    terminal_.alone_with(state_, [&] { progress_ = read(); });
  });
}

void LessonTerminal::try_to_keep(const std::function<void()>& action) {
  if (!keeps_) return;
  try {
    action();
  } catch (const OutputError& error) {
    keeps_ = false;
    show({Prose{text("Your progress is not kept: ", error.what(), ". To keep it in another file, give ",
                     code("--state FILE"), ".")}});
  }
}

// What is damaged makes room, and is not lost.
CourseProgress LessonTerminal::read() {
  ProgressFile file = read_progress(state_);
  if (file.is_damaged) {
    const std::string aside = name_aside(state_);
    terminal_.rename(state_, aside);
    show({Prose{text("The file of your progress, ", state_, ", was damaged. It is now called ", aside,
                     ", and your progress begins anew.")}});
  }
  return std::move(file.progress);
}

CourseProgress LessonTerminal::progress() {
  if (keeps_) progress_ = read_progress(state_).progress;
  return progress_;
}

void LessonTerminal::change(const std::function<void(CourseProgress& progress)>& change) {
  try_to_keep([&] {
    terminal_.alone_with(state_, [&] {
      CourseProgress changed = read();
      change(changed);
      terminal_.save({state_, bytes_of(changed)});
      progress_ = std::move(changed);
    });
  });
  if (!keeps_) change(progress_);
}

void LessonTerminal::show(std::vector<Block> blocks) {
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

std::optional<std::string> LessonTerminal::ask(std::string_view says) {
  if (std::exchange(left_, false)) return std::nullopt;
  terminal_.write("\n" + dim(style_) + style_.signs(says) + plain(style_) + "\n");
  const std::optional<std::string> typed = terminal_.read_line("> ");
  pager_.restart();
  if (!typed) return std::nullopt;
  return std::string(trimmed(*typed));
}

}  // namespace attn
