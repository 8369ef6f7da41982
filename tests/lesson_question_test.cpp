#include <doctest/doctest.h>

#include <cmath>

#include "command/docs.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "draws.hpp"
#include "school/lesson/lesson.hpp"
#include "school/tutor/question.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// The computation of an example.
class Computed {
 public:
  explicit Computed(std::string_view name) {
    add_computation(build_problem(read_problem_file(look_up(examples(), name, "example").json, std::string(name))),
                    graph_);
  }
  const Graph& graph() const { return graph_; }
  std::string written(std::string_view expression) const {
    return attn::written(look_up_quantity(expression, &graph_).quantity);
  }
  double number(std::string_view expression) const {
    return std::get<double>(look_up_quantity(expression, &graph_).quantity);
  }

 private:
  Graph graph_;
};

Question question(const std::string& lines) {
  const Document document = read_document("```question\n" + lines + "```\n", "a.md");
  return read_question(document, document.questions.front());
}

SolvedQuestion solved(const std::string& lines, std::string_view example = "thinking-machines") {
  return solve(question(lines), Computed(example).graph());
}

Judgment::Mark mark(const SolvedQuestion& solved, std::string_view typed) { return judge(solved, typed).mark; }

constexpr auto right = Judgment::Mark::right;
constexpr auto wrong = Judgment::Mark::wrong;
constexpr auto unreadable = Judgment::Mark::unreadable;

}  // namespace

TEST_CASE("an expression is result out on a computation") {
  const Computed thinking("thinking-machines"), animal("animal"), eight("eight-heads");
  CHECK(thinking.number("scores[1,2]") == 96);
  CHECK(thinking.number("scores[Thinking,Machines] / 8 - 2") == 10);
  CHECK(thinking.number("-2 ^ 2 + 2 * (3 − 1) ⋅ 4 ÷ 2") == 4);
  CHECK(close(thinking.number("1 / (1 + exp(-2))"), thinking.number("weights[1,1]"), 1e-15));
  CHECK(thinking.number("sqrt(scores[1,1] - 12) + √16 + abs(-1)") == 15);
  CHECK(thinking.number("columns(q) * rows(x)") == 6);
  CHECK(thinking.number("sum(scores[Machines])") == 168);
  CHECK(thinking.number("largest(scores[1]) - smallest(scores[1])") == 16);
  CHECK(thinking.written("shape(x)") == "2×4");
  CHECK(thinking.written("scores[1,1] > scores[1,2]") == "yes");
  CHECK(thinking.written("weights[1,1] + weights[1,2] = 1") == "yes");
  CHECK(animal.written("most(head.1.weights[it])") == "animal");
  CHECK(animal.written("most(head.2.weights[8])") == "tired");
  CHECK(animal.number("head.2.weights[it,\"tired\"]") > 0.8);
  CHECK(eight.number("d_k") == 64);
  CHECK(eight.number("d_v") == 64);
  CHECK(eight.number("d_model") == 512);
  CHECK(eight.number("h") == 8);
  CHECK(eight.number("n_q * n_k") == 4);
}

TEST_CASE("an expression that cannot be result out is refused") {
  const Computed computed("thinking-machines");
  const auto refused = [&](std::string_view expression) {
    return refusal([&] { look_up_quantity(expression, &computed.graph()); });
  };
  for (const std::string_view expression :
       {"", "1 +", "(1", "scores[1,2", "scores[3,1]", "scorse[1,1]", "sqrt(1", "sine(1)", "d_q", "shape(x) + 1", "1 2",
        "most(weights)", "most(weights[3])", "rows(y)", "\"a", "1..2", "\"a\" * 2", "weights[1]"}) {
    CAPTURE(expression);
    CHECK(refused(expression) != "(it was accepted)");
  }
  CHECK(refused(std::string(100000, '(')).find("nested too deeply") != std::string::npos);
  CHECK(refused(std::string(100000, '-')).find("nested too deeply") != std::string::npos);
  CHECK(refusal([] { look_up_quantity("scores[1,1]", nullptr); }).find("not a number") != std::string::npos);
}

