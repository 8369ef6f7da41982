#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "command/docs.hpp"
#include "draws.hpp"
#include "process.hpp"
#include "school/drill/drill.hpp"
#include "school/drill/sheet.hpp"
#include "school/lesson/hand_in.hpp"
#include "school/lesson/marking.hpp"
#include "school/tutor/diagnosis.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

Drill drill_of(std::string_view name) { return find_drill(std::string(name)); }

// A question is the same as its own expression, worked out in the computation of its own command: what is checked
// is that it can be asked, that it is judged right, and that no mistake is.
void check_problem(const Drill& drill, std::uint32_t seed) {
  CAPTURE(drill.name);
  CAPTURE(seed);
  const DrawnProblem drawn = DrillSeries({drill}, seed, block_runner()).next();
  const Question& question = drawn.problem.question;
  CAPTURE(question.ask);
  CAPTURE(question.on);
  CHECK(question.ask.ends_with("?") + question.ask.ends_with(".") == 1);
  CHECK(!question.hints.empty());
  CHECK(judge(drawn.solved, answer_of(drawn.solved)).mark == Judgment::Mark::right);
  const std::vector<RecognizedAnswer>& mistakes = recognizable_answers(drawn.solved);
  for (std::size_t i = 0; i < std::min<std::size_t>(mistakes.size(), 5); ++i) {
    CAPTURE(mistakes[i].says);
    CHECK(judge(drawn.solved, written(mistakes[i].quantity)).mark != Judgment::Mark::right);
  }
}

