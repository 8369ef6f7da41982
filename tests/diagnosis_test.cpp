#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <regex>
#include <set>

#include "core/support/text.hpp"
#include "draws.hpp"
#include "questions_asked.hpp"
#include "school/lesson/lesson.hpp"
#include "school/lesson/lint.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/learner_knowledge.hpp"
#include "school/tutor/other_answers.hpp"
#include "school/tutor/solution_steps.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

using Mark = Judgment::Mark;

const std::string softmax_of_three = "of: weights[1,1]\non: --scores '3 2 0'\ntolerance: 0.002\n";
const std::string weighted_sum_of_two = "of: output[1,1]\non: --weights '2 3' --v '10; 20'\n";
const std::string average_of_two = "of: output[1,1]\non: --weights '0.7 0.3' --v '10; 20'\n";

}  // namespace

TEST_CASE("a number that a mistake gives is told with the mistake") {
  const SolvedQuestion scaled = asked("of: weights[1,1]\non: --scores '6 -1' --scale 2\ntolerance: 0.002\n");
  CHECK(has(said(scaled, "0.9991"), "scale"));
  CHECK(judge(scaled, "0.9991").mark == Mark::wrong);
  const auto is_not_scaled = [](const RecognizedAnswer& one) {
    return one.mistake && one.mistake->name == "not-scaled" && one.kind == RecognizedAnswer::Kind::mistake;
  };
  CHECK(std::ranges::any_of(recognizable_answers(scaled), is_not_scaled));
}

TEST_CASE("an author's note comes before all else that gives the same number") {
  const SolvedQuestion noted = asked(softmax_of_three + "wrong: weights[1,2] => the second\n");
  CHECK(said(noted, "0.2595") == "the second");
  CHECK(recognizable_answers(noted).front().kind == RecognizedAnswer::Kind::note);
  CHECK(has(said(asked_of_tables(softmax_of_three), "0.2595"), "weights[1,2]"));
}

TEST_CASE("a mistake with the correct answer cannot be told apart and is not recognised") {
  const SolvedQuestion single = asked("of: weights[1,1]\non: --scores '2'\n");
  const std::vector<const Mistake*> alike = cannot_be_told_apart(single);
  const auto is_over_queries = [](const Mistake* mistake) { return mistake->name == "softmax-over-queries"; };
  CHECK(std::ranges::any_of(alike, is_over_queries));
  for (const Mistake* mistake : alike) {
    CAPTURE(mistake->name);
    const auto is_it = [&](const RecognizedAnswer& one) { return one.mistake == mistake; };
    CHECK(std::ranges::none_of(recognizable_answers(single), is_it));
  }
}

TEST_CASE("slips in the last steps are recognised") {
  const SolvedQuestion weight = asked_of_tables(softmax_of_three);
  CHECK(has(said(weight, "7.389"), "exp(2), one term of the sum"));
  CHECK(has(said(weight, "28.47"), "the denominator"));
  CHECK(has(said(weight, "1.418"), "upside down"));
  CHECK(has(said(weight, "0.73"), "One term is missing"));
  const SolvedQuestion output = asked_of_tables(average_of_two);
  CHECK(has(said(output, "7"), "0.7 · 10, one term of the sum"));
  CHECK(has(said(output, "17"), "Two factors are exchanged"));
  CHECK(has(said(output, "30"), "plain sum"));
  CHECK(has(said(output, "20"), "v[2,1] alone"));
  const SolvedQuestion product = asked("of: scores[1,1]\non: --q '3 1 4 4' --k '1 2 0 3'\n");
  CHECK(has(said(product, "5"), "One term is missing"));  // the term that is 0 is nobody's miss
  const SolvedQuestion quotient = asked_of_tables("of: scores[1,1] / 8\non: --scores '24 8'\n");
  CHECK(has(said(quotient, "24"), "scores[1,1] alone"));
  CHECK(has(said(quotient, "192"), "Divide, do not multiply, by 8"));
}

