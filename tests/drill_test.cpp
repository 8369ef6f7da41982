#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "command/docs.hpp"
#include "draws.hpp"
#include "process.hpp"
#include "school/drill/drill.hpp"
#include "school/lesson/marking.hpp"
#include "school/tutor/diagnosis.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

using Numbers = std::vector<std::vector<double>>;

// A problem as its command line tells it, for a computation that knows nothing of the program.
class Told {
 public:
  explicit Told(const DrawnProblem& drawn) : of(drawn.problem.question.of) {
    const Words words = command_lines(drawn.problem.question.on, "drill", 1).front().words;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!words[i].starts_with("--")) continue;
      const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with("--");
      options_[words[i]] = has_value ? words[i + 1] : "";
    }
    const std::size_t open = of.find('['), comma = of.find(',');
    if (is_number_after(open)) row = std::stoul(of.substr(open + 1)) - 1;
    if (is_number_after(comma)) column = std::stoul(of.substr(comma + 1)) - 1;
  }

  Numbers numbers(const std::string& option) const {
    Numbers rows;
    for (const std::string& line : parted(options_.at(option), ";")) {
      rows.emplace_back();
      for (const std::string& number : parted(line, " ")) rows.back().push_back(std::stod(number));
    }
    return rows;
  }
  double number(const std::string& option) const { return std::stod(options_.at(option)); }
  std::size_t count(const std::string& option) const { return std::stoul(options_.at(option)); }
  Words words(const std::string& option) const { return parted(options_.at(option), " "); }
  bool has(const std::string& option) const { return options_.contains(option); }

  std::string of;
  std::size_t row = 0, column = 0;

 private:
  bool is_number_after(std::size_t at) const { return at < of.size() && of.find_first_of("0123456789", at) == at + 1; }
  std::map<std::string, std::string> options_;
};

double dot(const std::vector<double>& one, const std::vector<double>& other) {
  return std::inner_product(one.begin(), one.end(), other.begin(), 0.0);
}

std::vector<double> column_of(const Numbers& numbers, std::size_t column) {
  std::vector<double> cells;
  for (const auto& row : numbers) cells.push_back(row.at(column));
  return cells;
}

std::vector<double> softmax(std::vector<double> scores) {
  double sum = 0.0;
  for (double& score : scores) sum += score = std::exp(score);
  for (double& score : scores) score /= sum;
  return scores;
}