// What a calculation in a hint gives: "2 · 1 + 0 · (-3)", "e² / (e⁰ + e²)", "12 / √16". Nothing: it is none.
std::optional<double> worked_out_hint(const std::string& hint) {
  try {
    const Quantity found = look_up_quantity(hint, nullptr).quantity;
    const double* const number = std::get_if<double>(&found);
    return number ? std::optional(*number) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

CheckedDrill checked(const std::string& block, const std::string& before = "---\ntrains: it\n---\n") {
  return check_drill(before + "```drill\n" + block + "```\n", "a.md", block_runner());
}

// What is wrong with a drill that has these lines in place of its own, or besides them.
std::string fault_of(const std::string& line) {
  std::string block;
  const std::string key = line.substr(0, line.find(':'));
  bool is_in = false;
  for (const char* const own :
       {"draw: n = 2..4", "draw: s = 1 by n of 0..9", "draw: j = 1..n", "ask: What is the weight of key {j} of {s}?",
        "on: attn walk --scores '{s}'", "of: weights[1,{j}]", "hint: Look.", "solution: --only weights"}) {
    if (std::string_view(own).starts_with("ask:") && key != "ask" &&
        (key == "let" || key == "draw" || key == "keep" || key == "about"))
      block += line + "\n", is_in = true;
    const bool is_replaced = std::string_view(own).starts_with(key + ":") && key != "draw" && key != "hint";
    block += (is_replaced ? line : own) + std::string("\n");
    is_in = is_in || is_replaced;
  }
  if (!is_in) block += line + "\n";
  const std::vector<std::string> faults = checked(block).faults;
  return faults.empty() ? "nothing" : faults.front();
}

std::string what_they_ask(std::vector<Drill> drills, std::uint32_t seed, std::size_t count) {
  DrillSeries series(std::move(drills), seed, block_runner());
  std::string asked;
  for (std::size_t i = 0; i < count; ++i) {
    const Question question = series.next().problem.question;
    asked += question.on + question.ask + "\n";
  }
  return asked;
}

}  // namespace

TEST_CASE("built-in drills draw problems whose answers are right and are no mistakes") {
  const std::uint32_t seeds = is_sanitized() ? 10 : drawn(30U, 200U);
  for (const Drill& drill : SomeOf(built_in_drills())) {
    for (std::uint32_t seed = 0; seed < seeds; ++seed) check_problem(drill, seed);
  }
}

TEST_CASE("there is nothing to find fault with in built-in drills, nor in what an author begins with") {
  for (const DrillFile& file : SomeOf(drill_files())) {
    const CheckedDrill checked = check_drill(file.text, std::string(file.path), block_runner());
    CAPTURE(file.path);
    CHECK(checked.faults == std::vector<std::string>{});
    for (const CheckedDrill::Kind& kind : checked.kinds) CHECK(kind.answers > 1);
  }
  const CheckedDrill checked = check_drill(drill_template(), "a.md", block_runner());
  CHECK(checked.faults == std::vector<std::string>{});
  CHECK(checked.kinds.front().problems > 20);
}

TEST_CASE("the drill that the guide for authors shows has no faults") {
  const std::string guide = bytes_of(std::string(ATTN_SOURCE_FOLDER) + "/docs/lessons.md");
  const std::string fence = "````markdown\n", begin = fence + "---\ntrains:";
  const std::size_t from = guide.find(begin) + fence.size();
  REQUIRE(guide.find(begin) != std::string::npos);
  const std::string drill = guide.substr(from, guide.find("````", from) - from);
  CHECK(check_drill(drill, "a.md", block_runner()).faults == std::vector<std::string>{});
}

TEST_CASE("a last hint that is a calculation gives the answer") {
  const std::uint32_t seeds = drawn<std::uint32_t>(3, 10);
  std::map<std::string, std::uint32_t> calculations;
  for (const Drill& drill : built_in_drills()) {
    for (std::uint32_t seed = 0; seed < seeds; ++seed) {
      const DrawnProblem drawn = DrillSeries({drill}, seed, block_runner()).next();
      const double* const answer = std::get_if<double>(&drawn.solved.answer);
      const std::optional<double> hint = worked_out_hint(drawn.problem.question.hints.back());
      if (!answer || !hint) continue;
      CAPTURE(drill.name);
      CAPTURE(drawn.problem.question.hints.back());
      CHECK(*answer == doctest::Approx(*hint).epsilon(1e-3));
      ++calculations[drill.name];
    }
  }
  for (const char* const name : {"projection", "scores", "scale", "softmax", "masked-softmax", "causal-weights",
                                 "weighted-sum", "alignment", "parameters", "multiply-adds", "positions"})
    CHECK_MESSAGE(calculations[name] == seeds, name);
  CHECK(calculations["layer-norm"] > 0);
}

TEST_CASE("a problem that is filled in says what is computed with the numbers that were drawn") {
  const DrawnProblem drawn = DrillSeries({drill_of("masked-softmax")}, 7, block_runner()).next();
  CHECK(drawn.problem.question.on == "attn walk --scores '2 1 1' --mask '1 0 1'");
}

TEST_CASE("draws are the same on every machine") {
  const auto drawn = [](std::uint32_t attempt) {
    Draws draws{7, attempt};
    DrawnNames names;
    names.draw("x = 1 by 8 of 0..99", draws);
    return names.filled("{x}");
  };
  CHECK(drawn(0) == "92 48 3 69 29 88 19 23");
  CHECK(drawn(1) == "33 57 57 69 35 48 12 99");
}

TEST_CASE("lines of a drill draw numbers, rows, matrices and words, and work others out") {
  Draws draws{7, 0};
  for (int i = 0; i < 50; ++i) {
    DrawnNames again;
    again.draw("n = 3..4", draws);
    again.draw("hidden = 1..n", draws);
    again.draw("j = 1..n except hidden", draws);
    CHECK(again.is_so("abs(j - hidden) > 0"));
    again.draw("s = 2 by n of -n..n step 2", draws);
    CHECK(again.is_so("largest(s[1]) < n + 1"));
    again.draw("a, b = one of 1; cat | 2; dog", draws);
    CHECK(again.filled("{a} {b}") == (again.is_so("a = 1") ? "1 cat" : "2 dog"));
    again.draw("w = 2 rows of shuffled one of 0.5 0.25 0.25 | 0.5 0.3 0.2", draws);
    again.work_out("all = sum(w[1]) + sum(w[2])");
    CHECK(again.filled("{all}") == "2");
  }
}

TEST_CASE("texts of a drill are filled in") {
  Draws draws{7, 0};
  DrawnNames names;
  names.work_out("x = 2 by 3 of row * 10 - column");
  names.work_out("s = 1 by 3 of column - 1");
  names.work_out("t = 1 by 2 of log(column + 1)");
  names.work_out("n = columns(x) / 2");
  names.work_out("third, fourth = item 1 + 2 of a; b | a; b | the last; {n} | a; b");
  names.draw("words = one of we read books", draws);
  for (const auto& [text, filled] : {std::pair{"{x}", "9 8 7; 19 18 17"},
                                     {"{ x[2,1] } {{a} {n}", "19 {a} 1.5"},
                                     {"{n: 3 decimals} {t: 2 decimals}", "1.500 0.69 1.10"},
                                     {"{words}, {words[n*2]}", "we read books, books"},
                                     {"{third}, {fourth}", "the last, 1.5"},
                                     {"{products(x[1], s)}", "9 · 0 + 8 · 1 + 7 · 2"},
                                     {"{products(x[,2], t)}", "8 · 0.6931 + 18 · 1.0986"},
                                     {"{powers(s)}", "e⁰ = 1, e¹ = 2.72, e² = 7.39"},
                                     {"{powers(t)}", "e^0.6931 ≈ 2, e^1.0986 ≈ 3"},
                                     {"{share(e^s, 3)}", "e² / (e⁰ + e¹ + e²)"},
                                     {"{share(s without 2, 1)}", "0 / (0 + 2)"},
                                     {"{share(e^x[1] up to 2, 2)}", "e⁸ / (e⁹ + e⁸)"}})
    CHECK(names.filled(text) == filled);
}

TEST_CASE("what is wrong with a drill is said with its line") {
  for (const auto& fault : {std::pair{"hint: One more.", "nothing"},
                            {"draw: m = 2..k", "a.md:8: unknown name 'k' (did you mean 'j'?)"},
                            {"draw: m = 2..1", "a.md:8: '2..1' is empty"},
                            {"draw: m = 1..2 step 0", "a.md:8: '0' is 0: give a whole number from 1"},
                            {"draw: n = 1..2", "a.md:8: n has a value already"},
                            {"draw: e = 1..2", "a.md:8: e means something else"},
                            {"draw: m = 100 by 1 of 0..1", "give a whole number from 1 to 64"},
                            {"draw: a, b = one of 1; 2 | 3", "1 value for 2 names"},
                            {"draw: a = one of 1 |", "something is missing beside '|'"},
                            {"draw: m", "write a name, =, and a value"},
                            {"draw: m = 2 rows of one of a b", "a row has numbers"},
                            {"let: m = item 3 of a | b", "give a whole number from 1 to 2"},
                            {"let: m = s[1,9]", "a.md:8: "},
                            {"keep: n", "compare two numbers"},
                            {"keep: n > 9", "a.md:8: keep: this was not so in 1000 draws"},
                            {"ask: What of {m}?", "a.md:8: unknown name 'm'"},
                            {"ask: What of {j?", "has no }"},
                            {"ask: What of {share(s, 9)}?", "a.md:8: '9' is 9: give a whole number"},
                            {"ask: What of {products(s)}?", "products has 2 parts in its parentheses"},
                            {"ask: What of {powers(t)}?", "unknown matrix 't'"},
                            {"ask: What of {j: many decimals}?", "write how many decimals"},
                            {"hint: {m}", "a.md:13: unknown name 'm'"},
                            {"given: nothing", "a.md:13: unknown matrix 'nothing'"},
                            {"solution: --wrong", "attn walk has no option '--wrong'"},
                            {"on: attn walk --scores '{s}' --mask 1", "a.md:4: "},
                            {"on: attn walk --scores '{s}' -o /tmp/no.txt", "writes no files"},
                            {"on: attn show /etc/passwd", "a.md:4: "},
                            {"of: weights[1,9]", "a.md:4: "},
                            {"of: n_q", "a.md:4: the answer is always 1: ask for something that what is drawn changes"},
                            {"often: 99", "often must be"},
                            {"predict: What?", "unknown key of a drill 'predict'"},
                            {"drwa: n = 1..2", "did you mean 'draw'?"},
                            {"kind: nothing", "unknown kind of question"}}) {
    CAPTURE(fault.first);
    CHECK_MESSAGE(has(fault_of(fault.first), fault.second), fault_of(fault.first));
  }
  CHECK(has(
      checked(
          "draw: n = 1..2\nask: What?\non: --scores '0 {n}'\nof: weights[1,1]\nhint: A.\nsolution: --only weights\n")
          .faults.front(),
      "a.md:4: 40 draws give only 2 different problems: draw more numbers"));
  CHECK(has(checked("ask: A?\n").faults.front(), "a.md:4: the drill computes nothing"));
  CHECK(has(checked("ask: A?\non: --scores '0 1'\n", "").faults.front(),
            "a.md:1: the drill does not say what it trains"));
  CHECK(has(checked("ask: A?\non: --scores '0 1'\n", "").faults.back(), "a.md:1: the drill has no solution"));
  CHECK(has(check_drill("---\ntrains: A\n---\n", "a.md", block_runner()).faults.front(), "has no block of drill"));
}

TEST_CASE("a drill of one's own is begun, checked and taken") {
  const TemporaryFolder folder;
  const std::string path = folder.path("mine.md");
  CHECK(run_attn({"drill", "new", path}).code == 0);
  CHECK(run_attn({"drill", "new", path}).code == 2);
  CHECK(run_attn({"drill", "new", path, "--yes"}).code == 0);
  const ProcessResult fine = run_attn({"drill", "check", path});
  CHECK(fine.code == 0);
  CHECK(has(fine.out, "Nothing is wrong."));
  const ProcessResult sheet = run_attn({"drill", path, "softmax", "--seed", "7", "--count", "2"});
  CHECK(sheet.code == 0);
  CHECK(has(sheet.out, "These are the scaled scores"));
  const std::string wrong = folder.write("wrong.md", "---\ntrains: it\n---\n```drill\ndraw: n = 1..m\n```\n");
  const ProcessResult faults = run_attn({"drill", "check", path, wrong});
  CHECK(faults.code == 1);
  CHECK(has(faults.out, "wrong.md:4: the drill computes nothing"));
  CHECK(run_attn({"drill", wrong}).code == 2);
  CHECK(run_attn({"drill", "check", path, "--seed", "7"}).code == 2);
  CHECK(run_attn({"drill", "check"}).code == 2);
  CHECK(run_attn({"drill", "softmax", "--yes"}).code == 2);
}

TEST_CASE("a stranger's drill takes no more than a document may, and reads only what is beside it") {
  const TemporaryFolder folder;
  const auto taken = [&](const std::string& on) {
    return run_attn({"drill",
                     folder.write("a.md", "---\ntrains: it\n---\n```drill\ndraw: n = 1..9\nask: What?\non: " + on +
                                              "\nof: weights[1,1]\nhint: A.\nsolution: --only weights\n```\n"),
                     "--count", "1"});
  };
  folder.write("beside.csv", "1,2\n");
  CHECK(taken("attn walk --scores beside.csv").code == 0);
  CHECK(has(taken("attn walk --scores /etc/passwd").errors, "a document"));
  CHECK(has(taken("attn walk --n-q 4000 --n-k 4000 --d-k 400").errors, "more"));
}

TEST_CASE("what a problem asks for does not depend on how often its numbers are drawn") {
  Draws draws{7, 0}, again{7, 1};
  for (int i = 0; i < 20; ++i) CHECK(draws.kind(3) == again.kind(3));
  DrillSeries series({drill_of("layer-norm")}, 7, block_runner());
  int variances = 0;
  for (int i = 0; i < 60; ++i) variances += series.next().problem.question.of.starts_with("variance");
  CHECK(variances > 12);  // a third of them, about
  CHECK(variances < 28);
}

TEST_CASE("a seed draws the same problems again, and another seed draws others") {
  for (const Drill& drill : SomeOf(built_in_drills())) {
    CAPTURE(drill.name);
    CHECK(what_they_ask({drill}, 7, 3) == what_they_ask({drill}, 7, 3));
    CHECK(what_they_ask({drill}, 7, 5) != what_they_ask({drill}, 8, 5));
  }
}

TEST_CASE("a series of problems repeats none as long as there are others, and takes drills in turn") {
  DrillSeries series({drill_of("scores"), drill_of("shapes")}, 3, block_runner());
  std::set<std::string> asked;
  for (std::size_t i = 0; i < 40; ++i) {
    const DrawnProblem drawn = series.next();
    CHECK(drawn.problem.question.of.starts_with(i % 2 == 0 ? "scores[" : "shape("));
    CHECK(asked.insert(drawn.problem.question.on + drawn.problem.question.ask).second);
  }
  // Eighteen questions on three words are all that there is on causal masks, with a few scores each.
  CHECK(!what_they_ask({drill_of("causal-mask")}, 1, 200).empty());
}

TEST_CASE("a problem is drawn again where a mistake would give the correct answer as well") {
  // With equal scores, or with a score of 0, some mistakes change nothing: such problems are not asked.
  std::size_t alike = 0;
  for (const char* const name : {"projection", "scores", "scale", "weighted-sum"}) {
    const Drill drill = drill_of(name);
    for (std::uint32_t seed = 0; seed < 40; ++seed)
      alike += cannot_be_told_apart(DrillSeries({drill}, seed, block_runner()).next().solved).empty() ? 0 : 1;
  }
  CHECK(alike <= 16);  // of 160; a few draws do not always find better numbers
}

TEST_CASE("a lesson is written as a worksheet, and with answers to unfold") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", R"(---
title: A title
---
First.

```question
ask: Which score?
of: scores[1,1]
on: --example thinking-machines
hint: one
wrong: scores[1,2] => This is the score of the other key.
```

Here it is.

```attn
attn walk --only scores
```
)");
  const auto exported = [&](const Words& words) {
    Words all = {"lesson", "export", lesson};
    all.insert(all.end(), words.begin(), words.end());
    return run_attn(all);
  };
  const std::string sheet = exported({"--worksheet"}).out;
  CHECK(has(sheet, "> Answer: ____"));
  CHECK(has(sheet, "$ attn walk --only scores"));
  CHECK_FALSE(has(sheet, "112"));
  const std::string with = exported({"--with-answers"}).out;
  CHECK(has(with, "<summary>Answer</summary>\n\n112\n"));
  CHECK(has(with, "<summary>Output</summary>"));
  const std::string html = folder.path("a.html");
  CHECK(exported({html, "--with-answers"}).code == 0);
  CHECK(has(bytes_of(html), "<details>\n<summary>Answer</summary>\n<p>112</p>\n</details>"));
  CHECK_FALSE(has(bytes_of(html), "<script"));
  const ProcessResult marked = exported({"--answers", folder.write("ana.txt", "96\n")});
  CHECK(marked.code == 1);
  CHECK(has(marked.out, "*Your answer:* 96. Not correct; the answer is 112. This is the score of the other key."));
  CHECK(exported({"--answers", folder.write("ben.txt", "112\n")}).code == 0);
  CHECK(exported({"--worksheet", "--with-answers"}).code == 2);
  CHECK(has(exported({"--answers", folder.write("cem.txt", "-\n")}).out, "*Not answered.*"));
  CHECK(has(exported({"--answers", folder.write("cem.txt", "many\n")}).out,
            "many. It could not be read; the answer is 112. Please type a number"));
  std::filesystem::create_directory(folder.path("class"));
  folder.write("class/ana.txt", "96\n");
  folder.write("class/ben.txt", "112\n");
  const ProcessResult marks = run_attn({"lesson", "run", lesson, "--answers", folder.path("class")});
  CHECK(marks.code == 1);
  CHECK(has(marks.out, "  ben      ✓  1\n"));
  CHECK(exported({"--answers", folder.path("class")}).code == 2);
}

