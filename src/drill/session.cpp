#include "drill/session.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "lesson/asking.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::array keys = {
    saying(key::next, "next problem", "goes on to the next problem"),
    key::hint,
    saying(key::answer, "answer", "shows the answer and how it comes about"),
    saying(key::skip, "skip", "goes on to another problem; this one does not count"),
    key::help,
    saying(key::quit, "quit", "ends the drill"),
};

// How many problems were answered at the first try, of how many, and how many in a row without a miss.
struct Score {
  std::size_t first = 0, asked = 0, streak = 0, best_streak = 0;

  void count(bool is_first) {
    ++asked;
    first += is_first ? 1 : 0;
    streak = is_first ? streak + 1 : 0;
    best_streak = std::max(best_streak, streak);
  }
};

class DrillSession {
 public:
  DrillSession(DrillSeries series, const RunCommand& run, Conversation& conversation)
      : series_(std::move(series)), run_(run), conversation_(conversation) {}

  void take() {
    for (;;) {
      const LessonAction end = ask(series_.next());
      if (end == LessonAction::quit || (end != LessonAction::skip && !pause())) break;
    }
    if (score_.asked == 0) return;
    conversation_.say(fmt::format("{}, {} correct at the first try. Longest streak: {}.",
                                  count_of(score_.asked, "problem"), score_.first, score_.best_streak));
  }

 private:
  // How it ended: with a key that leads away, or answered.
  LessonAction ask(const DrawnProblem& drawn) {
    conversation_.show(shown(drawn, run_));
    bool missed = false;
    const AnswerKept kept{[&](const std::string&, bool right) { missed = missed || !right; },
                          [&] { missed = true; }};
    const std::string place = std::to_string(score_.asked + 1);
    const LessonAction end = attn::ask(drawn.solved, {conversation_, keys, place}, kept).action;
    if (end == LessonAction::quit || end == LessonAction::skip) return end;
    score_.count(!missed);
    conversation_.show(solution_of(drawn, run_));
    return end;
  }

  // Whether the reader goes on.
  bool pause() {
    for (;;) {
      const std::optional<std::string> typed =
          conversation_.ask(fmt::format("[{} of {} correct · streak {}] {}", score_.first, score_.asked,
                                        score_.streak, prompt_of(keys, &LessonKey::at_pauses, "")));
      if (!typed) return false;
      if (typed->empty()) return true;
      const std::optional<KeyPress> pressed = key_press(*typed, keys);
      if (pressed && pressed->action == LessonAction::quit) return false;
      if (pressed && pressed->action == LessonAction::next) return true;
      if (pressed && pressed->action == LessonAction::help) {
        conversation_.show({listing_of(keys)});
      } else {
        conversation_.say(
            fmt::format("'{}' does nothing here. Press Enter for the next problem, or q to end.", *typed));
      }
    }
  }

  DrillSeries series_;
  const RunCommand& run_;
  Conversation& conversation_;
  Score score_;
};

}  // namespace

void take_drill(DrillSeries series, const RunCommand& run, Conversation& conversation,
                std::vector<Block> begin) {
  conversation.show(std::move(begin));
  DrillSession(std::move(series), run, conversation).take();
}

}  // namespace attn
