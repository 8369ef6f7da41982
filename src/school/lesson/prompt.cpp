#include "school/lesson/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/document/document.hpp"
#include "page/render/format.hpp"
#include "page/render/style.hpp"
#include "school/lesson/marking.hpp"
#include "school/tutor/judge.hpp"
#include "school/tutor/solution_steps.hpp"

namespace attn {

namespace {

// --- prompt

constexpr std::array keys_of_lessons = {
    key::next,
    key::hint,
    key::answer,
    key::skip,
    key::explore,
    LessonKey{"b", " back previous ", "back", "goes one step back", LessonAction::back, true, false},
    LessonKey{"l", " list steps ", "steps", "lists the steps", LessonAction::list, true, false},
    LessonKey{"go N", "", "step N", "goes to step N; where no answer is asked for, N alone does", LessonAction::go,
              false, false},
    key::help,
    saying(key::quit, "quit", "ends the lesson; your progress is saved"),
};

// "go 7", "step 7".
std::optional<KeyPress> going(const std::string& typed) {
  for (const std::string_view verb : {"go to ", "goto ", "go ", "step ", "g "}) {
    if (!typed.starts_with(verb)) continue;
    const auto step = parse_number<std::size_t>(trimmed(std::string_view(typed).substr(verb.size())));
    if (step) return KeyPress{LessonAction::go, *step};
  }
  return std::nullopt;
}

// --- asking

// One question at one terminal.
class Asking {
 public:
  Asking(const SolvedQuestion& solved, const QuestionContext& at, const AnswerListener& kept)
      : solved_(solved), at_(at), kept_(kept), hints_(solved.question.hints, "question", "the answer") {}

  KeyPress ask() {
    for (;;) {
      const std::optional<std::string> typed = at_.conversation.ask(
          fmt::format("[{}] {}{}", at_.place, prompt_of(at_.keys, &LessonKey::at_questions, "Your answer"),
                      solved_.question.explore ? fmt::format(" · {} {}", key::explore.name, key::explore.does) : ""));
      if (!typed) return {LessonAction::quit};
      const std::optional<KeyPress> pressed = key_press(*typed, at_.keys);
      if (!pressed) {
        if (is_over(*typed)) return {LessonAction::next};
      } else if (pressed->action == LessonAction::help) {
        at_.conversation.show({listing_of(at_.keys)});
      } else if (pressed->action == LessonAction::explore) {
        at_.conversation.explore(solved_);
      } else if (pressed->action == LessonAction::hint) {
        hints_.show_next(at_.conversation);
      } else if (pressed->action == LessonAction::answer) {
        note(Note::Kind::answer, text("The answer is ", strong(answer_of(solved_)), "."));
        kept_.gave_up();
        return *pressed;
      } else if (pressed->action == LessonAction::next) {
        at_.conversation.say("Type an answer, or s to skip the question.");
      } else {
        return *pressed;
      }
    }
  }

 private:
  void note(Note::Kind kind, Text line) { at_.conversation.show({Note{kind, {std::move(line)}}}); }

  // Right, or a prediction, which is over with the first guess.
  bool is_over(const std::string& typed) {
    const Judgment judged = judge(solved_, typed);
    if (judged.mark == Judgment::Mark::unreadable) {
      at_.conversation.say(judged.says);
      return false;
    }
    if (judged.mark == Judgment::Mark::convention) {
      note(Note::Kind::hint, text(strong("Another convention. "), judged.says));
      return false;
    }
    const bool right = judged.mark == Judgment::Mark::right;
    kept_.answered(typed, right);
    if (right) {
      note(Note::Kind::correct, text(strong("Correct: "), with_full_stop(answer_of(solved_))));
      return true;
    }
    if (judged.mark == Judgment::Mark::guess) {
      Note note{Note::Kind::answer, {text("What comes out is ", strong(answer_of(solved_)), ".")}};
      if (!judged.says.empty()) note.lines.push_back(text(judged.says));
      at_.conversation.show({std::move(note)});
      return true;
    }
    ++misses_;
    hints_.note_told(judged.says);
    std::vector<Text> lines;
    if (!judged.says.empty()) lines.push_back(text(judged.says));
    if (std::string help = help_after(judged); !help.empty()) lines.push_back(text(std::move(help)));
    lines.front().insert(lines.front().begin(), strong("Not yet. "));
    at_.conversation.show({Note{Note::Kind::wrong, std::move(lines)}});
    return false;
  }