TEST_CASE("slips of writing are recognised") {
  const SolvedQuestion weight = asked(softmax_of_three);
  CHECK(has(said(weight, "-0.7054"), "Only the sign"));
  CHECK(has(said(weight, "70.54"), "per cent"));
  CHECK(said(weight, "70.54 %") == "(right)");
  CHECK(has(said(weight, "7.054"), "decimal point"));
  CHECK(has(said(weight, "0.2946"), "the rest"));
  CHECK(has(said(weight, "0.7"), "rounded too far. Give 3 digits"));
  CHECK(has(said(weight, "0.7504"), "Two digits are exchanged"));
  CHECK(has(said(weight, "0.71"), "rounded too far"));
  CHECK(has(said(asked("of: weights[1,1]\non: --scores '2 0'\ntolerance: 0.0005\n"), "0.8807"), "(right)"));
  CHECK(has(said(asked("of: weights[1,1]\non: --scores '2 0'\ntolerance: 0.002\n"), "0.878"), "close, within 1 %"));
}

TEST_CASE("what the computation excludes is told with the reason") {
  CHECK(has(said(asked(softmax_of_three), "1.9"), "between 0 and 1"));
  CHECK(has(said(asked(softmax_of_three), "0.123"), "No score of this row is larger"));
  CHECK(has(said(asked_of_tables(average_of_two), "23"), "10 and 20"));
  CHECK_FALSE(has(said(asked(weighted_sum_of_two), "93"), "average"));
  CHECK_FALSE(has(said(asked("of: heads[2,2]\non: attn cost\n"), "1023"), "between 0 and 1"));
  CHECK(has(said(asked("of: rows(q) * rows(k)\non: --q '1; 2; 3' --k '1; 2; 3; 4' --score dot\n"), "11.5"),
            "whole number"));
  CHECK(has(said(asked("of: variance[1,1]\non: attn layer-norm --x '1 2 3 6'\n"), "-8.1"), "never negative"));
}

TEST_CASE("every wrong number gets a reason") {
  for (const std::string& lines : {softmax_of_three, average_of_two}) {
    const SolvedQuestion solved = asked(lines);
    for (const char* typed : {"0", "1", "-3", "0.123456", "17.77", "1e9", "1e-9", "100", "-0.0001", "e^3"}) {
      CAPTURE(typed);
      CHECK_FALSE(said(solved, typed).empty());
    }
  }
}

TEST_CASE("a word is told apart from a slip in its writing and from other words") {
  const SolvedQuestion word = asked(
      "kind: word\nof: most(head.1.weights[it])\non: attn heads --example animal "
      "--only head.1.weights\n");
  CHECK(said(word, "the animal") == "(right)");
  CHECK(said(word, "\"Animal\".") == "(right)");
  CHECK(judge(word, "animla").mark == Mark::unreadable);
  CHECK(has(said(word, "animla"), "Check how it is written"));
  CHECK(has(said(word, "street"), "another number is larger"));
  CHECK(has(said(word, "streets"), "If this is street"));
  CHECK(has(said(word, "elephant"), "elephant"));
}

TEST_CASE("a shape is told what is right about it") {
  const SolvedQuestion shape =
      asked_of_tables("kind: shape\nof: shape(output)\non: --weights '0.2 0.3 0.5' --v '1 0; 0 1; 1 1'\n");
  CHECK(has(said(shape, "2x1"), "exchanged"));
  CHECK(has(said(shape, "3x2"), "the shape of v"));
  CHECK(has(said(shape, "5x2"), "The columns are right"));
  CHECK(has(said(shape, "1x7"), "The rows are right"));
  CHECK(has(said(shape, "7x7"), "Neither is right"));
}

TEST_CASE("a choice is read by its beginning and told what is compared") {
  const SolvedQuestion choice =
      asked("kind: choice\nof: weights[1,1] > 1 / 2\non: --scores '2 0'\nchoices: yes, more | no, less\n");
  CHECK(said(choice, "Yes") == "(right)");
  CHECK(has(said(choice, "no"), "weights[1,1] is 0.8808"));
  CHECK(judge(choice, "maybe").mark == Mark::unreadable);
}

TEST_CASE("a choice among the words of a row is told what its number is") {
  const SolvedQuestion words = asked(
      "kind: choice\nof: most(weights[b])\non: attn softmax --scores '2 5 1; 3 1 6; 0 2 4' --tokens 'a b c' "
      "--causal\nchoices: a | b | c\n");
  CHECK(judge(words, "a").mark == Mark::right);
  CHECK(has(said(words, "b"), "weights[b,b] is 0.1192"));
  CHECK(has(said(words, "c"), "weights[b,c]"));
}

