#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "command/docs.hpp"
#include "draws.hpp"
#include "page/render/width.hpp"
#include "process.hpp"
#include "school/lesson/lesson.hpp"
#include "school/tutor/question.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

ProcessResult run_lesson_words(const Words& words) {
  Words all = {"lesson"};
  all.insert(all.end(), words.begin(), words.end());
  return run_attn(all);
}

const std::string small = R"(---
title: A <title>
---
First.

```question
ask: Which score?
of: scores[1,2]
on: --example thinking-machines
hint: one
```

```attn hidden
attn version
```
)";

void check_right_answers(Road road) {
  const TemporaryFolder folder;
  for (const Lesson& lesson : SomeOf(built_in_lessons())) {
    if (lesson.road != road) continue;
    CAPTURE(lesson.name);
    const LessonResult result = execute(lesson, block_runner());
    std::string right = "# right answers\n\n";
    for (const SolvedQuestion& solved : result.questions) {
      right += answer_of(solved) + "\n";
      CHECK(judge(solved, answer_of(solved)).mark == Judgment::Mark::right);
    }
    const ProcessResult good = run_lesson_words({"run", lesson.name, "--answers", folder.write("right", right)});
    CHECK_MESSAGE(good.code == 0, good.out << good.errors);
  }
}

}  // namespace

TEST_CASE("every lesson of the main road runs with right answers") { check_right_answers(Road::main); }

TEST_CASE("every lesson of a side road runs with right answers") { check_right_answers(Road::side); }

TEST_CASE("every note of a lesson that is built in is said to the answer that it is on") {
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    const LessonResult result = execute(find_lesson(std::string(file.name)), block_runner());
    for (const SolvedQuestion& solved : result.questions) {
      for (const auto& [quantity, says] : solved.notes) {
        const Judgment judged = judge(solved, written(quantity));
        CHECK(judged.mark == (solved.question.predicts ? Judgment::Mark::guess : Judgment::Mark::wrong));
        CHECK_MESSAGE(judged.says == says, solved.question.ask);
      }
    }
  }
}

TEST_CASE("every lesson that is built in fails with wrong answers") {
  const TemporaryFolder folder;
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    const std::string name(file.name);
    std::string wrong;
    for (std::size_t i = find_lesson(name).questions.size(); i > 0; --i) wrong += "12345.678\n";
    const ProcessResult bad = run_lesson_words({"run", name, "--answers", folder.write("wrong", wrong)});
    CHECK(bad.code == 1);
    CHECK(has(bad.out, "Not correct: "));
  }
}

TEST_CASE("answers to predictions are marked and do not count") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", R"(---
title: A
---

```attn
attn walk --weights '0.7 0.3' --v '10; 20' --only output
```

```question
predict: What will it be?
of: output[1,1]
```

```question
ask: What is it?
of: output[1,1]
```
)");
  const ProcessResult good = run_lesson_words({"run", lesson, "--answers", folder.write("good", "5\n13\n")});
  CHECK(good.code == 0);
  CHECK(has(good.out, "Predicted: 5. What comes out is 13."));
  CHECK(has(good.out, "Correct: 1 of 1 answer."));
  const ProcessResult bad = run_lesson_words({"run", lesson, "--answers", folder.write("bad", "13\n5\n")});
  CHECK(bad.code == 1);
  CHECK(has(bad.out, "Correct: 0 of 1 answer."));
  std::filesystem::create_directory(folder.path("class"));
  folder.write("class/ann.txt", "5\n13\n");
  folder.write("class/bob.txt", "13\n5\n");
  const ProcessResult all = run_lesson_words({"run", lesson, "--answers", folder.path("class")});
  CHECK(has(all.out, "ann      o  ✓  1"));
  CHECK(has(all.out, "correct     1"));
  CHECK(has(all.out, "Predict: What will it be?"));
}

TEST_CASE("every lesson that is built in refuses too few answers, and shows none unless it is run") {
  const TemporaryFolder folder;
  const std::string few = folder.write("few", "");
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    const std::string name(file.name);
    CHECK(run_lesson_words({"run", name, "--answers", few}).code == 2);
    CHECK_FALSE(has(run_lesson_words({"show", name}).out, "Answer: "));
  }
}

