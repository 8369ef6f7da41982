// Drills on training: gradients that go back through the weighted sum and through softmax.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "drill/drill.hpp"

namespace attn {
namespace {

constexpr double two_decimals = 0.01;

// Two queries and two keys: each value goes into both rows of the output, each time with another weight.
DrillProblem draw_gradient(Draws& draws) {
  const int first = draws.one_of({1, 2, 3, 4}), second = draws.one_of({6, 7, 8, 9});
  const std::string weights = fmt::format("0.{} 0.{}; 0.{} 0.{}", first, 10 - first, second, 10 - second);
  const std::vector<int> v = draws.shuffled(std::vector{1, 2, 3, 4, 5, 6}),
                         d = draws.shuffled(std::vector{1, 2, 3, 4, 5});
  const WholeNumbers values = {{v[0], v[1]}, {v[2], v[3]}}, upstream = {{d[0], d[1]}, {d[2], d[3]}};
  const std::size_t row = draws.place(2) + 1, column = draws.place(2) + 1;
  const bool is_of_a_value = draws.kind(2) == 0;
  DrillProblem problem;
  Question& question = problem.question;
  question.tolerance = two_decimals;
  question.on = fmt::format("attn backward --weights '{}' --v '{}' --upstream '{}'", weights, written(values),
                            written(upstream));
  if (is_of_a_value) {
    problem.given = {Given{"weights|d_output"}};
    question.of = fmt::format("d_v[{},{}]", row, column);
    question.ask = fmt::format(
        "These are the weights of two queries (rows) for two keys, and the gradient of a loss by the output. "
        "What is the derivative of the loss by number {} of value {}?",
        column, row);
    question.hints = {
        fmt::format("Value {} goes into both rows of the output. Its weights are in column {} of weights.",
                    row, row),
        fmt::format("weights[1,{0}] · d_output[1,{1}] + weights[2,{0}] · d_output[2,{1}]", row, column)};
  } else {
    problem.given = {Given{"v|d_output"}};
    question.of = fmt::format("d_weights[{},{}]", row, column);
    question.ask = fmt::format(
        "These are the values of two keys, and the gradient of a loss by the output of two queries. What is "
        "the derivative of the loss by the weight of query {} for key {}?",
        row, column);
    question.hints = {
        fmt::format("This weight multiplies value {}, and the product goes into row {} of the output.",
                    column, row),
        fmt::format("d_output[{0},1] · v[{1},1] + d_output[{0},2] · v[{1},2]", row, column)};
  }
  problem.solution = fmt::format("--explain '{}'", question.of);
  return problem;
}

DrillProblem draw_softmax_gradient(Draws& draws) {
  const std::vector<int> numbers = draws.shuffled(draws.one_of(std::vector<std::vector<int>>{
      {1, 1}, {1, 3}, {1, 4}, {2, 3}, {1, 9}, {1, 1, 2}, {1, 2, 2}, {1, 3, 4}}));
  const std::size_t column = draws.place(numbers.size());
  std::vector<std::string> scores;
  for (const int number : numbers) scores.push_back(fmt::format("{:.4f}", std::log(number)));
  const WholeNumbers values = draws.numbers(numbers.size(), 1, 0, 40, 10);
  DrillProblem problem;
  problem.given = {Given{"weights|d_weights"}};
  problem.question.ask = fmt::format(
      "These are the weights of one query, and the gradient of a loss by the weights. What is the gradient "
      "by the "
      "score of key {}?",
      column + 1);
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("d_scores[1,{}]", column + 1);
  problem.question.on =
      fmt::format("attn backward --scores '{}' --v '{}'", fmt::join(scores, " "), written(values));
  problem.question.hints = {
      "Subtract from each number of d_weights their sum weighted with the weights, and multiply by the "
      "weight.",
      fmt::format("weights[1,{0}] · (d_weights[1,{0}] − the weighted sum of d_weights)", column + 1)};
  problem.solution = fmt::format("--explain 'd_scores[1,{}]'", column + 1);
  return problem;
}

constexpr std::array rows = {
    Drill{"gradients", "the gradient of the values or of the weights from that of the output", draw_gradient},
    Drill{"softmax-gradient", "the gradient of the scores from that of the weights", draw_softmax_gradient},
};

}  // namespace

std::span<const Drill> drills_of_training() {
  return rows;
}

}  // namespace attn
