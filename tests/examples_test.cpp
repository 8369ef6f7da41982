#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/attention/watches.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "solution.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

Problem problem(std::string_view json, const std::string& where) {
  return build_problem(read_problem_file(json, where));
}

Solution example(std::string_view name) {
  return Solution(problem(look_up(examples(), name, "example").json, std::string(name)));
}

double row_sum(const Matrix& matrix, std::size_t i) {
  double sum = 0.0;
  for (const double cell : row(matrix, i)) sum += cell;
  return sum;
}

}  // namespace

TEST_CASE("every example has a title, a sentence and paragraphs, and says what it computes") {
  CHECK(examples().front().name == "thinking-machines");
  std::set<std::string_view> names;
  for (const Example& example : examples()) {
    CAPTURE(example.name);
    CHECK(names.insert(example.name).second);
    const OptionValues values = read_problem_file(example.json, std::string(example.name));
    CHECK(values.has(option::title));
    CHECK(values.text(option::summary)->ends_with('.'));
    CHECK(values.has(option::about));
    CHECK(values.has_input());
  }
}

TEST_CASE("every example is computed to finite numbers, −∞ aside, and reads back as itself") {
  for (const Example& row : examples()) {
    CAPTURE(row.name);
    const Solution solution = example(row.name);
    const Solution again(problem(written(solution.problem), "the problem written"));
    CHECK(solution.graph.names() == again.graph.names());
    CHECK(warnings(solution.graph).empty());
    // One for each sentence and layer, and one for what layers would be if they averaged once.
    const std::size_t layers = solution.problem.layers, averagings = layers > 1 ? 1 : 0;
    CHECK(solution.graph.matching("output").size() == solution.problem.sequences.size() * (layers + averagings));
    for (const Node& node : solution.graph.nodes()) {
      CAPTURE(node.name);
      CHECK(std::ranges::all_of(cells(node.matrix()),
                                [](double cell) { return std::isfinite(cell) || (std::isinf(cell) && cell < 0); }));
      if (!node.name.empty()) CHECK(same(node.matrix(), again[node.name]));
    }
  }
}

TEST_CASE("every row of weights of every example sums to one") {
  for (const Example& row : examples()) {
    CAPTURE(row.name);
    const Solution solution = example(row.name);
    for (const Node* weights : solution.graph.matching("weights")) {
      for (std::size_t i = 0; i < weights->frame.shape.rows; ++i) {
        CHECK(close(row_sum(weights->matrix(), i), 1.0, 1e-14));
      }
    }
  }
}

TEST_CASE("Thinking Machines has the published scores and weights") {
  const Solution solution = example("thinking-machines");
  CHECK(solution.shape("x") == Shape{2, 4});
  for (const char* name : {"q", "k", "v"}) CHECK(solution.shape(name) == Shape{2, 3});
  CHECK(solution["scores"](0, 0) == 112);
  CHECK(solution["scores"](0, 1) == 96);
  CHECK(solution["scaled"](0, 0) == 14);
  CHECK(solution["scaled"](0, 1) == 12);
  CHECK(close(solution["weights"](0, 0), 0.88, 0.005));
  CHECK(close(solution["weights"](0, 1), 0.12, 0.005));
  // The softmax of 14 and 12 is that of 2 and 0.
  CHECK(close(solution["weights"](0, 0), 1 / (1 + std::exp(-2.0)), 1e-15));
  // By hand: x · w_q, x · w_k and x · w_v.
  CHECK(same(solution["q"], matrix({{4, 6, 6}, {4, 4, 5}})));
  CHECK(same(solution["k"], matrix({{4, 8, 8}, {6, 4, 8}})));
  CHECK(same(solution["v"], matrix({{1, 2, 3}, {3, 1, 2}})));
}

TEST_CASE("\"it\" attends to \"animal\" with one head and to \"tired\" with the other") {
  const Solution solution = example("animal");
  const std::vector<std::string>& words = solution.problem.sequences.front().tokens;
  const auto place = [&](std::string_view word) {
    const auto found = std::ranges::find(words, word);
    REQUIRE(found != words.end());
    return static_cast<std::size_t>(found - words.begin());
  };
  const std::size_t it = place("it");
  const Matrix &first = solution["head.1.weights"], &second = solution["head.2.weights"];
  const double the = first(it, place("The")), animal = first(it, place("animal"));
  CHECK(the + animal > 0.9);
  CHECK(second(it, place("tired")) > 0.8);
  // By hand: scores of 6 and 9 beside nine zeros, then of 3 and 9, divided by √4.
  const double nine = std::exp(4.5), six = std::exp(3.0), three = std::exp(1.5);
  CHECK(close(animal, nine / (nine + six + 9), 1e-14));
  CHECK(close(the, six / (nine + six + 9), 1e-14));
  CHECK(close(second(it, place("tired")), nine / (nine + three + 9), 1e-14));
  // All other queries are zero and attend to every word equally.
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == it) continue;
    for (const double weight : row(first, i)) CHECK(close(weight, 1.0 / 11, 1e-15));
    for (const double weight : row(second, i)) CHECK(close(weight, 1.0 / 11, 1e-15));
  }
}