TEST_CASE("every lesson that is built in shows its answers where nobody is at a terminal") {
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    const std::string name(file.name), run = run_lesson_words({"run", name}).out;
    CHECK(run == run_lesson_words({"run", name, "--no-input"}).out);
    CHECK(has(run, "Answer: "));
  }
}

TEST_CASE("lessons are found by name, number and path") {
  CHECK(run_lesson_words({}).out == run_lesson_words({"list"}).out);
  CHECK(run_lesson_words({"show", "1"}).out == run_lesson_words({"show", "soft-lookup"}).out);
  CHECK(run_lesson_words({"show", "01"}).out == run_lesson_words({"show", "soft-lookup"}).out);
  const TemporaryFolder folder;
  CHECK(has(run_lesson_words({"show", folder.write("a.md", small)}).out, "First."));
  CHECK_FALSE(has(run_lesson_words({"show", folder.path("a.md")}).out, "$ attn version"));
  // What stands below a question shows its answer.
  CHECK_FALSE(has(run_lesson_words({"show", folder.path("a.md")}).out, "attn 0."));
  CHECK(has(run_lesson_words({"run", folder.path("a.md"), "--no-input"}).out, "attn 0."));
  CHECK(run_lesson_words({"show", "caus"}).out == run_lesson_words({"show", "causal-mask"}).out);
  CHECK(run_lesson_words({"show", "MULTI"}).out == run_lesson_words({"show", "multi-head-attention"}).out);
  const ProcessResult several = run_lesson_words({"show", "so"});
  CHECK(several.code == 2);
  CHECK(has(several.errors, "soft-lookup, softmax-and-scaling"));
  const ProcessResult none = run_lesson_words({"show", "soft-lokup"});
  CHECK(none.code == 2);
  CHECK(has(none.errors, "did you mean 'soft-lookup'?"));
  CHECK(run_lesson_words({"show", "none.md"}).code == 2);
  CHECK(has(run_lesson_words({"shwo"}).errors, "did you mean 'show'?"));
  CHECK(has(run_lesson_words({"show"}).errors, "attn lesson show LESSON"));
}

TEST_CASE("nothing is wrong with a new lesson that is printed or written") {
  const TemporaryFolder folder;
  const std::string printed = run_lesson_words({"new"}).out;
  CHECK(has(printed, "Put the output below"));
  const ProcessResult finished = run_lesson_words({"check", folder.write("printed.md", printed)});
  CHECK_MESSAGE(finished.code == 0, finished.out);
  const std::string path = folder.path("new.md");
  CHECK(has(run_lesson_words({"new", path}).out, "new.md is written"));
  CHECK(bytes_of(path) == printed);
  CHECK(run_lesson_words({"check", path}).code == 0);
  CHECK(has(run_lesson_words({"new", path}).errors, "is there already"));
  CHECK(run_lesson_words({"new", path, "--yes"}).code == 0);
  CHECK(has(run_lesson_words({"new", folder.path("new.txt")}).errors, "a name that ends in .md"));
}

TEST_CASE("an option that an action does not take is refused with those that take it") {
  const auto refused = [](const Words& words, std::string_view sentence) {
    const ProcessResult finished = run_lesson_words(words);
    CHECK(finished.code == 2);
    CHECK_MESSAGE(has(finished.errors, sentence), finished.errors);
  };
  refused({"show", "1", "--answers", "x"},
          "attn lesson show takes no --answers: attn lesson run, attn lesson next and attn lesson export");
  refused({"list", "--worksheet"}, "attn lesson list takes no --worksheet: attn lesson export takes it");
  refused({"1", "--with-answers"}, "attn lesson NUMBER takes no --with-answers");
  refused({"--answers", "x"}, "attn lesson without a lesson takes no --answers");
  refused({"coverage", "--yes"}, "attn lesson coverage takes no --yes");
  refused({"export", "1", "--step", "2"}, "attn lesson export takes no --step");
  refused({"run", "1", "--answers", "x", "--step", "2"}, "--step");
}

TEST_CASE("only lines of text have to fit, because nobody can break those of a table of Markdown") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md",
                   "---\ntitle: t\n---\n```question\nask: a\nof: scores[1,1]\non: --example "
                   "order\nhint: h\n```\n"
                   "```attn format=markdown\nattn walk --example animal --only head.1.scores\n```\n"
                   "```attn\nattn walk --example animal --only head.1.scores --format markdown\n```\n");
  CHECK(run_attn({"docs", "update", path}).code == 0);
  const ProcessResult finished = run_lesson_words({"check", path});
  CHECK_MESSAGE(finished.code == 0, finished.out);
}

