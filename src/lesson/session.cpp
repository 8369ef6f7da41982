#include "lesson/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lesson/judge.hpp"
#include "lesson/keys.hpp"
#include "lesson/show.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

// One lesson at one desk.
class Session {
 public:
  Session(const Lesson& lesson, const WorkedLesson& worked, Desk& desk)
      : lesson_(lesson),
        worked_(worked),
        desk_(desk),
        mine_(desk.progress().lessons[progress_name(lesson)]),
        keys_(keys_of(lesson)) {}

  Ended take(std::optional<std::size_t> step) {
    at_ = step.value_or(next_undone(0));
    if (at_ >= lesson_.steps.size()) at_ = 0;  // all is done: once more
    if (at_ == 0) {
      desk_.show(opening_of(lesson_));
    } else {
      desk_.show({Heading{1, text(lesson_.title)}});
      arrive();
    }
    while (at_ < lesson_.steps.size()) {
      if (shows_) show_step();
      shows_ = true;
      const Pressed pressed = this->step().question ? ask(posed()) : pause();
      if (!go(pressed)) return Ended::left;
    }
    desk_.show(closing_of(lesson_, standing_of(lesson_, mine_)));
    return Ended::finished;
  }

  Ended review() {
    std::vector<std::size_t> missed;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (lesson_.steps[i].question && is_missed(i)) missed.push_back(i);
    }
    desk_.show({Heading{2, text("Review: ", lesson_.title)}});
    for (std::size_t i = 0; i < missed.size(); ++i) {
      at_ = missed[i];
      place_ = fmt::format("{}/{}", i + 1, missed.size());
      recall();
      show_step();
      for (bool stays = true; stays;) {
        const Pressed pressed = ask(posed());
        if (pressed.deed == Deed::quit) {
          say("Your progress is saved.");
          return Ended::left;
        }
        stays = pressed.deed == Deed::list || pressed.deed == Deed::go || pressed.deed == Deed::back;
        if (stays) say("A review asks one question after another: s skips this one.");
      }
    }
    return Ended::finished;
  }

 private:
  const LessonStep& step() const { return lesson_.steps[at_]; }
  const Posed& posed() const { return worked_.posed[*step().question]; }
  // Another session may have gone on with another lesson: only this one's progress is replaced.
  void save() {
    CourseProgress all = desk_.progress();
    all.last = progress_name(lesson_);
    all.lessons[all.last] = mine_;
    desk_.save(all);
  }

  // Goes where a key leads; false: out of the lesson.
  bool go(const Pressed& pressed) {
    switch (pressed.deed) {
      case Deed::quit:
        leave();
        return false;
      case Deed::skip:
        miss();
        [[fallthrough]];
      case Deed::next:
      case Deed::answer:
        finish_step();
        return true;
      case Deed::back:
        at_ -= std::min<std::size_t>(at_, 1);
        return true;
      case Deed::go:
        jump_to(pressed.step);
        return true;
      case Deed::list:
        list();
        break;
      case Deed::help:
      case Deed::hint:
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
    if (is_new) mine_.done.push_back(keys_[at_]);
    save();
    at_ = is_new ? next_undone(next) : next;
    if (at_ > next && at_ < lesson_.steps.size()) arrive();
  }

  // The first step from this one on that is not done, or the end.
  std::size_t next_undone(std::size_t from) const {
    while (from < lesson_.steps.size() && is_done(from)) ++from;
    return from;
  }

  bool is_done(std::size_t i) const { return std::ranges::find(mine_.done, keys_[i]) != mine_.done.end(); }

  bool is_missed(std::size_t i) const {
    const auto answer = mine_.answers.find(keys_[i]);
    return answer != mine_.answers.end() && answer->second.missed;
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
      std::ranges::move(shown(lesson_, lesson_.steps[i], worked_), std::back_inserter(blocks));
    desk_.show(std::move(blocks));
  }

  void show_step() { desk_.show(shown_whole(lesson_, step(), worked_)); }

  void say(std::string sentence) { desk_.show({Prose{text(std::move(sentence))}}); }

  void note(Note::Kind kind, Text line) { desk_.show({Note{kind, {std::move(line)}}}); }

  void leave() {
    const bool is_of_course = !lesson_.document.folder;
    const std::string goes_on = is_of_course ? "attn lesson" : "attn lesson run " + lesson_.document.path;
    desk_.show({Prose{text("Your progress is saved. ", code(goes_on), " goes on from here.")}});
  }

  std::optional<std::string> read(bool LessonKey::*is_shown, std::string_view begin) {
    std::string says =
        fmt::format("[{}] {}", place_.empty() ? fmt::format("{}/{}", at_ + 1, keys_.size()) : place_, begin);
    for (const LessonKey& key : lesson_keys()) {
      if (key.*is_shown)
        says += fmt::format("{}{} {}", says.ends_with("] ") ? "" : " · ", key.name, key.does);
    }
    return desk_.ask(says);
  }

  Pressed pause() {
    for (;;) {
      const std::optional<std::string> typed = read(&LessonKey::at_pauses, "");
      if (!typed) return {Deed::quit};
      if (typed->empty()) return {Deed::next};
      if (const auto number = parsed<std::size_t>(*typed)) return {Deed::go, *number};
      const std::optional<Pressed> pressed = attn::pressed(*typed);
      if (pressed && pressed->deed == Deed::help) {
        help();
      } else if (pressed && pressed->deed == Deed::skip) {
        return {Deed::next};
      } else if (pressed && pressed->deed != Deed::hint && pressed->deed != Deed::answer) {
        return *pressed;
      } else {
        say(fmt::format("'{}' does nothing here. Press Enter to continue, or ? for help.", *typed));
      }
    }
  }

  Pressed ask(const Posed& posed) {
    for (std::size_t hints = 0;;) {
      const std::optional<std::string> typed = read(&LessonKey::at_questions, "Your answer");
      if (!typed) return {Deed::quit};
      const std::optional<Pressed> pressed = attn::pressed(*typed);
      if (!pressed) {
        if (is_right(posed, *typed, hints)) return {Deed::next};
      } else if (pressed->deed == Deed::help) {
        help();
      } else if (pressed->deed == Deed::hint) {
        hint(posed.question, hints++);
      } else if (pressed->deed == Deed::answer) {
        note(Note::Kind::answer, text("The answer is ", strong(answer_of(posed)), "."));
        miss();
        return *pressed;
      } else if (pressed->deed == Deed::next) {
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
    Answered& answered = mine_.answers[keys_[at_]];
    if (!answered.right) answered.missed = true;
    save();
  }

  bool is_right(const Posed& posed, const std::string& typed, std::size_t hints) {
    const Judged judged = judge(posed, typed);
    if (judged.mark == Judged::Mark::unreadable) {
      say(judged.says);
      return false;
    }
    const bool right = judged.mark == Judged::Mark::right;
    remember(typed, right);
    if (right) {
      note(Note::Kind::correct, text(strong("Correct: "), answer_of(posed), "."));
    } else {
      const std::string advice = hints < posed.question.hints.size() ? "Try again, or type h for a hint."
                                                                     : "Try again, or type a for the answer.";
      note(Note::Kind::wrong, text(strong("Not yet. "), judged.says.empty() ? advice : judged.says));
    }
    return right;
  }

  void remember(const std::string& typed, bool right) {
    const bool is_first_try = tried_ != at_;
    tried_ = at_;
    const auto [found, is_new] = mine_.answers.try_emplace(keys_[at_]);
    Answered& answered = found->second;
    answered.text = typed;
    answered.right = right;
    if (is_new) answered.first = right;
    answered.missed = !right || (answered.missed && !is_first_try);
    save();
  }

  void help() {
    Listing listing{{"key", "what it does"}, {}};
    for (const LessonKey& key : lesson_keys()) {
      std::string name(key.name);
      for (const std::string& word : parted(key.words, " ")) name += ", " + word;
      listing.rows.push_back({std::move(name), std::string(key.about)});
    }
    desk_.show({std::move(listing)});
  }

  void list() {
    Listing listing{{"", "step", "what"}, {}};
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const std::string_view sign = i == at_ ? ">" : is_missed(i) ? "✗" : is_done(i) ? "✓" : "";
      listing.rows.push_back({std::string(sign), std::to_string(i + 1), gist_of(lesson_, lesson_.steps[i])});
    }
    desk_.show({std::move(listing),
                Prose{text("> you are here   ✓ done   ✗ missed. Type ", code("go N"), " to go to step N.")}});
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const Lesson& lesson_;
  const WorkedLesson& worked_;
  Desk& desk_;
  LessonProgress mine_;
  std::vector<std::string> keys_;
  std::size_t at_ = 0;
  std::size_t tried_ = none;  // the step at which the last answer was given
  bool shows_ = true;         // whether the step is still to be shown
  std::string place_;         // "2/5" in a review; otherwise the steps are counted
};

}  // namespace

Ended take(const Lesson& lesson, const WorkedLesson& worked, Desk& desk, std::optional<std::size_t> step) {
  return Session(lesson, worked, desk).take(step);
}

Ended review(const Lesson& lesson, const WorkedLesson& worked, Desk& desk) {
  return Session(lesson, worked, desk).review();
}

}  // namespace attn