// The answer of a problem, by pencil and paper.
Quantity by_hand(std::string_view drill, const Told& told) {
  const std::size_t i = told.row, j = told.column;
  if (drill == "projection") return dot(told.numbers("--x")[i], column_of(told.numbers("--wq"), j));
  if (drill == "scores") return dot(told.numbers("--q")[i], told.numbers("--k")[j]);
  if (drill == "scale") return told.numbers("--scores")[i][j] / told.number("--scale");
  if (drill == "softmax") return softmax(told.numbers("--scores")[i])[j];
  if (drill == "masked-softmax") {
    double sum = 0.0;
    const std::vector<double> scores = told.numbers("--scores")[i], mask = told.numbers("--mask")[0];
    for (std::size_t k = 0; k < scores.size(); ++k) sum += mask[k] * std::exp(scores[k]);
    return mask[j] * std::exp(scores[j]) / sum;
  }
  if (drill == "causal-mask") {
    if (told.of.starts_with("sum")) return static_cast<double>(i + 1);
    return std::string(j <= i ? "yes" : "no");
  }
  if (drill == "causal-weights") {
    std::vector<double> scores = told.numbers("--scores")[i];
    scores.resize(i + 1);
    return softmax(scores)[j];
  }
  if (drill == "weighted-sum" || drill == "alignment")
    return dot(told.numbers("--weights")[i], column_of(told.numbers("--v"), j));
  if (drill == "attention") {
    std::vector<double> scores;
    for (const auto& key : told.numbers("--k"))
      scores.push_back(dot(told.numbers("--q")[0], key) / std::sqrt(double(key.size())));
    return dot(softmax(scores), column_of(told.numbers("--v"), 0));
  }
  if (drill == "cross-attention") {
    std::vector<double> scores;
    for (const auto& key : told.numbers("--k")) scores.push_back(dot(told.numbers("--q")[i], key));
    return told.words(
        "--key-tokens")[static_cast<std::size_t>(std::distance(scores.begin(), std::ranges::max_element(scores)))];
  }
  if (drill == "gradients") {
    const Numbers upstream = told.numbers("--upstream");
    if (told.of.starts_with("d_v")) return dot(column_of(told.numbers("--weights"), i), column_of(upstream, j));
    return dot(upstream[i], told.numbers("--v")[j]);
  }
  if (drill == "softmax-gradient") {
    const std::vector<double> weights = softmax(told.numbers("--scores")[0]),
                              gradient = column_of(told.numbers("--v"), 0);
    return weights[j] * (gradient[j] - dot(weights, gradient));
  }
  if (drill == "shapes") {
    if (told.of == "shape(k)") return Shape{told.count("--n-k"), told.count("--d-k")};
    return Shape{told.count("--n-q"), told.count(told.of == "shape(output)" ? "--d-v" : "--n-k")};
  }
  if (drill == "heads") {
    const std::size_t n = told.words("--text").size();
    return Shape{n, told.of == "shape(head.1.weights)" ? n : told.count("--d-model") / told.count("--heads")};
  }
  if (drill == "concat") {
    const std::size_t columns = told.count("--heads") * told.count("--d-v");
    if (told.of == "shape(w_o)") return Shape{columns, told.count("--d-model")};
    return Shape{told.words("--text").size(), columns};
  }
  if (drill == "parameters") {
    const double d_model = told.number("--d-model");
    return told.has("--d-ff") ? 2 * d_model * told.number("--d-ff") : 4 * d_model * d_model;
  }
  if (drill == "multiply-adds") {
    const double n = told.number("--n"), d = told.number("--d");
    return told.of.starts_with("layers[self-attention") ? 2 * n * n * d : 2 * n * d * d;
  }
  if (drill == "positions") {
    const double angle = double(i) / (j < 2 ? 1.0 : 100.0);
    return j % 2 == 0 ? std::sin(angle) : std::cos(angle);
  }
  if (drill == "layer-norm") {
    const std::vector<double> x = told.numbers("--x")[0];
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 4;
    double variance = 0.0;
    for (const double number : x) variance += (number - mean) * (number - mean) / 4;
    return told.of.starts_with("variance") ? variance : (x[j] - mean) / std::sqrt(variance);
  }
  if (drill == "feed-forward") {
    std::vector<double> inner;
    const Numbers w_1 = told.numbers("--w1");
    for (std::size_t k = 0; k < w_1[0].size(); ++k)
      inner.push_back(std::max(0.0, dot(told.numbers("--x")[0], column_of(w_1, k))));
    return dot(inner, column_of(told.numbers("--w2"), j));
  }
  return std::string("(nobody has worked this out)");
}

// The residual connection adds what random parameters make: of that only the sum is checked.
Quantity sum_of_cells(const DrawnProblem& drawn, const Told& told) {
  const std::string cell = fmt::format("[{},{}]", told.row + 1, told.column + 1);
  const std::string sum = fmt::format("source.x{0} + encoder.1.self_attention.output{0}", cell);
  return look_up_quantity(sum, drawn.solved.graph.get()).quantity;
}

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
  const Told told(drawn);
  const Quantity expected = drill.name == "residual" ? sum_of_cells(drawn, told) : by_hand(drill.name, told);
  const double* const number = std::get_if<double>(&expected);
  if (number) {
    CHECK(std::get<double>(drawn.solved.answer) == doctest::Approx(*number).epsilon(1e-4));
  } else {
    CHECK(drawn.solved.answer == expected);
  }
  const std::vector<Recognised>& mistakes = recognisable(drawn.solved);
  for (std::size_t i = 0; i < std::min<std::size_t>(mistakes.size(), 5); ++i) {
    CAPTURE(mistakes[i].says);
    CHECK(judge(drawn.solved, written(mistakes[i].quantity)).mark != Judgment::Mark::right);
  }
}