TEST_CASE("a choice is told the numbers that decide and no bound that the question does not speak of") {
  const std::string on = "\non: --weights '0.7 0.3; 0.5 0.5' --v '10; 20'\nchoices: one | two\n";
  CHECK(said(asked("kind: choice\nof: output[1,1] < 14" + on), "two") == "Here output[1,1] is 13.");
  CHECK(said(asked("kind: choice\nof: abs(output[1,1] - output[2,1]) > 0.001" + on), "two") ==
        "Compare output[1,1] = 13 and output[2,1] = 15.");
  CHECK(said(asked("kind: choice\nof: weights[1,1] > weights[1,2]" + on), "two") ==
        "Compare weights[1,1] = 0.7 and weights[1,2] = 0.3.");
  CHECK(said(asked("kind: choice\nof: largest(weights[1]) > 0.5" + on), "two") ==
        "Here the largest number of weights[1] is 0.7.");
  CHECK(said(asked("kind: choice\nof: output[1,1] > log(5)" + on), "two") ==
        "Compare output[1,1] = 13 and ln(5) = 1.6094.");
}

TEST_CASE("the first step of a solution is one and not the answer") {
  CHECK(first_step(asked(softmax_of_three)).starts_with("exp(3) = 20.08"));
  CHECK(first_step(asked(average_of_two)) == "0.7 · 10 = 7");
  CHECK(first_step(asked("of: rows(output)\non: --weights '0.5 0.5' --v '1; 0'\n")) ==
        "find output, and count its rows and its columns");
  CHECK(first_step(asked("kind: word\nof: most(weights[1])\non: --weights '0.2 0.8' --v '1; 0'\n")) ==
        "look at the numbers of the row: 0.2, 0.8");
  CHECK(first_step(asked("kind: choice\nof: output[1,1] > 15\non: --weights '0.7 0.3' --v '10; 20'\n"
                         "choices: yes | no\n")) == "0.7 · 10 = 7");
  CHECK(has(first_step(asked("kind: shape\nof: shape(output)\non: --weights '0.5 0.5' --v '1 0; 0 1'\n")),
            "output = weights ⋅ v"));
  CHECK(first_step(asked("of: (scores[1,1] + 6) / 5\non: --scores '24 8'\n")) == "24 + 6 = 30");
}

TEST_CASE("the check of a lesson lists what is recognised at each question") {
  const std::string text =
      "---\ntitle: A\n---\n\n```question\nask: What is it?\nhint: a\n" + softmax_of_three + "```\n";
  const CheckedLesson checked = check_lesson(text, "a.md", block_runner());
  REQUIRE(checked.questions.size() == 1);
  const CheckedQuestion& question = checked.questions.front();
  CHECK(question.notes == 0);
  CHECK(question.slips > 10);
  const auto names = [](const std::vector<const Mistake*>& mistakes, std::string_view name) {
    return std::ranges::any_of(mistakes, [&](const Mistake* mistake) { return mistake->name == name; });
  };
  CHECK(names(question.recognised, "softmax-over-queries"));
  CHECK_FALSE(names(question.not_told_apart, "softmax-over-queries"));
  CHECK(check_lesson("no lesson", "a.md", block_runner()).questions.empty());
}

TEST_CASE("no wrong answer of a lesson is without a reason and none that is recognised is correct") {
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    const LessonResult result = execute(find_lesson(std::string(file.name)), block_runner());
    for (const SolvedQuestion& solved : result.questions) {
      CAPTURE(solved.question.ask);
      if (solved.question.kind != AnswerKind::number) continue;
      for (const RecognizedAnswer& one : recognizable_answers(solved)) {
        CHECK_FALSE(one.says.empty());
        CHECK_FALSE(is_same(one.quantity, solved.answer, solved));
      }
      for (const char* typed : {"0.37", "17.3", "-2.5", "1234"}) CHECK_FALSE(said(solved, typed).empty());
    }
  }
}

