#include "draws.hpp"
#include "school/drill/review.hpp"
#include "school/lesson/course.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "command/docs.hpp"
#include "process.hpp"
#include "school/drill/drill.hpp"
#include "school/lesson/lesson.hpp"
#include "terminals.hpp"

using namespace attn;

namespace {

// A terminal of 24 rows at which everything is typed in advance; pauses are passed with Enter.
class Typist final : public KeepingTerminal {
 public:
  void type(std::deque<std::string> lines) {
    lines_ = std::move(lines);
    shown_.clear();
  }
  void write(std::string_view shown) override { shown_ += shown; }
  std::optional<std::string> read_line(std::string_view) override {
    if (lines_.empty()) return std::nullopt;
    const std::string line = lines_.front();
    lines_.pop_front();
    return line;
  }
  std::optional<char> read_key() override { return key; }
  TerminalSize size() const override { return {80, 24}; }

  const std::string& shown() const { return shown_; }
  bool shows(std::string_view what) const { return shown_.find(what) != std::string::npos; }

  char key = '\n';

 private:
  std::deque<std::string> lines_;
  std::string shown_;
};

LessonTerminal desk_at(Typist& typist) { return LessonTerminal(typist, {.width = 80}, typist.state()); }

// What answers every step of a lesson: Enter, or a word for each question.
std::deque<std::string> through(const Lesson& lesson, std::string_view to_questions) {
  std::deque<std::string> lines;
  for (const LessonStep& step : lesson.steps) {
    const bool asks_why = step.question && lesson.questions[*step.question].asks_why;
    if (!asks_why) lines.emplace_back(step.question || step.puzzle ? to_questions : "");  // no answer is right
  }
  return lines;
}

// Those that are asked of somebody who answers none correctly.
std::vector<SolvedQuestion> without_reasons(std::vector<SolvedQuestion> questions) {
  std::erase_if(questions, [](const SolvedQuestion& solved) { return solved.question.asks_why; });
  return questions;
}

constexpr std::size_t lines_of_prompt = 3;

}  // namespace

TEST_CASE("the course is shown with its lessons, and goes on where one was") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  typist.type({"", "q"});
  take_course(block_runner(), terminal);
  CHECK(typist.shows("Enter: go on with lesson 1 "));
  CHECK(typist.shows("After this lesson you can:"));
  typist.type({"", "", "q"});
  take_course(block_runner(), terminal);
  CHECK(typist.shows("Enter: go on with lesson 1 "));
  CHECK(lesson_to_continue(terminal.progress()) == "soft-lookup");
  CHECK(lesson_after_last(terminal.progress()) == "softmax-and-scaling");
  typist.type({"", "q"});
  take_course(block_runner(), terminal);
  CHECK(typist.shows("step 2/"));
  CHECK(typist.shows("You are at step 2 of "));
  CHECK_FALSE(typist.shows("After this lesson you can:"));
  typist.type({"?", "hint", "nonsense", "3", "q"});
  take_course(block_runner(), terminal);
  CHECK(typist.shows("Type the number or the name of a lesson."));
  CHECK(typist.shows("unknown lesson 'nonsense'"));
  CHECK(typist.shows(find_lesson("3").title));
}

TEST_CASE("the end of a lesson says what one can do, what to try, and what comes next") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  const Lesson lesson = find_lesson("1");
  std::deque<std::string> lines = through(lesson, "s");
  lines.insert(lines.end(), {"", "q"});
  typist.type(lines);
  take_from(lesson, block_runner(), terminal);
  CHECK(typist.shows("You can now:"));
  CHECK(typist.shows("- " + lesson.can.front()));
  CHECK(typist.shows("$ " + lesson.try_it));
  CHECK(typist.shows("Next: lesson 2, "));
  CHECK(typist.shows(find_lesson("2").title));
  CHECK(counts_of(lesson, terminal.progress().lessons.at(lesson.name)).is_finished());
}

