#include <doctest/doctest.h>

#include <deque>
#include <filesystem>
#include <thread>

#include "command/docs.hpp"
#include "process.hpp"
#include "school/lesson/progress.hpp"
#include "school/lesson/prompt.hpp"
#include "school/lesson/session.hpp"
#include "terminals.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

const std::string small_lesson = R"(---
title: A title
---
First.

```attn
attn version
```

Second.

```question
ask: Which score?
of: scores[1,2]
on: --example thinking-machines
tolerance: 0
hint: hint one
hint: hint two
wrong: scores[1,1] => the cell beside it
```

Third.
)";

// A terminal whose keys are there before they are asked for, and which remembers all else.
class Script final : public KeepingTerminal {
 public:
  explicit Script(std::deque<std::string> typed) : typed_(std::move(typed)) {}

  void write(std::string_view shown) override { shown_ += shown; }
  std::optional<std::string> read_line(std::string_view prompt) override {
    shown_ += prompt;
    return next();
  }
  std::optional<char> read_key() override { return 'q'; }
  TerminalSize size() const override { return {}; }
  void save(const FileToWrite& file) override {
    if (full) throw OutputError("the disk is full");
    ++saves_;
    KeepingTerminal::save(file);
  }

  bool shows(std::string_view what) const { return shown_.find(what) != std::string::npos; }
  std::size_t saves() const { return saves_; }
  void type(std::deque<std::string> typed) {
    typed_ = std::move(typed);
    shown_.clear();
  }
  const std::string& shown() const { return shown_; }

  bool full = false;  // whether nothing can be saved

 private:
  std::optional<std::string> next() {
    if (typed_.empty()) return std::nullopt;
    std::string first = std::move(typed_.front());
    typed_.pop_front();
    return first;
  }

  std::deque<std::string> typed_;
  std::string shown_;
  std::size_t saves_ = 0;
};

void take_at(Script& script, const std::string& lesson_text = small_lesson) {
  const Lesson lesson = read_lesson(lesson_text, "a.md");
  const LessonResult result = execute(lesson, block_runner());
  LessonTerminal terminal(script, {.width = 80}, script.state());
  run_session(lesson, result, terminal);
}