TEST_CASE("a byte order mark stays before a lesson and a document") {
  const TemporaryFolder folder;
  const std::string mark = "\xEF\xBB\xBF";
  const std::string lesson = folder.write("a.md", mark + small);
  CHECK(has(run_lesson_words({"show", lesson}).out, "A <title>"));
  const std::string document = folder.write("b.md", mark + "```attn\nattn version\n```\n");
  CHECK(run_attn({"docs", "update", document}).code == 0);
  CHECK(bytes_of(document).starts_with(mark + "```attn\nattn version\n```\n<!-- attn:output -->"));
  CHECK(has(run_attn({"docs", "check", document}).out, "All outputs are current: 1 block."));
  CHECK(run_attn({"docs", "clean", document}).code == 0);
  CHECK(bytes_of(document) == mark + "```attn\nattn version\n```\n");
}

TEST_CASE("check finds what is wrong with a lesson, by file and line") {
  const TemporaryFolder folder;
  const std::string path = folder.path("a.md");
  const auto faults = [&](const std::string& text) {
    folder.write("a.md", text);
    const ProcessResult finished = run_lesson_words({"check", path});
    CHECK(finished.code == 1);
    return finished.out;
  };
  const std::string front = "---\ntitle: t\ncan: do it\n";
  CHECK(has(faults("# no title\n"), path + ":1: the lesson has no title"));
  CHECK(has(faults("---\ntitel: t\n---\n"), path + ":2: unknown key of a lesson 'titel' (did you mean 'title'?)"));
  CHECK(has(faults(front + "needs: nothing-else\n---\n"), path + ":4: needs: there is no lesson 'nothing-else'"));
  CHECK(has(faults(front + "covers: 0.1, 9.9\n---\n"), path + ":4: covers: there is no line '9.9'"));
  CHECK(has(faults(front + "---\n```attn covers=0.1\nattn version\n```\n"), path + ":5: covers: 0.1 is not among"));
  CHECK(has(faults(front + "---\n" + std::string(81, 'a') + "\n"), path + ":5: this line is 81 columns wide"));
  CHECK(has(faults(front + "---\n```attn\nattn softmax \\\n  --scores '" + std::string(66, '1') + "'\n```\n"),
            path + ":7: after its prompt this line is 81 columns wide"));
  CHECK(has(faults(front + "---\n"), path + ":1: the lesson asks nothing"));
  for (const std::string address : {"https://example.org/a.png", "//example.org/a.png", "HTTP://example.org/a.png"})
    CHECK(has(faults(front + "---\n![a](" + address + ")\n"),
              path + ":5: pages of this lesson will not show the picture '" + address + "': put it beside the lesson"));
  CHECK(has(faults(front + "---\nIt begins with <start>.\n"), path + ":5: '<start>' is raw HTML, and is not shown"));
  CHECK_FALSE(has(faults(front + "---\nIt begins with `<start>`. <!-- not shown -->\n"), "raw HTML"));
  CHECK_FALSE(has(faults(front + "---\n![a](pictures/a.png) ![b](data:image/png;base64,AA)\n"), "picture"));
  std::string long_text;
  for (int i = 0; i < 180 * 25 + 1; ++i) long_text += "word\n";
  CHECK(has(faults(front + "---\n" + long_text), path + ":1: the lesson takes about 26 minutes, and 25 is the most"));
  CHECK(has(faults(front + "minutes: 5\n---\n"), path + ":4: unknown key of a lesson 'minutes'"));
  CHECK(has(faults(front + "title: u\n---\n"), path + ":4: title is given twice"));
  CHECK(has(faults(front + "---\n```question\nask: a\nof: scores[1,1]\n```\n"), path + ":5: no block above computes"));
  CHECK(has(faults(front + "---\n```attn\nattn walk\n```\n```question\nask: a\nof: scores[1,1]\n```\n"),
            path + ":8: the question has no hint"));
  const std::string screen = front + "---\n```question\nask: a\nof: scores[1,1]\nexplore: right\non: attn walk";
  CHECK(has(faults(screen + " --outline\n```\n"), path + ":5: explore: "));
  CHECK_FALSE(has(faults(screen + " --causal\n```\n"), "explore: "));
  CHECK(has(faults(front + "---\n```attn\nattn wlak\n```\n"), path + ":6: unknown command 'wlak'"));
  CHECK(has(faults(front + "---\n```attn\nattn version\n```\n"), path + ":6: the output is not current"));
  CHECK(has(faults(front + "---\n```attn\nattn walk\n```\n```question\nask: a\nkind: choice\nof: scores[1,1] > 1\n"
                           "choices: h | i\nhint: b\n```\n"),
            path + ":8: the choice 'h' is a key"));
  CHECK(has(faults(front + "---\n```attn\nattn walk\n```\n```question\nask: a\nof: weights[1,2]\n"
                           "tolerance: 0.2\nhint: b\n```\n"),
            path + ":8: 0 would be right as well, because the answer is 0.1192"));
  CHECK(has(faults(front + "---\n```attn\nattn walk --weights '0.4 0.2 0.4' --v '1;2;3'\n```\n```question\nask: a\n"
                           "kind: word\nof: most(weights[1])\nhint: b\n```\n"),
            path + ":8: '1' and '3' are tied at 0.4"));
}