void check_all(std::span<const Drill> drills) {
  const std::uint32_t seeds = ATTN_SANITIZED ? 10 : drawn(30U, 200U);
  for (const Drill& drill : drills) {
    for (std::uint32_t seed = 0; seed < seeds; ++seed) check_problem(drill, seed);
  }
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

TEST_CASE("drills on scores draw problems whose answers are right and are no mistakes") {
  check_all(drills_of_scores());
}

TEST_CASE("drills on weights draw problems whose answers are right and are no mistakes") {
  check_all(drills_of_weights());
}

TEST_CASE("drills on shapes draw problems whose answers are right and are no mistakes") {
  check_all(drills_of_shapes());
}

TEST_CASE("drills on layers draw problems whose answers are right and are no mistakes") {
  check_all(drills_of_layers());
}

TEST_CASE("drills on training draw problems whose answers are right and are no mistakes") {
  check_all(drills_of_training());
}

TEST_CASE("draws are the same on every machine") {
  Draws draws{7, 1, 0};
  CHECK(written(draws.numbers(1, 8, 0, 99)) == "92 48 3 69 29 88 19 23");
  Draws others{7, 1, 1};
  CHECK(written(others.numbers(1, 8, 0, 99)) == "33 57 57 69 35 48 12 99");
}

TEST_CASE("what a problem asks for does not depend on how often its numbers are drawn") {
  Draws draws{7, 1, 0}, again{7, 1, 1};
  for (int i = 0; i < 20; ++i) CHECK(draws.kind(3) == again.kind(3));
  DrillSeries series({*std::ranges::find(drills(), std::string_view("layer-norm"), &Drill::name)}, 7, block_runner());
  int variances = 0;
  for (int i = 0; i < 60; ++i) variances += series.next().problem.question.of.starts_with("variance");
  CHECK(variances > 12);  // a third of them, about
  CHECK(variances < 28);
}

TEST_CASE("a seed draws the same problems again, and another seed draws others") {
  for (const Drill& drill : drills()) {
    CAPTURE(drill.name);
    CHECK(what_they_ask({drill}, 7, 3) == what_they_ask({drill}, 7, 3));
    CHECK(what_they_ask({drill}, 7, 5) != what_they_ask({drill}, 8, 5));
  }
}

TEST_CASE("a series of problems repeats none as long as there are others, and takes drills in turn") {
  DrillSeries series({drills_of_scores()[1], drills_of_shapes()[0]}, 3, block_runner());
  std::set<std::string> asked;
  for (std::size_t i = 0; i < 40; ++i) {
    const DrawnProblem drawn = series.next();
    CHECK(drawn.problem.question.of.starts_with(i % 2 == 0 ? "scores[" : "shape("));
    CHECK(asked.insert(drawn.problem.question.on + drawn.problem.question.ask).second);
  }
  // Eighteen questions on three words are all that there is on causal masks, with a few scores each.
  CHECK(!what_they_ask({*std::ranges::find(drills(), std::string_view("causal-mask"), &Drill::name)}, 1, 200).empty());
}

TEST_CASE("a problem is drawn again where a mistake would give the correct answer as well") {
  // With equal scores, or with a score of 0, some mistakes change nothing: such problems are not asked.
  std::size_t alike = 0;
  for (const char* const name : {"projection", "scores", "scale", "weighted-sum"}) {
    const Drill& drill = *std::ranges::find(drills(), std::string_view(name), &Drill::name);
    for (std::uint32_t seed = 0; seed < 40; ++seed)
      alike += cannot_be_told_apart(DrillSeries({drill}, seed, block_runner()).next().solved).empty() ? 0 : 1;
  }
  CHECK(alike <= 16);  // of 160; a few draws do not always find better numbers
}

TEST_CASE("a lesson is written as a worksheet, and with answers to unfold") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", R"(---
title: A title
minutes: 1
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
  CHECK(has(sheet, "> *Your answer:* ____"));
  CHECK(has(sheet, "$ attn walk --only scores"));
  CHECK_FALSE(has(sheet, "112"));
  const std::string with = exported({"--with-answers"}).out;
  CHECK(has(with, "<summary>Answer</summary>\n\n112\n"));
  CHECK(has(with, "<summary>Output</summary>"));
  const std::string html = folder.path("a.html");
  CHECK(exported({html, "--with-answers"}).code == 0);
  CHECK(has(bytes_of(html), "<details>\n<summary>Answer</summary>\n<p>112</p>\n</details>"));
  CHECK_FALSE(has(bytes_of(html), "<script"));
  const Finished marked = exported({"--answers", folder.write("ana.txt", "96\n")});
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
  const Finished marks = run_attn({"lesson", "run", lesson, "--answers", folder.path("class")});
  CHECK(marks.code == 1);
  CHECK(has(marks.out, "  ben      ✓  1\n"));
  CHECK(exported({"--answers", folder.path("class")}).code == 2);
}

TEST_CASE("the drills are listed, and a misspelled one is refused with what is meant") {
  const Finished listed = run_attn({"drill"});
  CHECK(listed.code == 0);
  for (const Drill& drill : drills()) CHECK_MESSAGE(has(listed.out, drill.name), drill.name);
  const Finished refused = run_attn({"drill", "sotfmax"});
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "did you mean 'softmax'?"));
  CHECK(run_attn({"drill", "softmax", "--count", "0"}).code == 2);
  CHECK(run_attn({"drill", "softmax", "--with-answers", "--answers", "none.txt"}).code == 2);
}