TEST_CASE("slips in counting terms factors and steps are recognised") {
  const SolvedQuestion sum =
      asked_of_tables("of: weights[1,1]\non: --scores '5.81 1.95 1.95 1.95'\ntolerance: 0.0005\n");
  CHECK(has(said(sum, "0.9794"), "counted only once"));
  CHECK(has(said(sum, "0.9223"), "once too often"));
  const SolvedQuestion mean = asked("of: sum(scores[1]) / 4\non: --scores '2 4 6 20'\n");
  CHECK(has(said(mean, "10.667"), "divided by 3"));
  const SolvedQuestion power = asked_of_tables("of: scores[1,1]^8\non: --scores '0.5'\ntolerance: 0.0001\n");
  CHECK(has(said(power, "0.00195"), "The exponent is 9"));
  const SolvedQuestion product = asked("of: scores[1,1] - 0.1 * scores[1,2]\non: --scores '1 2'\n");
  CHECK(has(said(product, "0.98"), "One factor is 0.01"));
}

TEST_CASE("numbers of a question are told as such and those that it rounds are taken as they stand") {
  const SolvedQuestion given =
      asked("of: weights[1,1]\non: --scores '1.234 0.5'\ntolerance: 0.0005\n", "The scores are 1.2 and 0.5.");
  CHECK(has(said(given, "1.2"), "stands in the question"));
}

TEST_CASE("the cell beside comes before mistakes that give the same number") {
  const std::string says = said(asked_of_tables("of: weights[1,1]\non: --scores '2 0'\ntolerance: 0.002\n"), "0.1192");
  CHECK(says.starts_with("This is weights[1,2]: the next column."));
}

TEST_CASE("a place typed for a word and several numbers typed for one are no misses") {
  const SolvedQuestion word = asked(
      "of: most(weights[1])\non: --tokens 'a b' --scores '2 0; 1 1'\n"
      "kind: word\n");
  CHECK(said(word, "1") == "Please type the word itself, not its place.");
  CHECK(said(asked(softmax_of_three), "(0.7, 0.3)").starts_with("One number is asked for, not several."));
}

// --- what no reason may say

