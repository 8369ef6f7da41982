#include "lesson/asking.hpp"

#include <fmt/format.h>

#include <utility>

#include "lesson/first_step.hpp"
#include "lesson/hints.hpp"

namespace attn {
namespace {

// One question at one terminal.
class Asking {
 public:
  Asking(const SolvedQuestion& solved, const AskedAt& at, const AnswerKept& kept)
      : solved_(solved), at_(at), kept_(kept), hints_(solved.question.hints, "question", "the answer") {}

  KeyPress ask() {
    for (;;) {
      const std::optional<std::string> typed = at_.conversation.ask(
          fmt::format("[{}] {}", at_.place, prompt_of(at_.keys, &LessonKey::at_questions, "Your answer")));
      if (!typed) return {LessonAction::quit};
      const std::optional<KeyPress> pressed = key_press(*typed, at_.keys);
      if (!pressed) {
        if (is_right(*typed)) return {LessonAction::next};
      } else if (pressed->action == LessonAction::help) {
        at_.conversation.show({listing_of(at_.keys)});
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

  bool is_right(const std::string& typed) {
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
      note(Note::Kind::correct, text(strong("Correct: "), answer_of(solved_), "."));
      return true;
    }
    ++misses_;
    std::vector<Text> lines;
    if (!judged.says.empty()) lines.push_back(text(judged.says));
    if (std::string help = help_after(judged); !help.empty()) lines.push_back(text(std::move(help)));
    lines.front().insert(lines.front().begin(), strong("Not yet. "));
    at_.conversation.show({Note{Note::Kind::wrong, std::move(lines)}});
    return false;
  }

  // What was wrong is enough at first. After two misses a hint is offered, and with the third comes the first
  // step of the solution.
  std::string help_after(const Judgment& judged) const {
    const std::string advice = hints_.advice();
    const std::string step = misses_ == 3 ? first_step(solved_) : "";
    if (!step.empty()) return fmt::format("The first step: {}. {}", step, advice);
    return misses_ > 1 || judged.says.empty() ? advice : "";
  }

  const SolvedQuestion& solved_;
  const AskedAt& at_;
  const AnswerKept& kept_;
  Hints hints_;
  std::size_t misses_ = 0;  // wrong answers
};

}  // namespace

KeyPress ask(const SolvedQuestion& solved, const AskedAt& at, const AnswerKept& kept) {
  return Asking(solved, at, kept).ask();
}

}  // namespace attn