std::string replaced(std::string in, std::string_view what, std::string_view by) {
  return in.replace(in.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("a lesson is taken step by step to its end") {
  Script script({"", "96", ""});
  take_at(script);
  for (const char* what :
       {"A title", "First.", "$ attn version", "[1/3] Enter next · b back · l steps · ? help · q quit\n> ", "Second.",
        "Which score?", "[2/3] Your answer · h hint · a answer · s skip · ? help · q quit\n> ", "Correct: 96.",
        "Third.", "1 question: 1 correct at the first try."}) {
    CAPTURE(what);
    CHECK_MESSAGE(script.shows(what), script.shown());
  }
  CHECK(script.saves() == 5);
}

TEST_CASE("a reason is asked for after a right answer only") {
  const std::string lesson = replaced(small_lesson, "Third.", R"(```question
why: Why so much?
choices: The first. | The second. | The third.
because: The second.
wrong: "The first." => not this one
wrong: "The third." => nor this one
```

Third.)");
  Script right({"", "96", "1", "2", ""});
  take_at(right, lesson);
  for (const char* what : {"[3/4] Your answer", "Why so much?", "not this one", "Correct: The second.", "Third.",
                           "2 questions: 1 correct at the first try, 1 later."}) {
    CAPTURE(what);
    CHECK_MESSAGE(right.shows(what), right.shown());
  }
  Script shown({"", "a", "b", "a", ""});
  take_at(shown, lesson);
  CHECK_FALSE(shown.shows("Why so much?"));
  CHECK(shown.shows("1 question: 0 correct at the first try, 1 not yet."));
  Script later({"", "95", "96", "s", ""});
  take_at(later, lesson);
  CHECK(later.shows("Why so much?"));
}

TEST_CASE("a prediction is over with the first guess, which is told what comes out") {
  const std::string lesson = replaced(small_lesson, "ask: Which score?", "predict: Which score?");
  Script script({"", "112", ""});
  take_at(script, lesson);
  for (const char* what : {"Predict: Which score?", "What comes out is 96.", "the cell beside it", "Third.",
                           "0 questions: 0 correct at the first try."}) {
    CAPTURE(what);
    CHECK_MESSAGE(script.shows(what), script.shown());
  }
  CHECK_FALSE(script.shows("Not yet"));
  CHECK_FALSE(script.shows("✗"));
  Script right({"", "96", ""});
  take_at(right, lesson);
  CHECK(right.shows("Correct: 96."));
}

TEST_CASE("hints come in order, mistakes are named, and an answer can be shown") {
  Script script({"", "h", "h", "h", "112", "7", "nothing", "a", "q"});
  take_at(script);
  for (const char* what :
       {"Hint 1 of 2: hint one", "Hint 2 of 2: hint two", "No more hints.", "Not yet. the cell beside it", "Try again",
        "Please type a number", "The answer is 96.", "Third.", "Your progress is saved."}) {
    CAPTURE(what);
    CHECK(script.shows(what));
  }
}

TEST_CASE("a hint that a reason has told is not shown once more") {
  Script script({"", "1000", "h", "q"});
  take_at(script);
  CHECK(script.shows("Hint 2 of 2: hint two"));
  CHECK_FALSE(script.shows("Hint 1 of 2"));
}

TEST_CASE("back, skip and list do what they say") {
  Script script({"", "b", "x", "", "l", "s", "b", "q"});
  take_at(script);
  CHECK(script.shows(">  2  Which score?"));
  CHECK(script.shows("✓  1  attn version"));
  CHECK(script.shows("   3  Third."));
  CHECK(script.shows("> you are here   ✓ done   ✗ missed."));
  CHECK(script.shows("'x' does nothing here."));
  const std::string& shown = script.shown();
  CHECK(shown.find("First.") != shown.rfind("First."));
  CHECK(shown.find("Second.") != shown.rfind("Second."));
}

TEST_CASE("a lesson goes on where it was left, and begins again after its end") {
  Script script({"", "q"});
  take_at(script);
  script.type({"96", ""});
  take_at(script);
  CHECK(script.shows("You are at step 2"));
  CHECK(script.shows("$ attn version"));  // what the question is about is shown again
  CHECK(script.shows("End of lesson."));
  script.type({"q"});
  take_at(script);
  CHECK(script.shows("First."));
}

TEST_CASE("a lesson that was edited goes on at the first step that is not done") {
  Script script({"", "96", "q"});
  take_at(script);
  script.type({"q"});
  take_at(script, replaced(small_lesson, "First.", "At first."));
  CHECK(script.shows("At first."));
  CHECK_FALSE(script.shows("You are at"));
  script.type({"", "q"});
  take_at(script, replaced(small_lesson, "First.", "At first."));
  CHECK(script.shows("You are at step 3"));
  script.type({"l", "96", "q"});
  take_at(script, replaced(small_lesson, "Which score?", "Which score is it?"));
  CHECK(script.shows("You are at step 2"));
  CHECK(script.shows(">  2  Which score is it?"));
  script.type({"", ""});
  take_at(script, replaced(small_lesson, "First.\n", "New.\n\n```attn\nattn help\n```\n\nFirst.\n"));
  CHECK(script.shows("New."));
  CHECK(script.shows("You are at step 4"));
  CHECK(script.shows("1 question: 1 correct at the first try."));
}

TEST_CASE("steps that are alike are taken one after the other") {
  const std::string twice = small_lesson + "\n```attn\nattn version\n```\n\n```attn\nattn version\n```\n";
  Script script({"", "96", "", "", "q"});
  take_at(script, twice);
  CHECK(script.shows("[4/4]"));
}

TEST_CASE("what was done is passed over by whoever goes on, and not by whoever reads again") {
  Script script({"", "96", "b", "b", "", "s", "q"});
  take_at(script);
  const auto times_shown = [&](std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = script.shown().find(what, at)) != std::string::npos; ++at) ++times;
    return times;
  };
  CHECK(times_shown("Second.") == 3);
  CHECK(times_shown("Third.") == 2);
}

TEST_CASE("the end of the input is no way to lose anything") {
  Script script({});
  take_at(script);
  CHECK(script.shows("Your progress is saved."));
}

TEST_CASE("progress reads back as it was written, and another file is refused") {
  const TemporaryFolder folder;
  CourseProgress progress;
  progress.last = "a";
  progress.lessons["a"] = {{"1", "2"}, {{"3", {"typed \xff", true, false, true}}}};
  const CourseProgress again = read_progress(folder.write("state", bytes_of(progress))).progress;
  CHECK(again.lessons.at("a").done == progress.lessons["a"].done);
  CHECK(again.last == "a");
  const AnswerRecord& answered = again.lessons.at("a").answers.at("3");
  CHECK(answered.right);
  CHECK_FALSE(answered.first);
  CHECK(answered.missed);
  CHECK(read_progress(folder.path("none")).progress.lessons.empty());
  for (const char* bytes : {"{}", "[]", "[1", "{\"schema\":\"attn/progress/2\",\"lessons\":{}}", "\xff", "# A text"}) {
    CAPTURE(bytes);
    CHECK(refusal([&] { read_progress(folder.write("state", bytes)); }) ==
          folder.path("state") + " is not a file of progress: give another --state FILE, or remove it");
  }
}

TEST_CASE("what is left of a state file after a loss of power is known as damaged") {
  const TemporaryFolder folder;
  CourseProgress progress;
  progress.lessons["a"] = {{"1"}, {{"2", {"typed", true, false, true}}}};
  const std::string whole = bytes_of(progress);
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    CAPTURE(size);
    const ProgressFile file = read_progress(folder.write("state", whole.substr(0, size)));
    CHECK(file.is_damaged);
    CHECK(file.progress.lessons.empty());
  }
  for (const std::string& bytes :
       {std::string(4096, '\0'), std::string("\n"), std::string("{\"schema\":\"attn/progress/1\"}"),
        std::string("{\"schema\":\"attn/progress/1\",\"lessons\":null}"),
        std::string("{\"schema\":\"attn/progress/1\",\"lessons\":{\"a\":{\"done\":\"x\",\"answers\":{}}}}")}) {
    CAPTURE(bytes);
    CHECK(read_progress(folder.write("state", bytes)).is_damaged);
  }
  CHECK_FALSE(read_progress(folder.write("state", whole)).is_damaged);
}

TEST_CASE("a damaged state file is set aside, and the lesson is taken and kept") {
  Script script({"", "96", ""});
  const std::string state = script.folder().write("state", "{");
  script.folder().write("state.damaged", "an older one");
  take_at(script);
  CHECK(script.shows("The file of your progress, "));
  CHECK(script.shows("state.damaged-2"));
  CHECK(bytes_of(script.folder().path("state.damaged")) == "an older one");
  CHECK(bytes_of(script.folder().path("state.damaged-2")) == "{");
  CHECK(read_progress(state).progress.lessons.size() == 1);
}

TEST_CASE("where progress cannot be saved, the lesson says so once and goes on") {
  Script script({"", "96", "b", "q"});
  script.full = true;
  take_at(script);
  const std::string& shown = script.shown();
  const std::size_t first = shown.find("Your progress is not kept: the disk is full.");
  CHECK(first != std::string::npos);
  CHECK(shown.find("--state FILE") != std::string::npos);
  CHECK(shown.find("is not kept: ", first + 20) == std::string::npos);
  CHECK(script.shows("Correct: 96."));
  CHECK(script.shows("\nYour progress is not kept.\n"));
  CHECK(script.folder().names().empty());
}

TEST_CASE("two terminals in the same lesson lose nothing of each other") {
  Script one({}), other({});
  const Lesson lesson = read_lesson(small_lesson, "a.md");
  LessonTerminal first(one, {.width = 80}, one.state()), second(other, {.width = 80}, one.state());
  first.change([](CourseProgress& progress) { progress.lessons["a"].done.push_back("1"); });
  second.change([](CourseProgress& progress) { progress.lessons["a"].done.push_back("2"); });
  CHECK(read_progress(one.state()).progress.lessons["a"].done == std::vector<std::string>{"1", "2"});
}

TEST_CASE("eight sessions at once lose no step" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string state = folder.path("state.json");
  std::vector<std::thread> sessions;
  for (int i = 1; i <= 8; ++i) {
    folder.write(fmt::format("{}.md", i), small_lesson);
    sessions.emplace_back([&, i] {
      converse_with_attn({"lesson", "run", folder.path(fmt::format("{}.md", i)), "--state", state},
                         {{"quit\r\n> ", "\n"}, {"quit\r\n> ", "96\n"}, {"quit\r\n> ", "\n"}});
    });
  }
  for (std::thread& session : sessions) session.join();
  const CourseProgress progress = read_progress(state).progress;
  CHECK(progress.lessons.size() == 8);
  for (const auto& lesson : progress.lessons) {
    CAPTURE(lesson.first);
    CHECK(lesson.second.done.size() == 3);
    CHECK(lesson.second.answers.size() == 1);
  }
}

TEST_CASE("a home that cannot be written is told before the first step" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small_lesson);
  std::filesystem::create_directory(folder.path("home"));
  std::filesystem::permissions(folder.path("home"), std::filesystem::perms(0555));
  const ProcessResult finished = converse_with_attn(
      {"lesson", "run", lesson}, {{"quit\r\n> ", "\n"}, {"quit\r\n> ", "96\n"}, {"quit\r\n> ", "\n"}},
      {.variables = {{"HOME", folder.path("home")}}, .shell = without_privileges()});
  CHECK_MESSAGE(finished.code == 0, finished.errors);
  const std::size_t told = finished.out.find("Your progress is not kept: ");
  CHECK(told < finished.out.find("A title"));
  CHECK(finished.out.find("--state") != std::string::npos);
  CHECK(finished.out.find("End of lesson. 1 question: 1 correct") != std::string::npos);
}

TEST_CASE("a damaged state file is told where a page shows the progress, and reset begins a new one") {
  const TemporaryFolder folder;
  const std::string state = folder.write("state.json", "");
  const ProcessResult list = run_attn({"lesson", "list", "--state", state});
  CHECK(list.code == 0);
  CHECK(list.errors.find("the file of your progress, " + state + ", is damaged") != std::string::npos);
  CHECK(run_attn({"lesson", "export", "1", "--state", state}).errors.find("is damaged") != std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"state.json"});
  CHECK(run_attn({"lesson", "reset", "--state", state}).code == 2);
  const ProcessResult reset = run_attn({"lesson", "reset", "--yes", "--state", state});
  CHECK(reset.code == 0);
  CHECK(reset.errors.find("state.json.damaged") != std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"state.json", "state.json.damaged"});
  CHECK(run_attn({"lesson", "list", "--state", state}).errors == "");
}

TEST_CASE("a lesson is taken at a real terminal, line by line, and its progress is kept" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small_lesson), state = folder.path("deep/er/state.json");
  const Words words = {"lesson", "run", lesson, "--state", state};
  const ProcessResult first =
      converse_with_attn(words, {{"quit\r\n> ", "\n"}, {"quit\r\n> ", "h\n"}, {"quit\r\n> ", "q\n"}});
  CHECK_MESSAGE(first.code == 0, first.out << first.errors);
  CHECK(first.out.find("Hint 1 of 2: hint one") != std::string::npos);
  CHECK(bytes_of(state).find("attn/progress/1") != std::string::npos);
  const ProcessResult second = converse_with_attn(words, {{"quit\r\n> ", "96\n"}, {"quit\r\n> ", " \n"}});
  CHECK_MESSAGE(second.code == 0, second.out << second.errors);
  CHECK(second.out.find("You are at step 2") != std::string::npos);
  CHECK(second.out.find("End of lesson. 1 question: 1 correct") != std::string::npos);
  const ProcessResult third = converse_with_attn(words, {{"quit\r\n> ", "\x1b[C\n"}, {"quit\r\n> ", "q\n"}});
  CHECK(third.code == 0);
  const ProcessResult ended = converse_with_attn(words, {{"quit\r\n> ", "\x04"}});
  CHECK(ended.code == 0);
}

TEST_CASE("progress is kept where the environment says" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small_lesson);
  const std::vector<Turn> turns = {{"quit\r\n> ", "\n"}, {"quit\r\n> ", "q\n"}};
  CHECK(converse_with_attn({"lesson", "run", lesson}, turns, {.variables = {{"HOME", folder.path("home")}}}).code == 0);
  CHECK(bytes_of(folder.path("home/.local/state/attn/lessons.json")) != "");
  const std::map<std::string, std::string> variables = {{"HOME", folder.path("home")},
                                                        {"XDG_STATE_HOME", folder.path("state")}};
  CHECK(converse_with_attn({"lesson", "run", lesson}, turns, {.variables = variables}).code == 0);
  CHECK(bytes_of(folder.path("state/attn/lessons.json")) != "");
  CHECK(converse_with_attn({"lesson", "run", lesson}, {}).code == 2);
}
