#include "school/lesson/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/show.hpp"
#include "school/puzzle/trial.hpp"

namespace attn {

namespace {

constexpr std::array keys_of_puzzles = {
    key::hint,
    saying(key::answer, "solution", "shows a solution"),
    key::help,
    saying(key::quit, "quit", "ends the puzzle"),
};

// What can be typed at a puzzle and is no key elsewhere.
constexpr std::string_view show_word = "show", reset_word = "reset";

// Help is offered with the second try that misses, and then now and again: one tries often.
constexpr std::size_t tries_between_advice = 3;

// One puzzle at one terminal.
class Play {
 public:
  Play(const Puzzle& puzzle, const RunCommand& run, const QuestionContext& at)
      : puzzle_(puzzle),
        run_(run),
        at_(at),
        settings_(settings_at_start(puzzle)),
        hints_(puzzle.hints, "puzzle", "a solution") {}

  KeyPress play() {
    show_numbers();
    for (;;) {
      const std::optional<std::string> typed = at_.conversation.ask(line_to_ask());
      if (!typed) return {LessonAction::quit};
      const std::optional<KeyPress> pressed = key_press(*typed, at_.keys);
      if (*typed == show_word) {
        at_.conversation.show(opening_of(puzzle_));
        show_numbers();
      } else if (*typed == reset_word) {
        settings_ = settings_at_start(puzzle_);
        show_numbers();
      } else if (typed->empty() || (pressed && pressed->action == LessonAction::next)) {
        at_.conversation.say(fmt::format("Set a number, or type {}.", way_out()));
      } else if (!pressed) {
        if (is_solved_by(*typed)) return {LessonAction::next};
      } else if (pressed->action == LessonAction::help) {
        help();
      } else if (pressed->action == LessonAction::hint) {
        hints_.show_next(at_.conversation);
      } else if (pressed->action == LessonAction::answer) {
        solution();
      } else {
        return *pressed;
      }
    }
  }

 private:
  std::string name() const { return std::string(puzzle_.unknowns.front().name()); }

  // "w_q = … or w_k = …"
  std::string names() const {
    std::string all;
    for (const Unknown& unknown : puzzle_.unknowns)
      all += fmt::format("{}{} = …", all.empty() ? "" : " or ", unknown.name());
    return all;
  }

  std::string line_to_ask() const {
    const std::string place = at_.place.empty() ? "" : fmt::format("[{}] ", at_.place);
    return place + prompt_of(at_.keys, &LessonKey::at_questions, names() + " sets it");
  }

  // How to go on without a solution.
  std::string way_out() const {
    const bool can_skip = std::ranges::find(at_.keys, LessonAction::skip, &LessonKey::action) != at_.keys.end();
    return can_skip ? "s to skip the puzzle" : "q to quit";
  }

  void show_numbers() {
    try {
      at_.conversation.show(numbers_of(puzzle_, trial_of(puzzle_, settings_, run_)));
    } catch (const InputError& error) {
      at_.conversation.say(error.what());
    }
  }

  // What cannot be read or computed changes nothing.
  bool is_solved_by(const std::string& typed) {
    try {
      Settings changed = settings_;
      assign(puzzle_, typed, changed);
      const Trial trial = trial_of(puzzle_, std::move(changed), run_);
      settings_ = trial.settings;
      std::vector<Block> blocks = numbers_of(puzzle_, trial);
      blocks.push_back(verdict_of(puzzle_, trial));
      if (!trial.is_solved() && ++misses_ % tries_between_advice == 2)
        blocks.emplace_back(Prose{text(hints_.advice())});
      at_.conversation.show(std::move(blocks));
      return trial.is_solved();
    } catch (const InputError& error) {
      at_.conversation.say(error.what());
      return false;
    }
  }

  void solution() {
    if (puzzle_.solution.empty()) return at_.conversation.say("Its author gave no solution.");
    Note note{Note::Kind::answer, {text("One of the solutions. Type it, and see what it does:")}};
    for (const std::string& line : puzzle_.solution) note.lines.push_back(text(code(line)));
    at_.conversation.show({std::move(note)});
  }

  void help() {
    at_.conversation.show({Listing{{"what you type", "what it does"},
                                   {{name() + " = " + matrix_as_typed(settings_.front()),
                                     "sets all its numbers: a row, ;, and the next row"},
                                    {name() + "[1,1] = 3", "sets one; 1/2 or cos(1) is a number too"},
                                    {std::string(show_word), "shows the task and your numbers again"},
                                    {std::string(reset_word), "sets all numbers back"}}},
                           listing_of(at_.keys)});
  }

  const Puzzle& puzzle_;
  const RunCommand& run_;
  const QuestionContext& at_;
  Settings settings_;
  Hints hints_;
  std::size_t misses_ = 0;  // tries that did not solve it
};

}  // namespace

std::span<const LessonKey> puzzle_keys() { return keys_of_puzzles; }

KeyPress solve_puzzle(const Puzzle& puzzle, const RunCommand& run, const QuestionContext& at,
                      const std::function<void()>& solved) {
  const KeyPress pressed = Play(puzzle, run, at).play();
  if (pressed.action == LessonAction::next) solved();
  return pressed;
}

void mark_solved(const Puzzle& puzzle, CourseProgress& progress) {
  if (!puzzle.name.empty()) progress.puzzles.insert(puzzle.name);
}

}  // namespace attn