TEST_CASE("a sheet of problems has no answers unless they are asked for") {
  for (const char* const format : {"text", "markdown", "html", "json", "latex"}) {
    CAPTURE(format);
    const Words words = {"drill", "softmax", "scale", "--seed", "7", "--count", "4", "--format", format};
    const Finished sheet = run_attn(words);
    CHECK(sheet.code == 0);
    CHECK(has(sheet.out, "Problem 4"));
    CHECK_FALSE(has(sheet.out, "Problem 5"));
    CHECK_FALSE(has(sheet.out, "Answer"));
    CHECK_FALSE(has(sheet.out, "--explain"));
    Words with = words;
    with.emplace_back("--with-answers");
    const Finished solved = run_attn(with);
    CHECK(has(solved.out, "Answer"));
    CHECK(has(solved.out, "explain "));
    CHECK(has(solved.out, "<details>") ==
          (std::string_view(format) == "markdown" || std::string_view(format) == "html"));
    CHECK(run_attn(words).out == sheet.out);
  }
}

TEST_CASE("answers that were handed in are marked with their diagnoses") {
  const TemporaryFolder folder;
  DrillSeries series({drills_of_scores()[2]}, 7, block_runner());
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
  const Finished marked = mark(bad, "text");
  CHECK(marked.code == 1);
  CHECK(has(marked.out, "This is the score divided by d_k."));
  const Finished json = mark(bad, "json");
  CHECK(has(json.out, "\"student\": \"ben\""));
  CHECK(has(json.out, "\"points\": 0"));
  CHECK(has(json.out, "\"verdict\": \"wrong\""));
  CHECK(has(json.out, "\"reason\": \"This is the score divided by d_k."));
  const Finished refused = mark(folder.write("cem.txt", "1\n"), "text");
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
  CHECK(csv.starts_with("\"number\",\"drill\",\"seed\",\"question\",\"kind\",\"given\"\n\"1\",\"scale\",\"7\","));
  CHECK(has(csv, "\"number\",\"scores = "));
  CHECK(has(csv, "\n\"2\",\"scores\",\"7\","));
  CHECK(has(sheet({"csv", "--with-answers"}), "\"kind\",\"given\",\"answer\"\n"));
  const std::string json = sheet({"json"});
  CHECK(has(json, "\"drill\": \"scale\""));
  CHECK(has(json, "\"seed\": 7"));
  CHECK_FALSE(has(json, "\"answer\""));
  const std::string markdown = sheet({"markdown"});
  CHECK(markdown.starts_with("# Drill: scale and scores (seed 7)\n"));
  CHECK(has(markdown, "\n**Question:** "));
}

TEST_CASE("an answer is shown with the decimals that its tolerance asks for") {
  DrillSeries series({drills_of_weights()[0]}, 7, block_runner());
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
  for (const char* const text : {"0.4\n2x4\n", "1. 0.4\n2. 2x4", "2) 2x4\r\n\r\n1) 0.4\r\n", "1: 0.4\n2: 2x4",
                                 "Q1 0.4\nQ2: 2x4", "\xEF\xBB\xBFQuestion 1: 0.4\nquestion 2 2x4"}) {
    CAPTURE(text);
    CHECK(by_question(answers_in(text), 2) == both);
  }
  for (const char* const text : {"-\n0.4", "Q2 0.4", "1. -\n2. 0.4", "1.\n2. 0.4", "–\n0.4"}) {
    CAPTURE(text);
    CHECK(by_question(answers_in(text), 2) == second);
  }
  CHECK(by_question({"1.5", "2"}, 2) == Answers{"1.5", "2"});
  CHECK(by_question({"1.", "2."}, 2) == Answers{"1.", "2."});
  CHECK_THROWS_WITH(by_question({"0.4"}, 2), doctest::Contains("1 answer to 2 questions"));
  CHECK_THROWS_WITH(by_question({"0.4", "1", "2"}, 2), doctest::Contains("3 answers to 2 questions"));
  CHECK_THROWS_WITH(by_question({"3. 0.4"}, 2), doctest::Contains("there is no question 3"));
  CHECK_THROWS_WITH(by_question({"1. 0.4", "1. 0.5"}, 2), doctest::Contains("question 1 is answered twice"));
}