  // What was wrong is enough at first. After some misses a hint is offered, and once the first step of the solution.
  std::string help_after(const Judgment& judged) const {
    const std::string advice = hints_.advice();
    const auto after = [&](std::string_view help) { return static_cast<std::size_t>(judge_limit(help)); };
    const std::string step = misses_ == after("misses before the first step") ? first_step(solved_) : "";
    if (!step.empty() && judged.says.find(step) == std::string::npos)
      return fmt::format("The first step: {}. {}", step, advice);
    return misses_ >= after("misses before a hint") || judged.says.empty() ? advice : "";
  }

  const SolvedQuestion& solved_;
  const QuestionContext& at_;
  const AnswerListener& kept_;
  Hints hints_;
  std::size_t misses_ = 0;  // wrong answers
};

}  // namespace

// --- prompt

std::span<const LessonKey> lesson_keys() { return keys_of_lessons; }

std::optional<KeyPress> key_press(std::string_view typed, std::span<const LessonKey> keys) {
  const std::string word = in_lower_case(trimmed(typed));
  if (word.empty()) return std::nullopt;
  for (const LessonKey& key : keys) {
    if (key.name == word || key.words.find(" " + word + " ") != std::string_view::npos) return KeyPress{key.action};
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
    for (const std::string& word : split_at_any(key.words, " ")) name += ", " + word;
    listing.rows.push_back({std::move(name), std::string(key.about)});
  }
  return listing;
}

Conversation::Conversation(Terminal& terminal, const Style& style)
    : terminal_(terminal), style_(style), pager_(terminal, style, rows_to_ask) {}

void Conversation::say(std::string sentence) { show({Prose{text(std::move(sentence))}}); }

LessonTerminal::LessonTerminal(Terminal& terminal, const Style& style, std::string state, std::int64_t today)
    : Conversation(terminal, style),
      kept_(terminal, std::move(state), [this](Text sentence) { show({Prose{std::move(sentence)}}); }),
      today_(today) {}

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

void Conversation::explore(const SolvedQuestion& solved) {
  if (!solved.question.explore) return say("This question offers no screen.");
  if (!run_) return say("No screen can be opened here.");
  try {
    run_(words_of_screen(solved.question), terminal_, style_);
  } catch (const InputError& error) {
    say(error.what());
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

// --- asking

KeyPress ask(const SolvedQuestion& solved, const QuestionContext& at, const AnswerListener& kept) {
  return Asking(solved, at, kept).ask();
}

// --- hints

std::string Hints::advice() const {
  return has_more() ? "Try again, or type h for a hint." : fmt::format("Try again, or type a for {}.", then_);
}

void Hints::note_told(std::string_view sentence) {
  if (has_more() && sentence.ends_with(hints_[shown_])) ++shown_;
}

void Hints::show_next(Conversation& conversation) {
  if (!has_more()) {
    const std::string none = hints_.empty() ? fmt::format("This {} has no hint.", of_) : "No more hints.";
    return conversation.say(fmt::format("{} Type a to see {}.", none, then_));
  }
  const std::string which = hints_.size() == 1 ? "Hint: " : fmt::format("Hint {} of {}: ", shown_ + 1, hints_.size());
  conversation.show({Note{Note::Kind::hint, {text(strong(which), hints_[shown_])}}});
  ++shown_;
}

}  // namespace attn