TEST_CASE("an export shows what was answered, as Markdown or HTML") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small), state = folder.path("state");
  const auto exported = [&](const std::string& file) {
    const ProcessResult finished = run_lesson_words({"export", lesson, folder.path(file), "--state", state});
    CHECK_MESSAGE(finished.code == 0, finished.errors);
    return bytes_of(folder.path(file));
  };
  const std::string markdown = exported("out.md");
  CHECK(markdown.starts_with("# A <title>\n"));
  CHECK(has(markdown, "> **Question 1:** Which score?"));
  CHECK(has(markdown, "*Not answered.*"));
  CHECK_FALSE(has(markdown, "```question"));
  const std::string html = exported("out.html");
  CHECK(has(html, "<title>A &lt;title&gt;</title>"));
  CHECK(has(html, "<p>First.</p>"));
  CHECK(has(html, "<strong>Question 1:</strong> Which score?"));
  CHECK(run_lesson_words({"export", lesson, folder.path("out.txt"), "--state", state}).code == 2);
  const ProcessResult again = run_lesson_words({"export", lesson, folder.path("out.md"), "--state", state});
  CHECK(again.code == 2);
  CHECK(has(again.errors, "out.md is there already: give another file, or --yes to replace it"));
  CHECK(run_lesson_words({"export", lesson, folder.path("out.md"), "--yes", "--state", state}).code == 0);
  CHECK(run_lesson_words({"export", lesson, "--state", state}).out == markdown);
}

TEST_CASE("an export never overwrites the lesson itself") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small), state = folder.path("state");
  std::filesystem::create_symlink("a.md", folder.path("link.md"));
  std::filesystem::create_hard_link(lesson, folder.path("hard.md"));
  for (const std::string& target : {lesson, folder.path("./a.md"), folder.path("link.md"), folder.path("hard.md")}) {
    CAPTURE(target);
    const ProcessResult refused = run_lesson_words({"export", lesson, target, "--yes", "--state", state});
    CHECK(refused.code == 2);
    CHECK(has(refused.errors, "is read here and would be overwritten"));
    CHECK(run_lesson_words({"export", lesson, "--output", target, "--state", state}).code == 2);
    CHECK(run_lesson_words({"show", lesson, "--output", target}).code == 2);
    CHECK(bytes_of(lesson) == small);
  }
}

TEST_CASE("an exported page of HTML needs no script and leads to other pages") {
  const TemporaryFolder folder;
  const std::string lesson =
      folder.write("a.md",
                   "---\ntitle: t\n---\nSee [cost](17-cost.md#heads) and [far](https://example.org/a.md).\n\n"
                   "```attn format=markdown precision=2\nattn explain 'weights[1,1]'\n```\n");
  CHECK(run_lesson_words({"export", lesson, folder.path("b.html"), "--state", folder.path("s")}).code == 0);
  const std::string html = bytes_of(folder.path("b.html"));
  CHECK(has(html, "<a href=\"17-cost.html#heads\">cost</a>"));
  CHECK(has(html, "<a href=\"https://example.org/a.md\">far</a>"));
  CHECK_FALSE(has(html, "$$"));
  CHECK_FALSE(has(html, "<script"));
  CHECK(has(html, "<mi>softmax</mi>"));
  CHECK(has(html, "<mo>≈</mo><mn>0.88</mn>"));
  CHECK(run_lesson_words({"export", lesson, folder.path("b.md"), "--state", folder.path("s")}).code == 0);
  CHECK(has(bytes_of(folder.path("b.md")), "$$"));
}

