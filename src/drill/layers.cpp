// Drills on what stands around attention: positions, residual connections, layer normalization, feed-forward.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "drill/drill.hpp"

namespace attn {
namespace {

DrillProblem draw_position(Draws& draws) {
  // Sine and cosine of 0 to 3.
  constexpr std::array<std::string_view, 4> waves = {"sin 0 = 0, cos 0 = 1", "sin 1 = 0.84, cos 1 = 0.54",
                                                     "sin 2 = 0.91, cos 2 = −0.42",
                                                     "sin 3 = 0.14, cos 3 = −0.99"};
  const std::size_t position = draws.place(3) + 1, column = draws.place(4);
  const bool is_fast = column < 2;
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Sinusoidal positions with d_model = 4: what is column {} for position {}? The first word has position "
      "0. "
      "Give 2 decimals. {}; sin 0.0{} = 0.0{}, cos 0.0{} = 1.00.",
      column + 1, position, waves[position], position, position, position);
  problem.question.tolerance = 0.005;
  problem.question.of = fmt::format("positions[{},{}]", position + 1, column + 1);
  problem.question.on = "attn positions --n 4 --d-model 4";
  problem.question.hints = {
      "Columns 1 and 2 are sine and cosine of the position, columns 3 and 4 those of the position / "
      "10000^(2/4).",
      fmt::format("{}({}{})", column % 2 == 0 ? "sin" : "cos", position, is_fast ? "" : " / 100")};
  problem.solution = fmt::format("--explain 'positions[{},{}]'", position + 1, column + 1);
  return problem;
}

DrillProblem draw_residual(Draws& draws) {
  const WholeNumbers x = draws.numbers(2, 4, -3, 5);
  const std::size_t row = draws.place(2), column = draws.place(4);
  DrillProblem problem;
  problem.given = {Given{"source.x|encoder.1.self_attention.output"}};
  problem.question.ask = fmt::format(
      "Here are the rows x that go into the first layer of an encoder, and the output of its self-attention. "
      "What "
      "does the residual connection make of number {} of word {}? Give 2 decimals.",
      column + 1, row + 1);
  problem.question.tolerance = 0.01;
  problem.question.of = fmt::format("encoder.1.sum_1[{},{}]", row + 1, column + 1);
  problem.question.on =
      fmt::format("attn encoder --x '{}' --d-model 4 --layers 1 --heads 1 --d-ff 4 --seed {} --precision 2",
                  written(x), draws.between(1, 999));
  problem.question.hints = {"Add the input of the layer to the output of its attention."};
  problem.solution = fmt::format("--explain 'encoder.1.sum_1[{},{}]'", row + 1, column + 1);
  return problem;
}

// Four whole numbers whose mean and whose standard deviation are whole.
std::vector<int> draw_even_row(Draws& draws) {
  const std::vector<int> away = draws.shuffled(draws.one_of(std::vector<std::vector<int>>{{-1, -1, 1, 1},
                                                                                          {-2, -2, 2, 2},
                                                                                          {-3, -3, 3, 3},
                                                                                          {-7, -1, 1, 7},
                                                                                          {-5, 1, 1, 3},
                                                                                          {5, -1, -1, -3},
                                                                                          {-4, -4, 4, 4}}));
  const int mean = draws.between(-3, 6);
  std::vector<int> row;
  for (const int distance : away) row.push_back(mean + distance);
  return row;
}

DrillProblem draw_layer_norm(Draws& draws) {
  const std::vector<int> row = draw_even_row(draws);
  const std::size_t asked = draws.kind(3), column = draws.place(4);
  const int mean = std::accumulate(row.begin(), row.end(), 0) / 4;
  int squares = 0;
  for (const int number : row) squares += (number - mean) * (number - mean);
  DrillProblem problem;
  problem.given = {Given{"x"}};
  problem.question.on = fmt::format("attn layer-norm --x '{}' --epsilon 0", written(WholeNumbers{row}));
  if (asked == 0) {
    problem.question.of = "variance[1,1]";
    problem.question.hints = {"Take the mean of the squared distances from the mean.",
                              fmt::format("The mean is {}.", mean), fmt::format("{} / 4", squares)};
    problem.question.ask = "Layer normalization takes the variance of this row. What is it?";
  } else {
    problem.question.ask = fmt::format(
        "Layer normalization of this row, with ε = 0 and without γ and β: what becomes of number {}? Give 2 "
        "decimals.",
        column + 1);
    problem.question.tolerance = 0.005;
    problem.question.of = fmt::format("normalised[1,{}]", column + 1);
    problem.question.hints = {"Subtract the mean and divide by the standard deviation.",
                              fmt::format("The mean is {}, and the variance is {}.", mean, squares / 4)};
  }
  problem.solution = fmt::format("--explain '{}'", problem.question.of);
  return problem;
}

DrillProblem draw_feed_forward(Draws& draws) {
  WholeNumbers x, w_1;
  std::vector<int> inner;
  const auto has_both_signs = [&] { return std::ranges::min(inner) < 0 && std::ranges::max(inner) > 0; };
  do {
    x = draws.numbers(1, 2, -2, 3);
    w_1 = draws.numbers(2, 3, -2, 2);
    inner.clear();
    for (std::size_t i = 0; i < 3; ++i) inner.push_back(x[0][0] * w_1[0][i] + x[0][1] * w_1[1][i]);
  } while (!has_both_signs());
  const WholeNumbers w_2 = draws.numbers(3, 2, -2, 3);
  const std::size_t column = draws.place(2);
  DrillProblem problem;
  problem.given = {Given{"x|w_1|w_2"}};
  problem.question.ask = fmt::format(
      "A feed-forward layer without biases: w_1, then ReLU, then w_2. What is number {} of its output?",
      column + 1);
  problem.question.of = fmt::format("feed_forward[1,{}]", column + 1);
  problem.question.on =
      fmt::format("attn feed-forward --x '{}' --w1 '{}' --w2 '{}'", written(x), written(w_1), written(w_2));
  problem.question.hints = {
      "Multiply the row by w_1, replace negative numbers by 0, and multiply by w_2.",
      fmt::format("The numbers before ReLU are {}, {} and {}.", inner[0], inner[1], inner[2])};
  problem.solution = fmt::format("--explain 'feed_forward[1,{}]' --depth 2", column + 1);
  return problem;
}

constexpr std::array rows = {
    Drill{"positions", "a number of the sinusoidal positions", draw_position},
    Drill{"residual", "adding the input of a layer to what it computed", draw_residual},
    Drill{"layer-norm", "variance and normalized numbers of a row", draw_layer_norm},
    Drill{"feed-forward", "two matrices with ReLU between them", draw_feed_forward},
};

}  // namespace

std::span<const Drill> drills_of_layers() {
  return rows;
}

}  // namespace attn