TEST_CASE("the main road is taken first, and a side road is offered where its last lesson ends") {
  CourseProgress progress;
  const auto finish = [&](const Lesson& lesson) {
    progress.lessons[lesson.name].done = keys_of(lesson);
    progress.last = lesson.name;
  };
  CHECK(lesson_to_continue(progress) == "soft-lookup");
  finish(find_lesson("scoring-functions"));
  CHECK(lesson_to_continue(progress) == "soft-lookup");
  finish(find_lesson("soft-lookup"));
  CHECK(lesson_after_last(progress) == "softmax-and-scaling");
  for (const Lesson& lesson : built_in_lessons()) {
    if (lesson.road == Road::main) finish(lesson);
  }
  progress.last = "soft-lookup";
  const std::optional<std::string> side = lesson_after_last(progress);
  REQUIRE(side);
  CHECK(find_lesson(*side).road == Road::side);
  for (const Lesson& lesson : built_in_lessons()) finish(lesson);
  CHECK_FALSE(lesson_after_last(progress));
}

TEST_CASE("the end of a lesson names the side roads that begin there, and takes the one that is typed") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  const auto take_lesson = [&](const Lesson& lesson, std::initializer_list<std::string> afterwards) {
    std::deque<std::string> lines = through(lesson, "s");
    lines.insert(lines.end(), afterwards);
    typist.type(lines);
    take_from(lesson, block_runner(), terminal);
  };
  take_lesson(find_lesson("2"), {"nonsense", "l", "12", "q"});
  CHECK(typist.shows("Next: lesson 3, "));
  CHECK(typist.shows("- lesson 12, Attention pooling"));
  CHECK(typist.shows("unknown lesson 'nonsense'"));
  CHECK(typist.shows("'l' does nothing here."));
  CHECK(typist.shows("Builds on lesson 2."));
  take_lesson(find_lesson("12"), {"q"});
  CHECK(typist.shows("Next: lesson 1, "));
  CHECK_FALSE(typist.shows("Side roads from here"));
}

TEST_CASE("the main road stands before the side roads, and each lesson needs only what comes before it") {
  Road road = Road::main;
  std::vector<std::string> before;
  for (const Lesson& lesson : built_in_lessons()) {
    CAPTURE(lesson.name);
    CHECK_FALSE(bool(road == Road::side && lesson.road == Road::main));
    road = lesson.road;
    for (const std::string& needed : lesson.needs) {
      CAPTURE(needed);
      CHECK(std::ranges::find(before, needed) != before.end());
      if (lesson.road == Road::main) CHECK(find_lesson(needed).road == Road::main);
    }
    before.push_back(lesson.name);
  }
}

TEST_CASE("a number of the main road is shown after its question, and asked for in one question only") {
  std::map<std::string, std::string> asked;  // a number with decimals, and by which lesson
  for (const Lesson& lesson : built_in_lessons()) {
    if (lesson.road != Road::main) continue;
    const LessonResult result = execute(lesson, block_runner());
    for (const SolvedQuestion& solved : result.questions) {
      const double* const number = std::get_if<double>(&solved.answer);
      if (!number || std::fabs(*number - std::round(*number)) < 0.001) continue;
      CAPTURE(solved.question.ask);
      CHECK_MESSAGE(asked.try_emplace(fmt::format("{:.4f}", *number), lesson.name).second,
                    lesson.name << " asks for the number of " << asked[fmt::format("{:.4f}", *number)]);
      const std::array<std::string, 5> forms = {fmt::format("{:.2f}", *number), fmt::format("{:.3f}", *number),
                                                fmt::format("{:.4f}", *number), fmt::format("{}", *number),
                                                fmt::format("{:.1f}", 100 * *number)};
      bool is_shown = false;
      for (std::size_t i = 0; i < result.blocks.size(); ++i) {
        if (lesson.document.commands[i].fence.first_line < solved.question.place.line) continue;
        for (const std::string& line : result.blocks[i].printed.lines) {
          for (const std::string& form : forms) is_shown = is_shown || line.find(form) != std::string::npos;
        }
      }
      CHECK(is_shown);
    }
  }
}