namespace {

std::vector<std::string> found_in(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// The matrices whose cells a sentence names.
std::vector<std::string> matrices_in(const std::string& says) {
  static const std::regex named("([A-Za-z_][A-Za-z_.0-9-]*)\\[");
  return found_in(says, named);
}

// The numbers with which a sentence writes a power.
std::vector<double> numbers_of_powers_in(const std::string& says) {
  static const std::regex power("(exp\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)|\\S+\\^\\S+)");
  std::vector<double> numbers;
  for (std::string text : found_in(says, power)) {
    for (const std::string_view sign : {"exp", "^"}) {
      for (std::size_t at; (at = text.find(sign)) != std::string::npos;) text.replace(at, sign.size(), " ");
    }
    std::ranges::copy(numbers_in(text), std::back_inserter(numbers));
  }
  return numbers;
}

void add_numbers(const Term& working, const LearnerKnowledge& known, std::vector<double>& numbers) {
  if (working.parts.empty() && gives_number(working) && known.has_all_of(working))
    numbers.push_back(number_from(working));
  for (const Term& part : working.parts) add_numbers(part, known, numbers);
}

// What a reason may not say; empty: nothing is wrong with it.
std::string fault_of(std::string says, const SolvedQuestion& solved) {
  if (says.empty()) return "no reason";
  if (const std::size_t hint = says.find(" Hint: "); hint != std::string::npos) says.resize(hint);
  const auto is_note = [&](const auto& note) { return says == note.second; };
  if (std::ranges::any_of(solved.notes, is_note)) return "";  // its author knows the lesson
  for (const std::string_view empty : {"  ", "''", "\"\"", " .", " ,", " :", "()", "[]", ": ."}) {
    if (has(says, empty)) return "something is left empty";
  }
  if (split_at_any(says, ";").size() > 2) return "more than two reasons";
  const Term working = read_term(solved.question.of, solved.graph.get());
  const std::vector<const Node*> nodes = nodes_of(working);
  for (const std::string& matrix : matrices_in(says)) {
    const auto is_it = [&](const Node* node) { return node->name == matrix; };
    if (!solved.shown->contains(matrix) && std::ranges::none_of(nodes, is_it)) return matrix + " was not shown";
  }
  const LearnerKnowledge known(solved);
  std::vector<double> numbers = known.numbers();
  add_numbers(last_steps(working), known, numbers);
  for (const double power : numbers_of_powers_in(says)) {
    const auto is_it = [&](double number) { return stands_for(power, number) || stands_for(number, power); };
    if (std::ranges::none_of(numbers, is_it)) return fmt::format("nobody has the number {}", power);
  }
  return "";
}

}  // namespace

TEST_CASE("no reason for a wrong answer to a lesson names what is not there or what nobody has seen") {
  std::size_t count = 0;
  for (const LessonFile& file : SomeOf(lesson_files())) {
    CAPTURE(file.name);
    for (const SolvedQuestion& solved : execute(find_lesson(std::string(file.name)), block_runner()).questions) {
      if (solved.question.kind != AnswerKind::number) continue;
      for (const std::string& typed : wrong_numbers(solved)) {
        const Judgment judged = judge(solved, typed);
        if (judged.mark == Mark::right) continue;
        ++count;
        const std::string fault = fault_of(judged.says, solved);
        if (fault.empty()) continue;
        FAIL_CHECK(fmt::format("{} <- {}: {}: {}", solved.question.ask, typed, fault, judged.says));
      }
    }
  }
  if (draws_all()) CHECK(count > 10'000);
}

TEST_CASE("numbers of a matrix that was not shown are named only in the row that the question is about") {
  const std::string lines = "of: weights[1,1]\non: --scores '3 2 0; 1 5 2'\ntolerance: 0.002\n";
  const SolvedQuestion bare = asked(lines, "The scores are 3, 2 and 0. What is the first weight?");
  CHECK(said(bare, "0.2595").starts_with("This is weights[1,2]: the next column."));
  CHECK_FALSE(has(said(bare, "0.9362"), "weights[2,2]"));  // of scores that nobody has seen
  CHECK(has(said(asked_of_tables(lines), "0.9362"), "weights[2,2]: another row and column"));
  // A table of the same name with other numbers shows nothing.
  const std::string other = block_of("attn walk --scores '1 1 1; 2 2 2'");
  CHECK_FALSE(has(said(asked_below(other, lines, "What is it?"), "0.9362"), "weights[2,2]"));
  // Nor does one that comes after the question.
  const std::string text = "---\ntitle: A\n---\n\n```question\nask: What is it?\n" + lines + "```\n\n" +
                           block_of("attn walk --scores '3 2 0; 1 5 2'");
  const SolvedQuestion above = execute(read_lesson(text, "a.md"), block_runner()).questions.front();
  CHECK_FALSE(has(said(above, "0.9362"), "weights[2,2]"));
}

TEST_CASE("a mistake before the numbers that a question gives is no reason") {
  const std::string lines = "of: output[1,1]\non: --scores '2 0' --scale 2 --v '10; 20'\n";
  CHECK(has(said(asked(lines), "11.1920"), "not scaled"));
  const SolvedQuestion given =
      asked(lines, "The weights are 0.7311 and 0.2689, the values 10 and 20. What is the output?");
  CHECK_FALSE(has(said(given, "11.1920"), "not scaled"));
  CHECK(has(said(given, "17.311"), "Two factors are exchanged"));
}

TEST_CASE("a sum that is subtracted as a whole has no slip of signs") {
  const SolvedQuestion gradient = asked_of_tables("of: d_scores[1,1]\non: attn backward --scores '0 0' --v '10; 20'\n");
  for (const char* typed : {"7.5", "-7.5", "2.5"}) CHECK_FALSE(has(said(gradient, typed), "Add here"));
}

TEST_CASE("a slip of writing is not told together with a wrong sign") {
  const SolvedQuestion sum = asked("of: output[1,1]\non: --weights '1 1' --v '-2.28; -0.82'\n");
  CHECK(said(sum, "3.1") == "Only the sign is wrong.");
  CHECK(said(sum, "31") == "The answer is negative. First step: 1 · −2.28 = −2.28.");
  CHECK(said(sum, "10").starts_with("The answer is negative."));  // and not the square, 9.61
  CHECK(has(said(sum, "1.46"), "One term has the wrong sign here"));
}

TEST_CASE("only counts are told to be whole and what can be negative is not told to be never negative") {
  CHECK_FALSE(has(said(asked("of: scores[1,1]\non: --q '2 1' --k '3 4' --score dot\n"), "9.5"), "whole"));
  const SolvedQuestion power = asked("of: exp(0 - scores[1,1])\non: --scores '2 0'\n", "The loss is 2. How probable?");
  CHECK(said(power, "-1.5").starts_with("No part of the last step can be negative, so the result is not negative."));
}
