#include "school/lesson/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/support/text.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"
#include "school/tutor/question.hpp"

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
      if (is_passed_over(at_)) {
        finish_step();
        continue;
      }
      if (shows_) show_step();
      shows_ = true;
      const KeyPress pressed = this->step().question ? ask(solved()) : this->step().puzzle ? play_puzzle() : pause();
      if (!go(pressed)) return SessionEnd::left;
    }
    if (!progress_.repetition)
      change([&](LessonProgress& progress) { progress.repetition = Repetition{.day = terminal_.today()}; });
    terminal_.show(closing_of(lesson_, counts_of(lesson_, progress_)));
    return SessionEnd::finished;
  }

  SessionEnd review(std::optional<std::size_t> step) {
    std::vector<std::size_t> missed;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (step ? i == *step : is_missed(i)) missed.push_back(i);
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
        if (step().question) miss();
        [[fallthrough]];
      case LessonAction::next:
      case LessonAction::answer:
        finish_step();
        return true;
      case LessonAction::back:
        do {
          at_ -= std::min<std::size_t>(at_, 1);
        } while (at_ > 0 && is_passed_over(at_));
        return true;
      case LessonAction::go:
        jump_to(pressed.step);
        return true;
      case LessonAction::list:
        list();
        break;
      case LessonAction::help:
      case LessonAction::hint:
      case LessonAction::explore:
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
      if (std::ranges::find(progress.done, keys_[at_]) == progress.done.end()) progress.done.push_back(keys_[at_]);
    });
    at_ = is_new ? next_undone(next) : next;
    if (at_ > next && at_ < lesson_.steps.size()) arrive();
  }

  // The first step from this one on that is not done, or the end.
  std::size_t next_undone(std::size_t from) const {
    while (from < lesson_.steps.size() && is_done(from)) ++from;
    return from;
  }

  bool is_done(std::size_t i) const { return std::ranges::find(progress_.done, keys_[i]) != progress_.done.end(); }

  bool is_missed(std::size_t i) const {
    const std::optional<std::size_t> question = lesson_.steps[i].question;
    if (!question || lesson_.questions[*question].predicts) return false;
    const auto answer = progress_.answers.find(keys_[i]);
    return answer != progress_.answers.end() && answer->second.missed;
  }

  // A reason is asked for only where the question before it was answered correctly.
  bool is_passed_over(std::size_t i) const {
    const auto asks = [&](std::size_t step) {
      const std::optional<std::size_t> question = lesson_.steps[step].question;
      return question ? &lesson_.questions[*question] : nullptr;
    };
    if (!asks(i) || !asks(i)->asks_why) return false;
    while (i > 0 && (!asks(i) || asks(i)->asks_why)) --i;
    const auto answer = progress_.answers.find(keys_[i]);
    return answer == progress_.answers.end() || !answer->second.right;
  }

  // A step that does not follow the one before it: what a question is about is shown again.
  void arrive() {
    say(fmt::format("You are at step {} of {}. (b: one step back)", at_ + 1, lesson_.steps.size()));
    if (step().question || step().puzzle) recall();
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

  void say(std::string sentence) { terminal_.say(std::move(sentence)); }

  std::string farewell() const {
    return terminal_.keeps_progress() ? "Your progress is saved." : "Your progress is not kept.";
  }

  void leave() {
    const bool is_of_course = !lesson_.document.folder;
    const std::string goes_on = is_of_course ? "attn lesson" : "attn lesson run " + lesson_.document.path;
    if (!terminal_.keeps_progress()) return say(farewell());
    terminal_.show({Prose{text(farewell(), " ", code(goes_on), " goes on from here.")}});
  }

  // Where the reader is: "3/9".
  std::string place() const { return place_.empty() ? fmt::format("{}/{}", at_ + 1, keys_.size()) : place_; }

  KeyPress play_puzzle() {
    const Puzzle& puzzle = lesson_.puzzles[*step().puzzle];
    return solve_puzzle(puzzle, result_.run, {terminal_, lesson_keys(), place()},
                        [&] { terminal_.change([&](CourseProgress& progress) { mark_solved(puzzle, progress); }); });
  }

  KeyPress pause() {
    for (;;) {
      const std::optional<std::string> typed =
          terminal_.ask(fmt::format("[{}] {}", place(), prompt_of(lesson_keys(), &LessonKey::at_pauses, "")));
      if (!typed) return {LessonAction::quit};
      if (typed->empty()) return {LessonAction::next};
      if (const auto number = parse_number<std::size_t>(*typed)) return {LessonAction::go, *number};
      const std::optional<KeyPress> pressed = key_press(*typed);
      if (pressed && pressed->action == LessonAction::help) {
        terminal_.show({listing_of(lesson_keys())});
      } else if (pressed && pressed->action == LessonAction::skip) {
        return {LessonAction::next};
      } else if (pressed && pressed->action != LessonAction::hint && pressed->action != LessonAction::answer &&
                 pressed->action != LessonAction::explore) {
        return *pressed;
      } else {
        say(fmt::format("'{}' does nothing here. Press Enter to continue, or ? for help.", *typed));
      }
    }
  }

  KeyPress ask(const SolvedQuestion& solved) {
    return attn::ask(solved, {terminal_, lesson_keys(), place()},
                     {[&](const std::string& typed, bool right) { remember(typed, right); }, [&] { miss(); }});
  }

  // A question whose solution was shown, or that was skipped, is asked again in a review.
  void miss() {
    tried_ = at_;
    change([&](LessonProgress& progress) {
      AnswerRecord& answered = progress.answers[keys_[at_]];
      if (!answered.right) answered.missed = true;
    });
  }

  void remember(const std::string& typed, bool right) {
    const bool is_first_try = tried_ != at_;
    tried_ = at_;
    change([&](LessonProgress& progress) {
      const auto [found, is_new] = progress.answers.try_emplace(keys_[at_]);
      AnswerRecord& answered = found->second;
      answered.text = typed;
      answered.right = right;
      if (is_new) answered.first = right;
      answered.missed = !right || (answered.missed && !is_first_try);
    });
  }

  void list() {
    Listing listing{{"", "step", "what"}, {}};
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const std::string_view sign = i == at_ ? ">" : is_missed(i) ? "✗" : is_done(i) ? "✓" : "";
      listing.rows.push_back({std::string(sign), std::to_string(i + 1), gist_of(lesson_, lesson_.steps[i])});
    }
    terminal_.show({std::move(listing),
                    Prose{text("> you are here   ✓ done   ✗ missed. Type ", code("go N"), " to go to step N.")}});
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

SessionEnd run_session(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                       std::optional<std::size_t> step) {
  return Session(lesson, result, terminal).take(step);
}

SessionEnd review(const Lesson& lesson, const LessonResult& result, LessonTerminal& terminal,
                  std::optional<std::size_t> step) {
  return Session(lesson, result, terminal).review(step);
}

}  // namespace attn