TEST_CASE("the drills are listed, and a misspelled one is refused with what is meant") {
  const ProcessResult listed = run_attn({"drill"});
  CHECK(listed.code == 0);
  for (const Drill& drill : built_in_drills()) CHECK_MESSAGE(has(listed.out, drill.name), drill.name);
  const ProcessResult refused = run_attn({"drill", "sotfmax"});
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "did you mean 'softmax'?"));
  CHECK(run_attn({"drill", "softmax", "--count", "0"}).code == 2);
  CHECK(run_attn({"drill", "softmax", "--with-answers", "--answers", "none.txt"}).code == 2);
}

TEST_CASE("a sheet of problems has no answers unless they are asked for") {
  for (const char* const format : {"text", "markdown", "html", "json", "latex"}) {
    CAPTURE(format);
    const Words words = {"drill", "softmax", "scale", "--seed", "7", "--count", "4", "--format", format};
    const ProcessResult sheet = run_attn(words);
    CHECK(sheet.code == 0);
    CHECK(has(sheet.out, "Problem 4"));
    CHECK_FALSE(has(sheet.out, "Problem 5"));
    CHECK_FALSE(has(sheet.out, "<details>"));
    CHECK_FALSE(has(sheet.out, "--explain"));
    CHECK(has(sheet.out, "Name: "));
    Words with = words;
    with.emplace_back("--with-answers");
    const ProcessResult solved = run_attn(with);
    CHECK(has(solved.out, "Answer"));
    CHECK(has(solved.out, "explain "));
    CHECK(has(solved.out, "<details>") ==
          (std::string_view(format) == "markdown" || std::string_view(format) == "html"));
    CHECK(run_attn(words).out == sheet.out);
  }
}

