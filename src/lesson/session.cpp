#include "lesson/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lesson/answer.hpp"
#include "lesson/prompt.hpp"
#include "lesson/show.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

// One lesson at one terminal.
class Session {
 public:
  Session(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal)
      : lesson_(lesson),
        result_(result),
        terminal_(terminal),
        progress_(terminal.progress().lessons[progress_name(lesson)]),
        keys_(keys_of(lesson)) {}

  SessionEnd take(std::optional<std::size_t> step) {
    at_ = step.value_or(next_undone(0));
    if (at_ >= lesson_.steps.size()) at_ = 0;  // all is done: once more
    if (at_ == 0) {
      terminal_.show(opening_of(lesson_));
    } else {
      terminal_.show({Heading{1, text(lesson_.title)}});
      arrive();
    }
    while (at_ < lesson_.steps.size()) {
      if (shows_) show_step();
      shows_ = true;
      const KeyPress pressed = this->step().question ? ask(solved()) : pause();
      if (!go(pressed)) return SessionEnd::left;
    }
    terminal_.show(closing_of(lesson_, counts_of(lesson_, progress_)));
    return SessionEnd::finished;
  }

  SessionEnd review() {
    std::vector<std::size_t> missed;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (lesson_.steps[i].question && is_missed(i)) missed.push_back(i);
    }
    terminal_.show({Heading{2, text("Review: ", lesson_.title)}});
    for (std::size_t i = 0; i < missed.size(); ++i) {
      at_ = missed[i];
      place_ = fmt::format("{}/{}", i + 1, missed.size());
      recall();
      show_step();
      for (bool stays = true; stays;) {
        const KeyPress pressed = ask(solved());
        if (pressed.action == LessonAction::quit) {
          say(farewell());
          return SessionEnd::left;
        }
        stays = pressed.action == LessonAction::list || pressed.action == LessonAction::go ||
                pressed.action == LessonAction::back;
        if (stays) say("A review asks one question after another: s skips this one.");
      }
    }
    return SessionEnd::finished;
  }

 private:
  const LessonStep& step() const { return lesson_.steps[at_]; }
  const SolvedQuestion& solved() const { return result_.questions[*step().question]; }
  // Another session may have gone on with this or another lesson: what it has done stays.
  void change(const std::function<void(LessonProgress& progress)>& change) {
    terminal_.change([&](CourseProgress& all) {
      all.last = progress_name(lesson_);
      change(all.lessons[all.last]);
      progress_ = all.lessons[all.last];
    });
  }

  // Goes where a key leads; false: out of the lesson.
  bool go(const KeyPress& pressed) {
    switch (pressed.action) {
      case LessonAction::quit:
        leave();
        return false;
      case LessonAction::skip:
        miss();
        [[fallthrough]];
      case LessonAction::next:
      case LessonAction::answer:
        finish_step();
        return true;
      case LessonAction::back:
        at_ -= std::min<std::size_t>(at_, 1);
        return true;
      case LessonAction::go:
        jump_to(pressed.step);
        return true;
      case LessonAction::list:
        list();
        break;
      case LessonAction::help:
      case LessonAction::hint:
        break;
    }
    shows_ = false;
    return true;
  }

  void jump_to(std::size_t step) {
    if (step >= 1 && step <= lesson_.steps.size()) {
      at_ = step - 1;
      return arrive();
    }
    say(fmt::format("There is no step {}. The steps are numbered 1 to {}.", step, lesson_.steps.size()));
    shows_ = false;
  }

  // A step that was done before leads on to the one behind it; a new one to the next that is not done yet.
  void finish_step() {
    const std::size_t next = at_ + 1;
    const bool is_new = !is_done(at_);
    change([&](LessonProgress& progress) {
      if (std::ranges::find(progress.done, keys_[at_]) == progress.done.end())
        progress.done.push_back(keys_[at_]);
    });
    at_ = is_new ? next_undone(next) : next;
    if (at_ > next && at_ < lesson_.steps.size()) arrive();
  }

  // The first step from this one on that is not done, or the end.
  std::size_t next_undone(std::size_t from) const {
    while (from < lesson_.steps.size() && is_done(from)) ++from;
    return from;
  }

  bool is_done(std::size_t i) const {
    return std::ranges::find(progress_.done, keys_[i]) != progress_.done.end();
  }

  bool is_missed(std::size_t i) const {
    const auto answer = progress_.answers.find(keys_[i]);
    return answer != progress_.answers.end() && answer->second.missed;
  }

  // A step that does not follow the one before it: what a question is about is shown again.
  void arrive() {
    say(fmt::format("You are at step {} of {}. (b: one step back)", at_ + 1, lesson_.steps.size()));
    if (step().question) recall();
  }

  // What was said before a step in its section, as far as it is near.
  void recall() {
    constexpr std::size_t furthest = 4;
    std::size_t begin = at_;
    while (begin > 0 && at_ - begin < furthest && !begins_section(lesson_, lesson_.steps[begin])) --begin;
    std::vector<Block> blocks;
    for (std::size_t i = begin; i < at_; ++i)
      std::ranges::move(shown(lesson_, lesson_.steps[i], result_), std::back_inserter(blocks));
    terminal_.show(std::move(blocks));
  }

  void show_step() { terminal_.show(shown_whole(lesson_, step(), result_)); }

  void say(std::string sentence) { terminal_.show({Prose{text(std::move(sentence))}}); }

  void note(Note::Kind kind, Text line) { terminal_.show({Note{kind, {std::move(line)}}}); }

  std::string farewell() const {
    return terminal_.keeps_progress() ? "Your progress is saved." : "Your progress is not kept.";
  }

  void leave() {
    const bool is_of_course = !lesson_.document.folder;
    const std::string goes_on = is_of_course ? "attn lesson" : "attn lesson run " + lesson_.document.path;
    if (!terminal_.keeps_progress()) return say(farewell());
    terminal_.show({Prose{text(farewell(), " ", code(goes_on), " goes on from here.")}});
  }

  std::optional<std::string> read(bool LessonKey::*is_shown, std::string_view begin) {
    std::string says =
        fmt::format("[{}] {}", place_.empty() ? fmt::format("{}/{}", at_ + 1, keys_.size()) : place_, begin);
    for (const LessonKey& key : lesson_keys()) {
      if (key.*is_shown)
        says += fmt::format("{}{} {}", says.ends_with("] ") ? "" : " · ", key.name, key.does);
    }
    return terminal_.ask(says);
  }

  KeyPress pause() {
    for (;;) {
      const std::optional<std::string> typed = read(&LessonKey::at_pauses, "");
      if (!typed) return {LessonAction::quit};
      if (typed->empty()) return {LessonAction::next};
      if (const auto number = parsed<std::size_t>(*typed)) return {LessonAction::go, *number};
      const std::optional<KeyPress> pressed = key_press(*typed);
      if (pressed && pressed->action == LessonAction::help) {
        help();
      } else if (pressed && pressed->action == LessonAction::skip) {
        return {LessonAction::next};
      } else if (pressed && pressed->action != LessonAction::hint &&
                 pressed->action != LessonAction::answer) {
        return *pressed;
      } else {
        say(fmt::format("'{}' does nothing here. Press Enter to continue, or ? for help.", *typed));
      }
    }
  }

  KeyPress ask(const SolvedQuestion& solved) {
    for (std::size_t hints = 0;;) {
      const std::optional<std::string> typed = read(&LessonKey::at_questions, "Your answer");
      if (!typed) return {LessonAction::quit};
      const std::optional<KeyPress> pressed = key_press(*typed);
      if (!pressed) {
        if (is_right(solved, *typed, hints)) return {LessonAction::next};
      } else if (pressed->action == LessonAction::help) {
        help();
      } else if (pressed->action == LessonAction::hint) {
        hint(solved.question, hints++);
      } else if (pressed->action == LessonAction::answer) {
        note(Note::Kind::answer, text("The answer is ", strong(answer_of(solved)), "."));
        miss();
        return *pressed;
      } else if (pressed->action == LessonAction::next) {
        say("Type an answer, or s to skip the question.");
      } else {
        return *pressed;
      }
    }
  }

  void hint(const Question& question, std::size_t number) {
    const std::size_t count = question.hints.size();
    if (number >= count)
      return say(count == 0 ? "This question has no hint. Type a to see the answer."
                            : "No more hints. Type a to see the answer.");
    const std::string which = count == 1 ? "Hint: " : fmt::format("Hint {} of {}: ", number + 1, count);
    note(Note::Kind::hint, text(strong(which), question.hints[number]));
  }

  // A question whose solution was shown, or that was skipped, is asked again in a review.
  void miss() {
    tried_ = at_;
    change([&](LessonProgress& progress) {
      Answered& answered = progress.answers[keys_[at_]];
      if (!answered.right) answered.missed = true;
    });
  }

  bool is_right(const SolvedQuestion& solved, const std::string& typed, std::size_t hints) {
    const Judgment judged = judge(solved, typed);
    if (judged.mark == Judgment::Mark::unreadable) {
      say(judged.says);
      return false;
    }
    const bool right = judged.mark == Judgment::Mark::right;
    remember(typed, right);
    if (right) {
      note(Note::Kind::correct, text(strong("Correct: "), answer_of(solved), "."));
    } else {
      const std::string advice = hints < solved.question.hints.size()
                                     ? "Try again, or type h for a hint."
                                     : "Try again, or type a for the answer.";
      note(Note::Kind::wrong, text(strong("Not yet. "), judged.says.empty() ? advice : judged.says));
    }
    return right;
  }

  void remember(const std::string& typed, bool right) {
    const bool is_first_try = tried_ != at_;
    tried_ = at_;
    change([&](LessonProgress& progress) {
      const auto [found, is_new] = progress.answers.try_emplace(keys_[at_]);
      Answered& answered = found->second;
      answered.text = typed;
      answered.right = right;
      if (is_new) answered.first = right;
      answered.missed = !right || (answered.missed && !is_first_try);
    });
  }

  void help() {
    Listing listing{{"key", "what it does"}, {}};
    for (const LessonKey& key : lesson_keys()) {
      std::string name(key.name);
      for (const std::string& word : parted(key.words, " ")) name += ", " + word;
      listing.rows.push_back({std::move(name), std::string(key.about)});
    }
    terminal_.show({std::move(listing)});
  }

  void list() {
    Listing listing{{"", "step", "what"}, {}};
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const std::string_view sign = i == at_ ? ">" : is_missed(i) ? "✗" : is_done(i) ? "✓" : "";
      listing.rows.push_back({std::string(sign), std::to_string(i + 1), gist_of(lesson_, lesson_.steps[i])});
    }
    terminal_.show({std::move(listing), Prose{text("> you are here   ✓ done   ✗ missed. Type ", code("go N"),
                                                   " to go to step N.")}});
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const Lesson& lesson_;
  const LessonResult& result_;
  LessonTerminal& terminal_;
  LessonProgress progress_;
  std::vector<std::string> keys_;
  std::size_t at_ = 0;
  std::size_t tried_ = none;  // the step at which the last answer was given
  bool shows_ = true;         // whether the step is still to be shown
  std::string place_;         // "2/5" in a review; otherwise the steps are counted
};

}  // namespace

SessionEnd take(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                std::optional<std::size_t> step) {
  return Session(lesson, result, terminal).take(step);
}

SessionEnd review(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal) {
  return Session(lesson, result, terminal).review();
}

}  // namespace attn