TEST_CASE("what was missed is asked again, and no longer once it is answered at the first try") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  const Lesson lesson = find_lesson("1");
  const LessonResult result = execute(lesson, block_runner());
  std::deque<std::string> lines = through(lesson, "s");
  lines.insert(lines.end(), {"q"});
  typist.type(lines);
  take_from(lesson, block_runner(), terminal);
  const auto counts = [&] { return counts_of(lesson, terminal.progress().lessons.at(lesson.name)); };
  const std::vector<SolvedQuestion> questions = without_reasons(result.questions);
  REQUIRE(counts().missed == questions.size());
  CHECK(typist.shows("r review " + std::to_string(questions.size()) + " question"));

  std::deque<std::string> answers;
  for (const SolvedQuestion& solved : questions) answers.push_back(answer_of(solved));
  answers.front() = "0";
  answers.insert(answers.begin() + 1, answer_of(questions.front()));
  answers.emplace_back("s");  // a problem with other numbers, because the lesson is finished
  typist.type(answers);
  review_course(&lesson, block_runner(), terminal);
  CHECK(typist.shows("Not yet."));
  CHECK(typist.shows("End of the review."));
  CHECK(counts().missed == 1);  // the first needed two tries
  CHECK(counts().later == questions.size());
  CHECK(counts().first == 0);

  typist.type({answer_of(result.questions.front())});
  review_course(nullptr, block_runner(), terminal);
  CHECK(typist.shows("[1/1]"));
  CHECK(counts().missed == 0);
  typist.type({});
  review_course(nullptr, block_runner(), terminal);
  CHECK(typist.shows("You have missed no question."));
}

TEST_CASE("a finished lesson comes back after days with other numbers, and later each time it is remembered") {
  Typist typist;
  const Lesson lesson = find_lesson("1");
  const auto on_day = [&](std::int64_t day, std::deque<std::string> typed) {
    LessonTerminal terminal(typist, {.width = 80}, typist.state(), day);
    typist.type(std::move(typed));
    review_course(nullptr, block_runner(), terminal);
    return terminal.progress().lessons[lesson.name].repetition;
  };
  const auto answer_on = [&](std::int64_t day, std::int64_t times) {
    const auto seed = static_cast<std::uint32_t>(day * 31 + times);
    return answer_of(DrillSeries({find_drill(drills_named(lesson).front())}, seed, block_runner()).next().solved);
  };
  {
    LessonTerminal terminal(typist, {.width = 80}, typist.state(), 1000);
    terminal.change([&](CourseProgress& progress) {
      progress.lessons[lesson.name].done = keys_of(lesson);
      progress.lessons[lesson.name].repetition = Repetition{.day = 1000};
    });
  }
  const auto lists_review_on = [&](std::int64_t day) {
    LessonTerminal terminal(typist, {.width = 80}, typist.state(), day);
    typist.type({"q"});
    take_course(block_runner(), terminal);
    return typist.shows("To be reviewed: lesson 1. attn lesson review asks one question of each.");
  };
  CHECK_FALSE(lists_review_on(1000));
  CHECK(lists_review_on(1001));
  CHECK(on_day(1000, {}) == Repetition{1000, 0, 0});
  CHECK(typist.shows("You have missed no question. Lesson 1 comes back in 1 day."));
  CHECK(on_day(1001, {"s"}) == Repetition{1000, 0, 0});  // skipped
  CHECK(typist.shows("Lesson 1 comes back today."));
  CHECK(on_day(1001, {answer_on(1001, 0)}) == Repetition{1001, 1, 1});
  CHECK(typist.shows("With other numbers: " + lesson.title));
  CHECK(typist.shows("End of the review. Lesson 1 comes back in 3 days."));
  CHECK(on_day(1003, {}) == Repetition{1001, 1, 1});
  CHECK(on_day(1004, {answer_on(1004, 1)}) == Repetition{1004, 2, 2});
  CHECK(on_day(1011, {answer_on(1011, 2)}) == Repetition{1011, 3, 3});
  CHECK(on_day(1032, {answer_on(1032, 3)}) == Repetition{1032, 4, 4});
  CHECK(typist.shows("Lesson 1 comes back in 21 days."));
  CHECK(on_day(1053, {"-12345", answer_on(1053, 4)}) == Repetition{1053, 0, 5});
  CHECK(typist.shows("Lesson 1 comes back in 1 day."));
  CHECK(on_day(1054, {"a"}) == Repetition{1054, 0, 6});
}

TEST_CASE("a lesson without drills asks one of its own questions again") {
  Typist typist;
  const Lesson lesson = read_lesson(
      "---\ntitle: A\n---\n```question\nask: How much?\nof: scores[1,2]\non: --example thinking-machines\nhint: h\n```\n",
      "a.md");
  LessonTerminal terminal(typist, {.width = 80}, typist.state(), 10);
  typist.type({"96", "q"});
  take_from(lesson, block_runner(), terminal);
  CHECK(terminal.progress().lessons[progress_name(lesson)].repetition == Repetition{10, 0, 0});
  typist.type({"96"});
  review_course(&lesson, block_runner(), terminal);
  CHECK(typist.shows("How much?"));
  CHECK(typist.shows("The lesson comes back in 3 days."));
}