TEST_CASE("answers that were handed in are marked with their diagnoses") {
  const TemporaryFolder folder;
  DrillSeries series({drill_of("scale")}, 7, block_runner());
  std::string right, wrong;
  for (int i = 0; i < 3; ++i) {
    const DrawnProblem drawn = series.next();
    right += answer_of(drawn.solved) + "\n";
    wrong += written(drawn.solved.notes.front().first) + "\n";
  }
  const auto mark = [&](const std::string& path, const std::string& format) {
    return run_attn({"drill", "scale", "--seed", "7", "--count", "3", "--answers", path, "--format", format});
  };
  const std::string good = folder.write("ana.txt", "# Ana\n" + right), bad = folder.write("ben.txt", wrong);
  CHECK(mark(good, "text").code == 0);
  CHECK(has(mark(good, "text").out, "Correct: 3 of 3 answers."));
  const ProcessResult marked = mark(bad, "text");
  CHECK(marked.code == 1);
  CHECK(has(marked.out, "This is the score divided by d_k."));
  const ProcessResult json = mark(bad, "json");
  CHECK(has(json.out, "\"student\": \"ben\""));
  CHECK(has(json.out, "\"points\": 0"));
  CHECK(has(json.out, "\"verdict\": \"wrong\""));
  CHECK(has(json.out, "\"reason\": \"This is the score divided by d_k."));
  const ProcessResult refused = mark(folder.write("cem.txt", "1\n"), "text");
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "cem: 1 answer to 3 questions"));
}