TEST_CASE("a number is right within its tolerance, however it is written") {
  const SolvedQuestion exact = solved("ask: a\nof: scores[1,2]\ntolerance: 0\n");
  for (const char* typed : {"96", " 96.0 ", "9.6e1", "12*8", "√9216"}) CHECK(mark(exact, typed) == right);
  CHECK(mark(exact, "96.001") == wrong);
  const SolvedQuestion usual = solved("ask: a\nof: weights[1,2]\n");
  for (const char* typed : {"0.12", "12 %", "12%", "1/(1+exp(2))", "0.1192"}) CHECK(mark(usual, typed) == right);
  for (const char* typed : {"0.13", "0.88", "-0.12"}) CHECK(mark(usual, typed) == wrong);
  for (const char* typed : {"", "much", "scores[1,2]", "2x3", "1/", "q"}) CHECK(mark(usual, typed) == unreadable);
  for (const char* typed : {"+0.12", "e^-2.12", "1/(e² + 1)", "12/100", "3 ⋅ (0.02 + 2×0.01)", "sin(0.12)", "√0.0144",
                            "1.2⋅10⁻¹", "0,12", "0,1192"})
    CHECK_MESSAGE(mark(usual, typed) == right, typed);
  for (const char* typed : {"e^", "10⁻", "2 3", "0,1,2", "1.2,3"})
    CHECK_MESSAGE(mark(usual, typed) == unreadable, typed);
  for (const char* typed : {"1/0", "0/0"}) CHECK(mark(usual, typed) == unreadable);
}

TEST_CASE("a comma is a decimal point or stands between thousands, and is asked about where it could be both") {
  const SolvedQuestion large = solved("ask: a\nof: scores[1,2] * 21872\ntolerance: 0.5\n");
  CHECK(answer_of(large) == "2099712");
  for (const char* typed : {"2099712", "2,099,712", "2,099,712.0", "2099712,25"})
    CHECK_MESSAGE(mark(large, typed) == right, typed);
  CHECK(mark(large, "2,1") == wrong);
  const Judgment doubtful = judge(large, "2,099");
  CHECK(doubtful.mark == unreadable);
  CHECK(doubtful.says == "2,099 could be 2099 or 2.099: write it without a comma.");
  CHECK(mark(large, "0,099") == wrong);
}

TEST_CASE("the word with the most is asked for only where one has it alone") {
  const auto tied = [](const std::string& lines) {
    return refusal([&] { solved("ask: a\nkind: word\n" + lines, "animal"); });
  };
  CHECK(tied("of: most(head.1.weights[The])\n").find("are tied at 0.0909") != std::string::npos);
  CHECK(tied("of: least(head.1.weights[it])\n").find("'didn't' and 'cross' are tied") != std::string::npos);
  CHECK(tied("of: most(head.1.weights[it])\nwrong: least(head.1.weights[it]) => no\n")
            .starts_with("a.md:5: 'didn't' and 'cross' are tied"));
  CHECK(tied("of: most(head.1.weights[it])\n") == "(it was accepted)");
}

TEST_CASE("a shape, a word and a choice are read in every usual writing") {
  const SolvedQuestion shape = solved("ask: a\nkind: shape\nof: shape(x)\nwrong: shape(q) => narrower\n");
  for (const char* typed : {"2x4", "2×4", "[2, 4]", "2 by 4", "(2,4)"}) CHECK(mark(shape, typed) == right);
  CHECK(mark(shape, "4x2") == wrong);
  CHECK(judge(shape, "2x3").says == "narrower");
  for (const char* typed : {"2.60", "15.01", "2", "", "two", "1x2x3", "99999999999999999999x1"})
    CHECK(mark(shape, typed) == unreadable);
  const SolvedQuestion word = solved("ask: a\nkind: word\nof: most(weights[1])\nwrong: least(weights[1]) => less\n");
  CHECK(mark(word, "Thinking") == right);
  CHECK(mark(word, "thinking ") == right);
  CHECK(judge(word, "machines").says == "less");
  CHECK(mark(word, "it") == wrong);
  const SolvedQuestion choice = solved(
      "ask: a\nkind: choice\nof: scores[1,1] < scores[1,2]\nchoices: rises | falls\nwrong: \"rises\" => "
      "no\n");
  CHECK(answer_of(choice) == "falls");
  CHECK(mark(choice, "Falls") == right);
  CHECK(mark(choice, "2") == right);
  CHECK(judge(choice, "1").says == "no");
  CHECK(mark(choice, "3") == unreadable);
}

TEST_CASE("a mistake is recognized by its own expression") {
  const SolvedQuestion asked = solved(
      "ask: a\nof: scaled[1,2]\ntolerance: 0.1\nwrong: scores[1,2] => not divided\n"
      "wrong: scaled[2,1] =>\n  the transposed\n  cell\n");
  CHECK(judge(asked, "96").says == "not divided");
  CHECK(judge(asked, "11").says == "the transposed cell");
  CHECK(judge(asked, "5").says == "");
}