TEST_CASE("a lesson loads no picture from elsewhere, whichever page it is exported to") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", "---\ntitle: t\n---\n![p](https://evil.example/p.png) ![q](q.png)\n");
  for (const Words& format : {Words{}, Words{"--format", "page"}}) {
    const std::string html = folder.path("a" + std::to_string(format.size()) + ".html");
    Words words = {"export", lesson, html, "--state", folder.path("s")};
    words.insert(words.end(), format.begin(), format.end());
    CHECK(run_lesson_words(words).code == 0);
    CHECK(has(bytes_of(html), "img-src 'self' data: file:"));
    CHECK_FALSE(has(bytes_of(html), "file: https:"));
  }
}

TEST_CASE("lists, quotations, tables, links and pictures read well in a terminal") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.md", R"(---
title: t
---
- a **long** item that goes on and on and on and on, until it takes more than one
  line of a terminal
  - inside `code`

<!-- for authors only -->

> It is **said**
> that [cost](17-cost.md) matters, [here](https://example.org) and <https://attn.org>.
>
> 9. nine
> 10. ten

![two heads](heads.png) end.

| name | what *it* is |
| --- | --- |
| `d_k` | the size of a key |

    as it   stands
)");
  const std::string shown = run_lesson_words({"show", path}).out;
  CHECK_MESSAGE(has(shown, R"(
- a long item that goes on and on and on and on, until it takes more than one
  line of a terminal
  - inside code

> It is said that "cost" (lesson 17) matters, here (https://example.org) and
> https://attn.org.
>
>  9. nine
> 10. ten

[picture: two heads] end.

  name  what it is
  ───────────────────────
  d_k   the size of a key

    as it   stands
)"),
                shown);
}

TEST_CASE("a command line is shown as its author broke it") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md", "---\ntitle: t\n---\n```attn\nattn softmax \\\n  --scores '1 0'\n```\n");
  CHECK(has(run_lesson_words({"show", path}).out, "$ attn softmax \\\n    --scores '1 0'\n"));
}

TEST_CASE("no line of a list of what the lessons cover is wider than the terminal") {
  const std::string listed = run_lesson_words({"coverage", "--width", "80"}).out;
  CHECK(has(listed,
            "  0.4   soft-lookup\n      attn walk --scores '0 4' --v '10; 20' --only 'weights|output'\n      "
            "The pipeline"));
  std::istringstream lines(listed);
  for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(display_width(line) <= 80, line);
}

TEST_CASE("what was answered at a terminal is exported and can be forgotten" * needs_terminals()) {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", small), state = folder.path("state");
  converse_with_attn({"lesson", "run", lesson, "--state", state}, {{"quit\r\n> ", "95\n"}, {"quit\r\n> ", "q\n"}});
  const Words words = {"export", lesson, "--state", state};
  CHECK(has(run_lesson_words(words).out, "*Your answer:* 95. Not correct; the answer is 96."));
  CHECK(run_lesson_words({"reset", lesson, "--state", state}).code == 2);
  CHECK(has(converse_with_attn({"lesson", "reset", lesson, "--state", state}, {{"> ", "no\n"}}).out,
            "Nothing is changed."));
  CHECK(has(run_lesson_words(words).out, "*Your answer:* 95"));
  CHECK(run_lesson_words({"reset", lesson, "--yes", "--state", state}).code == 0);
  CHECK(has(run_lesson_words(words).out, "*Not answered.*"));
  CHECK(has(run_lesson_words({"reset", "--state", state}).out, "no progress"));
}

TEST_CASE("every line of the checklist has a name of its own, and lessons cover only such lines") {
  std::vector<std::string_view> names;
  for (const ChecklistLine& line : checklist()) {
    CHECK(std::ranges::find(names, line.name) == names.end());
    CHECK(line.says != "");
    names.push_back(line.name);
  }
  CHECK(names.size() == 68);
  for (const Lesson& lesson : built_in_lessons()) {
    for (const std::string& name : lesson.covers) CHECK(std::ranges::find(names, name) != names.end());
  }
}