TEST_CASE("a sheet of problems is a table for programs") {
  const auto sheet = [](const Words& more) {
    Words words = {"drill", "scale", "scores", "scale", "--seed", "7", "--count", "2", "--format"};
    words.insert(words.end(), more.begin(), more.end());
    return run_attn(words).out;
  };
  const std::string csv = sheet({"csv"});
  CHECK(csv.starts_with("\"number\",\"drill\",\"seed\",\"question\",\"kind\",\"given\"\n1,\"scale\",7,"));
  CHECK(has(csv, "\"number\",\"scores = "));
  CHECK(has(csv, "\n2,\"scores\","));
  CHECK(has(sheet({"csv", "--with-answers"}), "\"kind\",\"given\",\"answer\"\n"));
  const std::string json = sheet({"json"});
  CHECK(has(json, "\"drill\": \"scale\""));
  CHECK(has(json, "\"seed\": 7"));
  CHECK_FALSE(has(json, "\"answer\""));
  const std::string markdown = sheet({"markdown"});
  CHECK(markdown.starts_with("# Drill: scale and scores (seed 7)\n"));
  CHECK(has(markdown, "\n**Question:** "));
}

TEST_CASE("each problem of a sheet is drawn again alone with its own seed") {
  const DrillSheet sheet{{drill_of("softmax"), drill_of("projection")}, 7, 6};
  const std::vector<DrawnProblem> problems = problems_of(sheet, block_runner());
  std::set<std::uint32_t> seeds;
  for (const DrawnProblem& one : problems) {
    const DrawnProblem again = DrillSeries({*one.drill}, one.seed, block_runner()).next();
    CHECK(again.problem.question.ask == one.problem.question.ask);
    CHECK(again.problem.question.on == one.problem.question.on);
    seeds.insert(one.seed);
  }
  CHECK(seeds.size() == problems.size());
}