TEST_CASE("two heads of \"it\" answer in columns of their own, and one head mixes both answers in all columns") {
  Problem problem = example("animal").problem;
  const std::size_t it = 7;
  REQUIRE(problem.sequences.front().tokens[it] == "it");
  // By hand: e to the power of the scores 9, 6, 3 and 0, each divided by √4.
  const double nine = std::exp(4.5), six = std::exp(3.0), three = std::exp(1.5);
  const double first = nine + six + 9, second = nine + three + 9;
  const Solution two(problem);
  const auto answer = [](const Solution& solution, std::size_t column) { return solution["output"](it, column); };
  CHECK(close(answer(two, 0), (3 * nine + 2 * six) / first, 1e-14));  // head 1: animal 3, The 2
  CHECK(close(answer(two, 1), (3 + 1) / first, 1e-14));               // head 1: tired 3, too 1
  CHECK(close(answer(two, 2), (3 + 2) / second, 1e-14));
  CHECK(close(answer(two, 3), (3 * nine + three) / second, 1e-14));
  problem.heads = 1;
  const Solution one(problem);
  for (std::size_t i = 0; i < problem.sequences.front().tokens.size(); ++i) {
    CHECK(close(one["output"](i, 0), one["output"](i, 2), 1e-14));
    CHECK(close(one["output"](i, 1), one["output"](i, 3), 1e-14));
  }
  CHECK(answer(one, 0) > 1);
  CHECK(answer(one, 1) > 1);
}

TEST_CASE("blanks beyond the valid lengths get no weight at all") {
  const Solution solution = example("padding");
  CHECK(solution.problem.valid_lengths == std::vector<std::size_t>{4, 3, 2});
  for (std::size_t s = 0; s < 3; ++s) {
    const std::string scope = "sentence." + std::to_string(s + 1) + ".";
    const Matrix& weights = solution[scope + "weights"];
    CHECK(weights.shape() == Shape{4, 4});
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) CHECK((weights(i, j) > 0.0) == (j < 4 - s));
      CHECK(close(row_sum(weights, i), 1.0, 1e-15));
    }
  }
  // A word has the same embedding wherever it stands.
  const auto& last = solution.problem.sequences[2];
  CHECK(last.tokens == std::vector<std::string>{"Hello", "world", "<blank>", "<blank>"});
  CHECK(std::ranges::equal(row(*last.x, 2), row(*last.x, 3)));
  CHECK(std::ranges::equal(row(*last.x, 2), row(*solution.problem.sequences[1].x, 3)));
}

TEST_CASE("the snippet gives the numbers of NumPy") {
  const Solution three = example("numpy-3"), five = example("numpy-5");
  CHECK(close(three["output"], matrix({{0.573330024649952, 0.8368127603909041}}), 1e-15));
  CHECK(close(five["output"], matrix({{0.2971544102198028, 0.6775521186061833}}), 1e-15));
  CHECK(three.shape("k") == Shape{3, 4});
  CHECK(five.shape("k") == Shape{5, 4});
  CHECK(same(three["q"], five["q"]));
  CHECK(std::ranges::equal(cells(three["k"]), cells(five["k"]).first(3 * 4)));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 2; ++j) CHECK(three["v"](i, j) != five["v"](i, j));
  }
}

TEST_CASE("eight heads have the sizes of the paper") {
  const Solution solution = example("eight-heads");
  CHECK(solution.shape("x") == Shape{2, 512});
  CHECK(solution.graph.matching("head.*.weights").size() == 8);
  for (const char* name : {"w_q", "w_k", "w_v", "w_o"}) CHECK(solution.shape(name) == Shape{512, 512});
  for (std::size_t i = 1; i <= 8; ++i) {
    const std::string scope = "head." + std::to_string(i) + ".";
    for (const char* leaf : {"q", "k", "v", "output"}) CHECK(solution.shape(scope + leaf) == Shape{2, 64});
    CHECK(close(solution[scope + "scaled"](0, 0), solution[scope + "scores"](0, 0) / 8, 0.0));
  }
  // Drawn from seed 1: the words up to √3, the parameters up to √(6 / (512 + 512)).
  CHECK(solution["x"](0, 0) == -0.39540024425770937);
  CHECK(std::ranges::max(cells(solution["x"])) > 1.7);
  for (const char* name : {"w_q", "w_k", "w_v", "w_o"}) {
    CHECK(close(std::ranges::max(cells(solution[name])), std::sqrt(6.0 / 1024), 1e-4));
  }
  CHECK(solution.shape("concat") == Shape{2, 512});
  CHECK(solution.shape("output") == Shape{2, 512});
}
