#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "draws.hpp"
#include "questions_asked.hpp"
#include "school/drill/drill.hpp"
#include "school/mistake/mistake.hpp"
#include "school/tutor/judge.hpp"
#include "testing.hpp"
#include "texts.hpp"

// What is said to wrong answers, as text: which reason comes first, and that no sentence has a hole.

using namespace attn;

namespace {

using Mark = Judgment::Mark;

const std::string score_of_four = "of: scores[1,1]\non: --q '3 1 4 4' --k '1 2 0 3'\ntolerance: 0\n";
const std::string score_of_four_asked = "The query is (3, 1, 4, 4), and the key is (1, 2, 0, 3). What is the score?";

}  // namespace

// --- which reason

TEST_CASE("a number that was copied is told with what there is to do with it") {
  const SolvedQuestion output = asked("of: output[1,1]\non: --weights '0.7 0.3' --v '10; 25'\n",
                                      "The weights are 0.7 and 0.3, the values 10 and 25. What is the output?");
  CHECK(said(output, "25") == "25 stands in the question as a value. Multiply it by 0.3. Then add the other terms.");
  CHECK(said(output, "0.7") == "0.7 stands in the question as a weight. Multiply it by 10. Then add the other terms.");
  const SolvedQuestion scaled = asked("of: weights[1,1]\non: --scores '9 3' --scale 2\ntolerance: 0.002\n",
                                      "The scores are 9 and 3, and the divisor is 2. What is the first weight?");
  CHECK(said(scaled, "9") == "9 stands in the question as a score. Divide it by 2. Then go on from there.");
  CHECK(said(scaled, "17") != "17 stands in the question.");
}

TEST_CASE("a number of the question that is not on the way is told to stand there and how to begin") {
  const SolvedQuestion count = asked("of: sum(scores[1])\non: --scores '1 2 4'\nhint: Add them.\n",
                                     "Of 5 keys three have scores. What is the sum?");
  CHECK(said(count, "5") == "5 stands in the question. It is not the answer. Hint: Add them.");
}

TEST_CASE("slips are those of the path that a question gives") {
  const std::string lines = "of: output[1,1]\non: --weights '0.25 0.25 0.25 0.25' --v '2; 4; 6; 20'\n";
  const SolvedQuestion taught = asked(lines + "path: (2 + 4 + 6 + 20) / 4\n");
  CHECK(said(taught, "10.667") == "This is divided by 3. Count once more.");
  CHECK(said(taught, "32") == "This is 2 + 4 + 6 + 20, the numerator: a step on the way. Divide it by 4.");
  CHECK(has(refusal([&] { asked(lines + "path: (2 + 4 + 6 + 20) / 5\n"); }),
            "path: '(2 + 4 + 6 + 20) / 5' is 6.4, and the answer is 8"));
  CHECK(has(refusal([&] { asked("kind: shape\nof: shape(q)\non: --q '1' --k '1'\npath: 1\n"); }),
            "path needs kind: number"));
  CHECK(has(refusal([&] { asked("of: output[1,1]\nexplore: right\n"); }), "give the command as on:"));
}

TEST_CASE("an answer that may be met by chance is not told to come from a slip") {
  const SolvedQuestion score = asked(score_of_four, score_of_four_asked);
  CHECK(said(score, "5") == "One term is missing here: 4 · 3.");
  CHECK(has(said(score, "19"), "I do not know how this came about."));
  const SolvedQuestion weight = asked_of_tables("of: weights[1,1]\non: --scores '3 2 0'\ntolerance: 0.005\n");
  CHECK(has(said(weight, "0.8"), "I do not know"));  // with powers of 2 it is 0.62
  CHECK(said(weight, "0.6154") == "This is with powers of 2. Take powers of e.");
  CHECK(has(said(weight, "0.7307"), "One term is missing here: exp(0)"));
}

TEST_CASE("an answer without a reason is told how to begin") {
  const SolvedQuestion score = asked(score_of_four + "hint: Multiply in pairs.\n", score_of_four_asked);
  CHECK(said(score, "1000") == "This is far too large. I do not know how this came about. Hint: Multiply in pairs.");
  CHECK(said(asked(score_of_four, score_of_four_asked), "1000") ==
        "This is far too large. I do not know how this came about. First step: 3 · 1 = 3.");
}

TEST_CASE("a slip with a factor 0 and lost signs are recognised") {
  CHECK(said(asked(score_of_four, score_of_four_asked), "21") == "One product has a factor 0, so it is 0: 4 · 0.");
  const SolvedQuestion average = asked("of: output[1,1]\non: --weights '0.5 0.3 0.2' --v '10; -20; -35'\n");
  CHECK(has(said(average, "18"), "The minus signs are lost here"));
}