TEST_CASE("a sheet can be drawn on a mistake, which then shows in each of its problems") {
  const Mistake& mistake = find_mistake("not-scaled");
  const std::vector<Drill> drills = drills_that_show(mistake, built_in_drills(), block_runner());
  REQUIRE_FALSE(drills.empty());
  const DrillSheet sheet{{drills.front()}, 3, 4, {&mistake}};
  for (const DrawnProblem& one : problems_of(sheet, block_runner())) {
    const std::vector<RecognizedAnswer>& all = recognizable_answers(one.solved);
    CHECK(std::ranges::find(all, &mistake, &RecognizedAnswer::mistake) != all.end());
  }
  std::vector<std::string> words = split_at_any(command_of(sheet), " ");
  const DrillSheet again = drill_sheet_of(std::span(words).subspan(2));
  CHECK(command_of(again) == command_of(sheet));
}

TEST_CASE("words and digits of a sheet's matrices stand in its table for programs") {
  const ProcessResult csv = run_attn({"drill", "projection", "--seed", "1", "--count", "1", "--format", "csv"});
  CHECK(has(csv.out, "x (rows the, dog) = 1 0 -1; 2 -1 1, w_q = -1 2; 2 -1; 0 3"));
  CHECK(has(run_attn({"drill", "residual", "--seed", "1", "--count", "1", "--format", "csv"}).out, "output = 0.0769 "));
}

TEST_CASE("a class is marked by the sheets that its hand-ins name, and gets a sheet on its commonest mistakes") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("class"));
  const std::string head = "Sheet: attn drill scale --seed 7 --count 3\n";
  DrillSeries series({drill_of("scale")}, 7, block_runner());
  std::string right, wrong;
  for (int i = 0; i < 3; ++i) {
    const DrawnProblem drawn = series.next();
    right += answer_of(drawn.solved) + "\n";
    wrong += written(drawn.solved.notes.front().first) + "\n";
  }
  folder.write("class/1.txt", "Name: Ana\n" + head + right);
  folder.write("class/2.txt", "Name: Ben\n" + head + wrong);
  folder.write("class/3.txt", "Name: Cem\n" + head + wrong);
  folder.write("class/4.txt", "Name: Dia\nSheet: attn lesson 5\n1. 0.5\n");
  const ProcessResult marked = run_attn({"lesson", "class", folder.path("class"), "--seed", "4"});
  CHECK(marked.code == 1);
  for (const std::string part :
       {"A class: 4 hand-ins", "Lesson 5", "On average 1.0 of 3 answers are correct.", "2 of 4: ", "Dia",
        "This is the score divided by d_k.", "$ attn drill scale --seed 4 --count "})
    CHECK_MESSAGE(has(marked.out, part), part);
  folder.write("class/5.txt", "0.5\n");
  CHECK(has(run_attn({"lesson", "class", folder.path("class")}).errors, "5 does not say which sheet it answers"));
  for (const auto& [line, says] : {std::pair{"attn drill ../x.md", "only name drills that are built in"},
                                   {"attn lesson x.md", "is not known"},
                                   {"attn drill scale --out x", "no option --out"},
                                   {"attn drill scale --count 100000", "whole number up to 1000"},
                                   {"attn drill --seed 4", "names no drill"},
                                   {"rm -rf", "is not known"}}) {
    folder.write("class/5.txt", std::string("Sheet: ") + line + "\n0.5\n");
    const ProcessResult refused = run_attn({"lesson", "class", folder.path("class")});
    CHECK(refused.code == 2);
    CHECK_MESSAGE(has(refused.errors, says), refused.errors);
  }
}

TEST_CASE("an answer is shown with the decimals that its tolerance asks for") {
  DrillSeries series({drill_of("softmax")}, 7, block_runner());
  SolvedQuestion solved = series.next().solved;
  const auto shown = [&](double answer, std::optional<double> tolerance) {
    solved.answer = answer;
    solved.question.tolerance = tolerance;
    return rounded_answer(solved);
  };
  CHECK(shown(0.6652, std::nullopt) == "0.67");
  CHECK(shown(0.6652, 0.0005) == "0.665");
  CHECK(shown(0.6652, 0.0) == "0.6652");
  CHECK(shown(2.5, std::nullopt) == "2.5");
  CHECK(shown(112.0, std::nullopt) == "112");
  for (const double answer : {0.6652, -0.125, 1.875, 20.085}) {
    shown(answer, std::nullopt);
    CHECK(judge(solved, rounded_answer(solved)).mark == Judgment::Mark::right);
  }
}