TEST_CASE("every line of the checklist is shown by a command of a lesson") {
  const std::vector<Lesson> lessons = built_in_lessons();
  for (const ChecklistLine& line : checklist()) {
    const auto shows = [&](const CommandBlock& block) {
      return std::ranges::find(block.attributes.covers, line.name) != block.attributes.covers.end();
    };
    const bool is_shown = std::ranges::any_of(
        lessons, [&](const Lesson& lesson) { return std::ranges::any_of(lesson.document.commands, shows); });
    CHECK_MESSAGE(is_shown, line.name << " " << line.says);
  }
}

TEST_CASE("every lesson asks for a number, and names a mistake that is often made") {
  for (const Lesson& lesson : built_in_lessons()) {
    CAPTURE(lesson.name);
    CHECK(lesson.minutes >= 5);
    CHECK(lesson.minutes <= 25);
    CHECK(std::ranges::any_of(lesson.questions, [](const Question& question) {
      return question.kind == AnswerKind::number && !question.notes.empty();
    }));
  }
}

TEST_CASE("how long a lesson takes follows from its words, questions, puzzles and commands") {
  const auto minutes = [](const std::string& text) {
    return read_lesson("---\ntitle: t\n---\n" + text, "a.md").minutes;
  };
  std::string words;
  for (int i = 0; i < 180; ++i) words += "word ";
  const std::string question = "```question\nask: a\nof: d_k\n```\n";
  const std::string choice = "```question\nask: a\nkind: choice\nof: d_k = 1\nchoices: yes | no\n```\n";
  const std::string guess = "```question\npredict: a\nof: d_k\n```\n";
  CHECK(minutes("") == 0);
  CHECK(minutes("word\n") == 1);
  CHECK(minutes(words + "\n") == 1);
  CHECK(minutes(words + "word\n") == 2);
  CHECK(minutes(question) == 1);
  CHECK(minutes(question + question) == 2);  // 1.8 and two words
  CHECK(minutes(choice + guess) == 1);       // 0.6 and five words
  CHECK(minutes(choice + guess + choice + guess) == 2);
  CHECK(minutes("```puzzle\nname: look-back\n```\n") == 5);
  const std::string commands = "```attn\nattn walk\nattn cost\n```\n";
  CHECK(minutes(commands) == 1);
  CHECK(minutes(commands + "<!-- attn:output -->\n```text\n" + words + words + "\n```\n<!-- /attn:output -->\n") == 1);
}

TEST_CASE("a question can be about any command that computes") {
  const TemporaryFolder folder;
  const auto asked = [&](std::string_view on, std::string_view of) {
    const std::string path = folder.write("a.md", fmt::format("---\ntitle: t\n---\n```question\n"
                                                              "ask: a\nof: {}\non: {}\nhint: h\n```\n",
                                                              of, on));
    const ProcessResult finished = run_lesson_words({"run", path});
    return finished.out + finished.errors;
  };
  CHECK(has(asked("attn compare-masks --scores '0 0' --mask '1 0'", "of_weights.left[1,1]"), "Answer: 0.5"));
  CHECK(has(asked("--example order --swap 1,2", "columns(with.swapped.output)"), "Answer: 4"));
  CHECK(has(asked("attn scale --only scaled", "weights[1,1]"), "Answer: 0.88\n"));
  CHECK(has(asked("attn version", "weights[1,1]"), "a.md:4: on: the command computes nothing"));
  CHECK(has(asked("attn align", "no[1,1]"), "a.md:"));
}

TEST_CASE("a paragraph is shown without its marks, and bold where there are colors") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.md", "---\ntitle: t\n---\nTake **two long**\n*words* and `x_1`.\n\n- a **list** too\n");
  CHECK(has(run_lesson_words({"show", path}).out, "\nTake two long words and x_1.\n\n- a list too\n"));
  CHECK(has(run_lesson_words({"show", path, "--color", "always"}).out,
            "\nTake \x1b[1mtwo\x1b[0m \x1b[1mlong\x1b[0m \x1b[3mwords\x1b[0m and \x1b[36mx_1\x1b[0m.\n"));
  CHECK(has(run_lesson_words({"show", path, "--format", "markdown"}).out, "Take **two long** *words* and `x_1`."));
}
