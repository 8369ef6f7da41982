#include "lesson/session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lesson/judge.hpp"
#include "lesson/keys.hpp"
#include "lesson/progress.hpp"
#include "lesson/show.hpp"
#include "render/format.hpp"
#include "render/width.hpp"

namespace attn {
namespace {

// One lesson at one desk.
class Session {
 public:
  Session(const Lesson& lesson, const WorkedLesson& worked, const Desk& desk)
      : lesson_(lesson),
        worked_(worked),
        desk_(desk),
        mine_(all_progress()[progress_name(lesson)]),
        keys_(keys_of(lesson)) {}

  void run() {
    show(opening_of(lesson_));
    at_ = next_undone(0);
    if (at_ == lesson_.steps.size()) at_ = 0;  // all is done: once more
    if (at_ > 0) say_where();
    bool shows = true;
    while (at_ < lesson_.steps.size()) {
      if (shows) show(shown(lesson_, step(), worked_));
      const Deed deed = step().question ? ask(worked_.posed[*step().question]) : pause();
      if (deed == Deed::quit) return say("What you have done is kept. Go on with the same command.");
      shows = deed != Deed::list;
      if (deed == Deed::list) list();
      if (deed == Deed::back) at_ -= std::min<std::size_t>(at_, 1);
      if (deed == Deed::next) finish_step();
    }
    say(fmt::format("That is the end of the lesson: {} of {} questions answered rightly.", right(),
                    worked_.posed.size()));
  }

 private:
  const LessonStep& step() const { return lesson_.steps[at_]; }
  Progress all_progress() const { return read_progress(desk_.state); }

  // Another session may have gone on with another lesson: only this one's progress is replaced.
  void save() const {
    Progress all = all_progress();
    all[progress_name(lesson_)] = mine_;
    desk_.terminal.save({desk_.state, bytes_of(all)});
  }

  // Whoever reads again what is done already gets all of it; whoever does something new goes on with what is
  // not done yet.
  void finish_step() {
    const std::size_t next = at_ + 1;
    const bool is_new = !is_done(at_);
    if (is_new) mine_.done.push_back(keys_[at_]);
    save();
    at_ = is_new ? next_undone(next) : next;
    if (at_ > next && at_ < lesson_.steps.size()) say_where();
  }

  // The first step from this one on that is not done, or the end.
  std::size_t next_undone(std::size_t from) const {
    while (from < lesson_.steps.size() && is_done(from)) ++from;
    return from;
  }

  void say_where() const { say(fmt::format("You go on at step {}; b goes back.", at_ + 1)); }

  bool is_done(std::size_t i) const { return std::ranges::find(mine_.done, keys_[i]) != mine_.done.end(); }

  std::size_t right() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto found = mine_.answers.find(keys_[i]);
      count += lesson_.steps[i].question && found != mine_.answers.end() && found->second.right;
    }
    return count;
  }

  void show(std::vector<Block> blocks) const {
    if (blocks.empty()) return;
    Page page;
    page.blocks = std::move(blocks);
    Sink sink([&](std::string_view bytes) { desk_.terminal.write(bytes); });
    sink.write("\n");
    render_text(page, desk_.style, sink);
    sink.flush();
  }

  void say(std::string sentence) const { show({Prose{text(std::move(sentence))}}); }

  // What can be done here, so that nobody is ever lost, and a line of its own for what is typed. Nothing:
  // there is no more input.
  std::optional<std::string> read(std::string_view begin, std::string_view keys) const {
    std::string line = fmt::format("\n[{}/{}] {}", at_ + 1, lesson_.steps.size(), begin);
    for (const LessonKey& key : lesson_keys) {
      if (keys.find(key.name) != std::string_view::npos) line += fmt::format(" · {} {}", key.name, key.does);
    }
    line += "\n> ";
    desk_.terminal.write(desk_.style.unicode ? line : in_ascii(line));
    const std::optional<std::string> typed = desk_.terminal.read_line();
    if (!typed) return std::nullopt;
    return std::string(trimmed(*typed));
  }

  Deed pause() const {
    constexpr std::string_view keys_here = "blq";
    for (;;) {
      const std::optional<std::string> typed = read("Enter next", keys_here);
      if (!typed) return Deed::quit;
      if (typed->empty()) return Deed::next;
      const auto key = std::ranges::find(lesson_keys, *typed, &LessonKey::name);
      if (key != lesson_keys.end() && keys_here.find(key->name) != std::string_view::npos) return key->deed;
      say(fmt::format("'{}' means nothing here: Enter goes on.", *typed));
    }
  }

  Deed ask(const Posed& posed) {
    show(shown(posed.question));
    for (std::size_t hints = 0;;) {
      const std::optional<std::string> typed = read("Your answer", "hasblq");
      if (!typed) return Deed::quit;
      const auto key = std::ranges::find(lesson_keys, *typed, &LessonKey::name);
      if (key == lesson_keys.end()) {
        if (is_right(posed, *typed)) return Deed::next;
      } else if (key->deed == Deed::hint) {
        hint(posed.question, hints++);
      } else if (key->deed == Deed::answer) {
        say(fmt::format("It is {}.", answer_of(posed)));
        return Deed::next;
      } else {
        return key->deed == Deed::skip ? Deed::next : key->deed;
      }
    }
  }

  void hint(const Question& question, std::size_t number) const {
    if (number >= question.hints.size()) return say("There is no other hint; a shows the answer.");
    say(fmt::format("Hint: {}", question.hints[number]));
  }

  bool is_right(const Posed& posed, const std::string& typed) {
    const Judged judged = judge(posed, typed);
    if (judged.mark == Judged::Mark::unreadable) {
      say(judged.says + ".");
      return false;
    }
    const bool right = judged.mark == Judged::Mark::right;
    mine_.answers[keys_[at_]] = {typed, right};
    save();
    if (right) {
      say(fmt::format("Right: {}.", answer_of(posed)));
    } else {
      say(fmt::format("Not yet. {}", judged.says.empty() ? "Try again, or h for a hint." : judged.says));
    }
    return right;
  }

  void list() const {
    Listing listing{{"", "step", "what"}, {}};
    for (std::size_t i = 0; i < lesson_.steps.size(); ++i) {
      const std::string_view sign = i == at_ ? ">" : is_done(i) ? "x" : "";
      listing.rows.push_back({std::string(sign), std::to_string(i + 1), gist_of(lesson_, lesson_.steps[i])});
    }
    show({std::move(listing), Prose{text("> is where you are, x is done.")}});
  }

  const Lesson& lesson_;
  const WorkedLesson& worked_;
  const Desk& desk_;
  LessonProgress mine_;
  std::vector<std::string> keys_;
  std::size_t at_ = 0;
};

}  // namespace

void take(const Lesson& lesson, const WorkedLesson& worked, const Desk& desk) {
  Session(lesson, worked, desk).run();
}

}  // namespace attn