TEST_CASE("answers are read with or without the numbers of their questions") {
  using Answers = std::vector<std::optional<std::string>>;
  const Answers both = {"0.4", "2x4"};
  const Answers second = {std::nullopt, "0.4"};
  std::vector<SolvedQuestion> questions(2);
  questions[0].answer = 0.25;
  questions[1].answer = Shape{2, 3};
  questions[1].question.kind = AnswerKind::shape;
  const auto read = [&](std::string_view text) {
    HandIn hand_in = hand_in_of(text, "ana");
    return by_question(hand_in, questions);
  };
  for (const char* const text :
       {"0.4\n2x4\n", "1. 0.4\n2. 2x4", "2) 2x4\r\n\r\n1) 0.4\r\n", "1: 0.4\n2: 2x4", "Q1 0.4\nQ2: 2x4",
        "\xEF\xBB\xBFQuestion 1: 0.4\nquestion 2 2x4", "Problem 1: 0.4\nProblem 2: 2x4",
        "Problem 1\n0.4\n\nProblem 2\n2x4\n", "1. weight = 0.4\n2. its shape = 2x4", "Name: Ana\nDate: today\n0.4\n2x4",
        "Ana Lee\n0.4\n2x4", "Ana Lee\n1. 0.4\n2. 2x4", "**Problem 1:** 0.4\n**Problem 2:** 2x4",
        "# A sheet\nName: Ana_____ Date: ____ Sheet: attn lesson 5\n## Problem 1\nWhat is it?\n"
        "Problem 1\nWhat is 1. of it?\nAnswer: 0.4___\nProblem 2\nAnd this?\nAnswer: 2x4"}) {
    CAPTURE(text);
    CHECK(read(text) == both);
  }
  for (const char* const text : {"-\n0.4", "Q2 0.4", "1. -\n2. 0.4", "1.\n2. 0.4", "–\n0.4"}) {
    CAPTURE(text);
    CHECK(read(text) == second);
  }
  CHECK(read("1.5\n2") == Answers{"1.5", "2"});
  CHECK(read("1.\n2.") == Answers{"1.", "2."});
  CHECK_THROWS_WITH(read("0.4"), doctest::Contains("1 answer to 2 questions"));
  CHECK_THROWS_WITH(read("0.4\n\n1\n2"),
                    doctest::Contains("3 answers to 2 questions, the first in line 1, '0.4', the last in line 4, '2'"));
  CHECK_THROWS_WITH(read("3. 0.4"), doctest::Contains("there is no question 3"));
  CHECK_THROWS_WITH(read("1. 0.4\n1. 0.5"), doctest::Contains("question 1 is answered twice"));
  CHECK_THROWS_WITH(read("1. 0.4\nor 0.5\n2. 2x4"),
                    doctest::Contains("question 1 has a second answer in line 2, 'or 0.5'"));
  CHECK_THROWS_WITH(read("Ana\nLee\n1. 0.4"), doctest::Contains("line 2, 'Lee' stands before the first question"));
}

TEST_CASE("the head of a hand-in names who answers what, also in UTF-16") {
  const std::string text = "Name: Zoë 𝛼____ Date: 3 May Sheet: `attn lesson 5`\r\n0.4\r\n";
  const auto same = [&](const HandIn& hand_in) {
    return hand_in.name == "Zoë 𝛼" && hand_in.sheet == "attn lesson 5" && hand_in.lines.size() == 1 &&
           hand_in.lines[0].text == "0.4" && hand_in.lines[0].number == 2;
  };
  CHECK(same(hand_in_of(text, "file")));
  const std::u16string wide = u"Name: Zoë 𝛼____ Date: 3 May Sheet: `attn lesson 5`\r\n0.4\r\n";
  std::string little = "\xFF\xFE", big = "\xFE\xFF";
  for (const char16_t unit : wide) {
    const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    little += {low, high};
    big += {high, low};
  }
  CHECK(same(hand_in_of(little, "file")));
  CHECK(same(hand_in_of(big, "file")));
  CHECK_THROWS_WITH(hand_in_of(little.substr(0, 7), "file"), doctest::Contains("half a letter at its end"));
  CHECK_THROWS_WITH(hand_in_of(std::string("\xFF\xFE\x00\xD8\x41\x00", 6), "file"), doctest::Contains("half a letter"));
  CHECK(hand_in_of("0.4", "file").name == "file");
}