TEST_CASE("a neighbor of what is asked for is recognised within the rounding of its steps") {
  const SolvedQuestion output = asked_of_tables("of: output[1,1]\non: --scores '1.234 0.5' --v '10 3; 20 7'\n");
  CHECK(said(output, "4.30").starts_with("This is output[1,2]: the next column."));
}

TEST_CASE("what an earlier table shows in this place is told to be that") {
  const std::string lines = "of: weights[1,1]\non: --scores '30 20 0'\ntolerance: 0.0006\n";
  const SolvedQuestion weight = asked_below(block_of("attn walk --scores '3 2 0'"), lines, "What is it?");
  CHECK(said(weight, "0.705").starts_with("This is weights[1,1] as an earlier table has it, for other numbers."));
}

TEST_CASE("a division that comes one step later is told") {
  const SolvedQuestion score = asked("of: scores[1,1]\non: --q '3 0 0 0' --k '3 0 0 0'\ntolerance: 0\n");
  CHECK(said(score, "4.5") == "This has been divided by √4 already, one step too early. Leave out the division.");
}

TEST_CASE("a convention that only a part of the computation would follow is no reason") {
  const SolvedQuestion weight = asked("of: weights[1,1]\non: --q '1 2 0 1' --k '3 1 2 1; -1 0 2 0'\ntolerance: 0.002\n",
                                      "The keys have size 4. The scores are 6 and −1. What is the first weight?");
  CHECK(judge(weight, "0.9991").mark == Mark::wrong);
  CHECK(has(said(weight, "0.9991"), "not scaled"));
}

TEST_CASE("the sign of per cent that is too much is told") {
  const SolvedQuestion half = asked("of: weights[1,1]\non: --weights '0.5 0.5' --v '1; 2'\n");
  for (const char* typed : {"0.5 %", "5 %"}) CHECK(has(said(half, typed), "The sign % divides by 100."));
}

TEST_CASE("a longer answer counts as its first part, and a word anywhere else in it is asked for alone") {
  const SolvedQuestion word = asked("of: most(weights[1])\non: --tokens 'la maison' --scores '0 2; 1 1'\nkind: word\n");
  CHECK(said(word, "maison, since 2 is larger") == "(right)");
  CHECK(said(word, "I think it is maison.") == "One word is asked for: type it alone.");
  CHECK(judge(word, "all words but maison").mark == Mark::unreadable);
  CHECK(judge(word, "la maison").mark == Mark::unreadable);
  CHECK(said(word, "la maison") == "One word is asked for. Which of these: la, maison?");
  CHECK(judge(word, "not maison").mark != Mark::right);
  const SolvedQuestion choice =
      asked("kind: choice\nof: weights[1,1] > 1 / 2\non: --scores '2 0'\nchoices: it grows | it falls\n");
  CHECK(said(choice, "grows") == "(right)");
  CHECK(said(choice, "It grows, since e² is large") == "(right)");
  CHECK(said(choice, "grows, since e² is large") != "(right)");
  CHECK(judge(choice, "it").mark == Mark::unreadable);
  for (const char* typed : {"I do not think that it grows", "it grows or it falls", "it grows not"})
    CHECK(judge(choice, typed).mark == Mark::unreadable);
}

TEST_CASE("the number of cells of a shape is told to be that") {
  const SolvedQuestion shape = asked("kind: shape\nof: shape(scores)\non: --q '1; 2; 3' --k '1; 2'\n");
  CHECK(said(shape, "6").starts_with("This is how many cells it has."));
  CHECK(judge(shape, "6").mark == Mark::unreadable);
}

TEST_CASE("numbers that add up to the answer are told to be added") {
  CHECK(said(asked(score_of_four, score_of_four_asked), "(3, 2, 0, 12)") == "One number is asked for: add these.");
}

TEST_CASE("the mistakes of the judge's table are mistakes that are known") {
  for (const std::string& name : usual_mistakes()) {
    CAPTURE(name);
    const auto is_it = [&](const Mistake& one) { return one.name == name && one.kind == Mistake::Kind::error; };
    CHECK(std::ranges::count_if(mistakes(), is_it) == 1);
  }
}

// --- no sentence has a hole