TEST_CASE("each lesson names drills that there are") {
  for (const Lesson& lesson : built_in_lessons()) {
    CAPTURE(lesson.name);
    CHECK_FALSE(drills_named(lesson).empty());
    for (const std::string& name : drills_named(lesson)) CHECK(find_drill(name).is_built_in);
  }
}

TEST_CASE("q at a pause leaves the lesson, and nothing is asked for that was not shown") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  typist.key = 'q';
  typist.type({"", "", ""});
  std::string lesson = "---\ntitle: an opening and a step that need two screens\n";
  for (int i = 0; i < 13; ++i) lesson += "can: do one thing more\n";
  lesson += "---\n";
  for (int i = 0; i < 10; ++i) lesson += "- one line of the first step\n";
  take_from(read_lesson(lesson, "long.md"), block_runner(), terminal);
  CHECK(typist.shows("Enter: continue"));
  CHECK(typist.shows("Your progress is saved."));
  CHECK_FALSE(typist.shows("[1/"));
}

TEST_CASE("no step of the course pauses before its end on a terminal of 80 by 24") {
  for (const Lesson& lesson : SomeOf(built_in_lessons())) {
    CAPTURE(lesson.name);
    Typist typist;
    LessonTerminal terminal = desk_at(typist);
    typist.type(through(lesson, "s"));
    run_session(lesson, execute(lesson, block_runner()), terminal);
    CHECK_FALSE(typist.shows("next page"));
    CHECK(typist.shows("End of lesson"));
  }
  static_assert(lines_of_prompt + 20 < 24);
}

TEST_CASE("a first try and a later one are counted apart, and a solution that was shown is missed") {
  Typist typist;
  LessonTerminal terminal = desk_at(typist);
  const Lesson lesson = find_lesson("1");
  const LessonResult result = execute(lesson, block_runner());
  std::deque<std::string> lines;
  std::size_t asked = 0;
  for (const LessonStep& step : lesson.steps) {
    if (step.question && lesson.questions[*step.question].asks_why) continue;
    if (!step.question) {
      lines.emplace_back("");
      continue;
    }
    const std::string right = answer_of(result.questions[*step.question]);
    if (asked == 0) lines.insert(lines.end(), {right});
    if (asked == 1) lines.insert(lines.end(), {"h", "no such answer, and not readable", "a"});
    if (asked > 1) lines.emplace_back("s");
    ++asked;
  }
  typist.type(lines);
  run_session(lesson, result, terminal);
  const ProgressCounts counts = counts_of(lesson, terminal.progress().lessons.at(lesson.name));
  CHECK(counts.first == 1);
  CHECK(counts.later == 0);
  CHECK(counts.missed == without_reasons(result.questions).size() - 1);
}

TEST_CASE("each lesson asks once why, with three choices, and not always for the same one") {
  std::map<std::size_t, std::size_t> places;  // of the right choice, and how often
  for (const Lesson& lesson : built_in_lessons()) {
    CAPTURE(lesson.name);
    std::size_t reasons = 0;
    for (const Question& question : lesson.questions) {
      if (!question.asks_why) continue;
      ++reasons;
      CHECK(question.choices.size() == 3);
      ++places[static_cast<std::size_t>(std::ranges::find(question.choices, question.because) -
                                        question.choices.begin())];
    }
    CHECK(reasons == 1);
  }
  for (const auto& place : places) CHECK_MESSAGE(place.second >= 6, place.first);
  CHECK(places.size() == 3);
}

TEST_CASE("the course as JSON says how far one is in each lesson") {
  const TemporaryFolder folder;
  const ProcessResult listed = run_attn({"lesson", "list", "--format", "json", "--state", folder.path("none")});
  CHECK(listed.code == 0);
  for (const char* what : {"\"correct at the first try\"", "\"correct later\"", "\"missed\"", "\"steps done\"",
                           "\"causal-mask\"", "\"open\"", "\"road\"", "\"side\""}) {
    CAPTURE(what);
    CHECK(listed.out.find(what) != std::string::npos);
  }
  CHECK(run_attn({"lesson", "5"}).out == run_attn({"lesson", "run", "5"}).out);
}