TEST_CASE("a question that is not whole is refused with file and line") {
  const auto refused = [](const std::string& lines) { return refusal([&] { solved(lines); }); };
  CHECK(refused("of: scores[1,1]\n").starts_with("a.md:1: the question has no text"));
  CHECK(refused("ask: a\n").starts_with("a.md:1: the question has no answer"));
  CHECK(refused("ask: a\nof: 96\n").starts_with("a.md:1: of: '96' names no part of the computation"));
  CHECK(refused("ask: a\nof: exp(2)\n").starts_with("a.md:1: of: 'exp(2)' names no part of the computation"));
  CHECK(refused("ask: a\nof: scores[1,9]\n").starts_with("a.md:1: column '9' of scores"));
  CHECK(refused("ask: a\nof: shape(x)\n").starts_with("a.md:1: the kind of the question"));
  CHECK(refused("ask: a\nof: scores[1,1]\nof: scores[1,2]\n").starts_with("a.md:4: of is given twice"));
  CHECK(refused("ask: a\nanswer: 3\n").starts_with("a.md:3: unknown key of a question 'answer'"));
  CHECK(refused("ask: a\nkind: guess\n").starts_with("a.md:3: unknown kind of question 'guess'"));
  CHECK(refused("ask: a\nof: scores[1,1]\nkind: choice\n").starts_with("a.md:1: kind: choice needs"));
  CHECK(refused("ask: a\nof: most(weights[1])\nkind: choice\nchoices: a | b\n")
            .starts_with("a.md:1: 'Thinking' is not among"));
  CHECK(refused("ask: a\nof: scores[1,1]\nchoices: a | b\n").starts_with("a.md:1: choices need"));
  CHECK(refused("ask: a\nof: scores[1,1]\ntolerance: wide\n").starts_with("a.md:4: "));
  CHECK(refused("ask: a\nof: scores[1,1]\nwrong: 3\n").starts_with("a.md:4: wrong: write an expression"));
  CHECK(refused("ask: a\nof: scores[1,1]\nwrong: 112 => no\n")
            .starts_with("a.md:4: wrong: '112' is 112, which is the correct answer"));
  CHECK(refused("ask: a\nof: scores[1,1] / (scores[1,1] - 112)\n").starts_with("a.md:1: the value is inf"));
}

TEST_CASE("the number that the last hint works out to is correct, as people round it") {
  std::size_t calculations = 0;
  for (const Lesson& lesson : SomeOf(built_in_lessons())) {
    for (const SolvedQuestion& solved : execute(lesson, block_runner()).questions) {
      if (!std::holds_alternative<double>(solved.answer) || solved.question.hints.empty()) continue;
      std::optional<double> hint;
      try {
        const Quantity found = look_up_quantity(solved.question.hints.back(), nullptr).quantity;
        if (const double* const number = std::get_if<double>(&found)) hint = *number;
      } catch (const InputError&) {
        continue;
      }
      if (!hint) continue;
      ++calculations;
      CAPTURE(lesson.name);
      CAPTURE(solved.question.ask);
      for (const int decimals : {2, 3, 4}) {
        if (decimals == 2 && tolerance_for(solved) < 0.004) continue;  // it asks for more
        const std::string typed = fmt::format("{:.{}f}", *hint, decimals);
        CHECK_MESSAGE(judge(solved, typed).mark == Judgment::Mark::right, typed);
      }
    }
  }
  if (draws_all()) CHECK(calculations > 30);
}

TEST_CASE("a reason has its right choice said, and a reason for each wrong one") {
  const std::string why = "why: a\nchoices: b | c | d\n";
  const std::string notes = "wrong: \"c\" => not c\nwrong: \"d\" => not d\n";
  const SolvedQuestion reason = solve(question(why + "because: b\n" + notes), Graph());
  CHECK(reason.question.asks_why);
  CHECK(answer_of(reason) == "b");
  CHECK(mark(reason, "b") == right);
  CHECK(mark(reason, "1") == right);
  CHECK(mark(reason, "c") == wrong);
  CHECK(judge(reason, "3").says == "not d");
  check_refused({
      {"why: give the right one of its choices as because:", [&] { question(why + notes); }},
      {"why: give the right one of its choices as because:", [&] { question(why + "because: e\n" + notes); }},
      {"why: the choice 'd' has no reason", [&] { question(why + "because: b\nwrong: \"c\" => not c\n"); }},
      {"of: and on: have no effect with why:", [&] { question(why + "because: b\nof: d_k\n" + notes); }},
      {"because: belongs to why:", [&] { question("ask: a\nof: d_k\nbecause: b\n"); }},
      {"give one of ask:, predict: and why:", [&] { question("ask: a\n" + why); }},
  });
}