TEST_CASE("a hand-in that cannot be marked stops no other one") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("class"));
  DrillSeries series({drill_of("scale")}, 7, block_runner());
  folder.write("class/ana.txt", answer_of(series.next().solved) + "\n-\n");
  folder.write("class/ben.md", "1\n2\n3\n");
  folder.write("class/ben.txt", "Q2: many\n");
  const auto marked = [&](const std::string& format) {
    return run_attn(
        {"drill", "scale", "--seed", "7", "--count", "2", "--answers", folder.path("class"), "--format", format});
  };
  const ProcessResult page = marked("text");
  CHECK(page.code == 1);
  CHECK(has(page.out, "  ana      ✓  –  1\n"));
  CHECK(has(page.out, "  ben.md   –  –  not marked\n"));
  CHECK(has(page.out, "  ben.txt  –  ?  0\n"));
  CHECK(has(page.out, "- ben.md: 3 answers to 2 questions"));
  const std::string csv = marked("csv").out;
  CHECK(
      csv.starts_with("\"student\",\"number\",\"question\",\"given\",\"answer\",\"verdict\",\"points\",\"reason\"\n"
                      "\"ana\",1,"));
  CHECK(std::ranges::count(csv, '\n') == 7);
  CHECK(has(csv, "\"missing\",0,\"\"\n"));
  CHECK(has(csv, "\"not marked\",0,\"3 answers to 2 questions"));
  CHECK(has(csv, "\"many\""));
  CHECK(has(csv, "\"unreadable\",0,\"Please type a number"));
}

TEST_CASE("a worksheet leaves out what is said behind a question up to the next section") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", R"(---
title: A title
---
First.

```question
ask: Which score?
of: scores[1,1]
on: --example thinking-machines
hint: one
```

It comes out.

```attn
attn walk --only scores
```

Here is another table.

```attn
attn walk --only scaled
```

Look at the table above.

```question
ask: Which one is it there?
of: scaled[1,1]
hint: one
```

That was all.

## Next

Another one.

```attn
attn walk --only scaled
```

```question
ask: Which scaled score?
of: scaled[1,2]
hint: one
```
)");
  const std::string sheet = run_attn({"lesson", "export", lesson, "--worksheet"}).out;
  for (const char* const stays :
       {"First.", "## Next", "Another one.", "$ attn walk --only scores", "table above", "14", "scaled score?"})
    CHECK_MESSAGE(has(sheet, stays), stays);
  CHECK_FALSE(has(sheet, "It comes out."));
  CHECK_FALSE(has(sheet, "That was all."));
  CHECK(has(run_attn({"lesson", "export", lesson, "--with-answers"}).out, "That was all."));
  CHECK(has(run_attn({"lesson", "show", lesson}).out, "About 4 minutes."));
}

TEST_CASE("a drill that is not named is asked for") {
  for (const char* const option : {"--answers", "--seed", "--count"}) {
    const ProcessResult refused = run_attn({"drill", option, "7"});
    CHECK(refused.code == 2);
    CHECK_MESSAGE(has(refused.errors, "needs a drill"), option);
  }
}

TEST_CASE("the hand-ins of a class are marked together") {
  const TemporaryFolder folder;
  DrillSeries series({drill_of("scale")}, 7, block_runner());
  std::string right;
  for (int i = 0; i < 2; ++i) right += answer_of(series.next().solved) + "\n";
  std::filesystem::create_directory(folder.path("class"));
  folder.write("class/ben.txt", "nothing\n1000\n");
  folder.write("class/ana.txt", right);
  folder.write("class/.hidden", "no answers\n");
  const Words words = {"drill", "scale", "--seed", "7", "--count", "2", "--answers", folder.path("class")};
  const ProcessResult marked = run_attn(words);
  CHECK(marked.code == 1);
  CHECK(has(marked.out, "  name     1  2  correct\n"));
  CHECK(has(marked.out, "  ana      ✓  ✓  2\n"));
  CHECK(has(marked.out, "  ben      ?  ✗  0\n"));
  CHECK(has(marked.out, "  correct  1  1"));
  std::filesystem::create_directory(folder.path("empty"));
  const ProcessResult refused = run_attn({"drill", "scale", "--answers", folder.path("empty")});
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "holds no files"));
}

TEST_CASE("a drill at a terminal goes on with Enter, counts, and shows how an answer comes about" * needs_terminals()) {
  DrillSeries series({drill_of("scale")}, 4, block_runner());
  const std::string first = answer_of(series.next().solved);
  series.next();
  const std::string third = answer_of(series.next().solved);
  const ProcessResult finished =
      converse_with_attn({"drill", "scale", "--seed", "4"}, {{"[1]", "h\n"},
                                                             {"[1]", first + "\n"},
                                                             {"[1 of 1 correct", "\n"},
                                                             {"[2]", "1000\n"},
                                                             {"[2]", "s\n"},
                                                             {"[2]", "nonsense\n"},
                                                             {"[2]", third + "\n"},
                                                             {"[2 of 2 correct · streak 2]", "?\n"},
                                                             {"ends the drill", "\n"},
                                                             {"[3]", "a\n"},
                                                             {"[2 of 3 correct · streak 0]", "q\n"}});
  CHECK(finished.code == 0);
  CHECK(has(finished.out, "Hint 1 of 2: Divide the score by the square root of d_k."));
  CHECK(has(finished.out, "--explain 'scaled[1,"));
  CHECK(has(finished.out, "3 problems, 2 correct at the first try. Longest streak: 2."));
}