namespace {

// What is wrong with a sentence as such; empty: nothing.
std::string hole_in(const std::string& says) {
  static const std::regex twice("\\b([A-Za-z]+) \\1\\b"), number("[0-9]");
  if (says.empty()) return "it is empty";
  for (const std::string_view hole : {"  ", "''", "\"\"", " .", " ,", " :", " ?", "()", "[]", ": .", ": ,", "..", "?.",
                                      ".,", "nan", "inf ", "{", "}"}) {
    if (has(says, hole)) return fmt::format("it has '{}'", hole);
  }
  if (std::string_view(".?!\")").find(says.back()) == std::string_view::npos) return "it does not end";
  if (says != trimmed(says)) return "it has blanks around it";
  for (const auto [open, close] : {std::pair('(', ')'), std::pair('[', ']')}) {
    if (std::ranges::count(says, open) != std::ranges::count(says, close)) return "a bracket is missing";
  }
  if (std::ranges::count(says, '"') % 2 != 0) return "a quotation mark is missing";
  std::smatch found;
  if (std::regex_search(says, found, twice)) return fmt::format("'{}' stands twice", found[1].str());
  return "";
}

std::set<std::string> wrong_answers(const SolvedQuestion& solved) {
  if (solved.question.kind == AnswerKind::number) return wrong_numbers(solved);
  std::set<std::string> typed = {"1x1", "7x3", "3 x 9", "12x1", "something", "la, maison", "1"};
  for (const RecognizedAnswer& one : recognizable_answers(solved)) typed.insert(written(one.quantity));
  for (const std::string& choice : solved.question.choices) typed.insert(choice);
  for (const std::string& word : words_to_choose(solved))
    typed.insert({word, word + "x", word + " and more", "x " + word});
  return typed;
}

std::size_t check_reasons(const SolvedQuestion& solved) {
  std::size_t count = 0;
  for (const RecognizedAnswer& one : recognizable_answers(solved))
    CHECK_MESSAGE(hole_in(one.says).empty(),
                  fmt::format("{}: {}: {}", solved.question.ask, hole_in(one.says), one.says));
  for (const std::string& typed : wrong_answers(solved)) {
    const Judgment judged = judge(solved, typed);
    if (judged.mark == Mark::right) continue;
    ++count;
    const std::string hole = hole_in(judged.says);
    if (!hole.empty()) FAIL_CHECK(fmt::format("{} <- {}: {}: {}", solved.question.ask, typed, hole, judged.says));
  }
  return count;
}

}  // namespace

TEST_CASE("no reason for a wrong answer to a lesson has a hole") {
  std::size_t count = 0;
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    for (const SolvedQuestion& solved : execute(find_lesson(std::string(file.name)), block_runner()).questions)
      count += check_reasons(solved);
  }
  if (draws_all()) CHECK(count > 10'000);
}

TEST_CASE("no reason for a wrong answer to a drill has a hole") {
  for (const Drill& drill : built_in_drills()) {
    CAPTURE(drill.name);
    DrillSeries series({drill}, 3, block_runner());
    for (int i = 0; i < 4; ++i) CHECK(check_reasons(series.next().solved) > 0);
  }
}

// --- answers of strangers

namespace {

// The question of a lesson, or the problem of a drill, that an answer is to: the one that asks so.
const SolvedQuestion& question_of(const Json& row) {
  static std::map<std::string, std::vector<SolvedQuestion>> known;
  const std::string key = row.contains("lesson")
                              ? row["lesson"].get<std::string>()
                              : fmt::format("{} {}", row["drill"].get<std::string>(), row["seed"].get<int>());
  std::vector<SolvedQuestion>& questions = known[key];
  if (questions.empty() && row.contains("lesson"))
    questions = execute(find_lesson(row["lesson"].get<std::string>()), block_runner()).questions;
  if (questions.empty()) {
    DrillSeries series({find_drill(row["drill"].get<std::string>())}, row["seed"].get<std::uint32_t>(), block_runner());
    for (int i = 0; i < row["count"].get<int>(); ++i) questions.push_back(series.next().solved);
  }
  const std::string ask = row["ask"].get<std::string>();
  const auto found =
      std::ranges::find_if(questions, [&](const SolvedQuestion& solved) { return solved.question.ask == ask; });
  REQUIRE_MESSAGE(found != questions.end(), "no question asks this any more: move the answer, or take it out: ", ask);
  return *found;
}

}  // namespace

TEST_CASE("wrong answers of strangers are not right and each gets a whole reason") {
  for (const auto& entry : std::filesystem::directory_iterator(ATTN_SOURCE_FOLDER "/tests/blind/answers")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    std::size_t count = 0, unknown = 0;
    for (std::string line; std::getline(file, line);) {
      const Json row = parse_json(line, entry.path().string());
      CAPTURE(line);
      const Judgment judged = judge(question_of(row), row["typed"].get<std::string>());
      CHECK(judged.mark != Mark::right);
      CHECK(judged.mark != Mark::convention);
      CHECK_MESSAGE(hole_in(judged.says).empty(), fmt::format("{}: {}", hole_in(judged.says), judged.says));
      ++count;
      if (has(judged.says, "I do not know")) ++unknown;
    }
    CHECK(count > 100);
    CHECK(unknown * 5 < 2 * count);
  }
}