TEST_CASE("a hand-in that cannot be marked stops no other one") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("class"));
  DrillSeries series({drills_of_scores()[2]}, 7, block_runner());
  folder.write("class/ana.txt", answer_of(series.next().solved) + "\n-\n");
  folder.write("class/ben.md", "1\n2\n3\n");
  folder.write("class/ben.txt", "Q2: many\n");
  const auto marked = [&](const std::string& format) {
    return run_attn(
        {"drill", "scale", "--seed", "7", "--count", "2", "--answers", folder.path("class"), "--format", format});
  };
  const Finished page = marked("text");
  CHECK(page.code == 1);
  CHECK(has(page.out, "  ana      ✓  –  1\n"));
  CHECK(has(page.out, "  ben.md   –  –  not marked\n"));
  CHECK(has(page.out, "  ben.txt  –  ?  0\n"));
  CHECK(has(page.out, "- ben.md: 3 answers to 2 questions"));
  const std::string csv = marked("csv").out;
  CHECK(
      csv.starts_with("\"student\",\"number\",\"question\",\"given\",\"answer\",\"verdict\",\"points\",\"reason\"\n"
                      "\"ana\",\"1\","));
  CHECK(std::ranges::count(csv, '\n') == 7);
  CHECK(has(csv, "\"missing\",\"0\",\"\"\n"));
  CHECK(has(csv, "\"not marked\",\"0\",\"3 answers to 2 questions"));
  CHECK(has(csv, "\"many\""));
  CHECK(has(csv, "\"unreadable\",\"0\",\"Please type a number"));
}

TEST_CASE("a worksheet leaves out what is said behind a question up to the next section") {
  const TemporaryFolder folder;
  const std::string lesson = folder.write("a.md", R"(---
title: A title
minutes: 1
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
  CHECK(has(run_attn({"lesson", "show", lesson}).out, "About 1 minute."));
}

TEST_CASE("a drill that is not named is asked for") {
  for (const char* const option : {"--answers", "--seed", "--count"}) {
    const Finished refused = run_attn({"drill", option, "7"});
    CHECK(refused.code == 2);
    CHECK_MESSAGE(has(refused.errors, "needs a drill"), option);
  }
}

TEST_CASE("the hand-ins of a class are marked together") {
  const TemporaryFolder folder;
  DrillSeries series({drills_of_scores()[2]}, 7, block_runner());
  std::string right;
  for (int i = 0; i < 2; ++i) right += answer_of(series.next().solved) + "\n";
  std::filesystem::create_directory(folder.path("class"));
  folder.write("class/ben.txt", "nothing\n1000\n");
  folder.write("class/ana.txt", right);
  folder.write("class/.hidden", "no answers\n");
  const Words words = {"drill", "scale", "--seed", "7", "--count", "2", "--answers", folder.path("class")};
  const Finished marked = run_attn(words);
  CHECK(marked.code == 1);
  CHECK(has(marked.out, "  name     1  2  correct\n"));
  CHECK(has(marked.out, "  ana      ✓  ✓  2\n"));
  CHECK(has(marked.out, "  ben      ?  ✗  0\n"));
  CHECK(has(marked.out, "  correct  1  1"));
  std::filesystem::create_directory(folder.path("empty"));
  const Finished refused = run_attn({"drill", "scale", "--answers", folder.path("empty")});
  CHECK(refused.code == 2);
  CHECK(has(refused.errors, "holds no files"));
}

TEST_CASE("a drill at a terminal goes on with Enter, counts, and shows how an answer comes about" * needs_terminals()) {
  DrillSeries series({drills_of_scores()[2]}, 4, block_runner());
  const std::string first = answer_of(series.next().solved);
  series.next();
  const std::string third = answer_of(series.next().solved);
  const Finished finished =
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
