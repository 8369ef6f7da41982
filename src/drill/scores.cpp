// Drills on what leads to the scores: projections, dot products, the scale.

#include <fmt/format.h>

#include <array>

#include "drill/drill.hpp"

namespace attn {
namespace {

// "2 · 1 + 0 · 3"
std::string products(const std::vector<int>& one, const std::vector<int>& other) {
  std::string text;
  for (std::size_t i = 0; i < one.size(); ++i)
    text += fmt::format("{}{} · {}", i == 0 ? "" : " + ", one[i],
                        other[i] < 0 ? fmt::format("({})", other[i]) : std::to_string(other[i]));
  return text;
}

std::vector<int> column_of(const WholeNumbers& numbers, std::size_t column) {
  std::vector<int> cells;
  for (const std::vector<int>& row : numbers) cells.push_back(row[column]);
  return cells;
}

DrillProblem draw_projection(Draws& draws) {
  const std::size_t d_model = draws.place(2) + 2;
  const WholeNumbers x = draws.numbers(2, d_model, -2, 4), w_q = draws.numbers(d_model, 2, -2, 3);
  const std::size_t row = draws.place(2), column = draws.place(2);
  const std::vector<std::string>& words = draws.one_of(sentences()).words;
  DrillProblem problem;
  problem.given = {Given{"x|w_q"}};
  problem.question.ask = fmt::format(
      "The embeddings are the rows of x, and q = x ⋅ w_q. What is number {} of the query of \"{}\"?",
      column + 1, words[row]);
  problem.question.of = fmt::format("q[{},{}]", row + 1, column + 1);
  problem.question.on = fmt::format("attn walk --tokens '{} {}' --x '{}' --wq '{}'", words[0], words[1],
                                    written(x), written(w_q));
  problem.question.hints = {
      fmt::format(
          "Multiply the embedding of \"{}\" by column {} of w_q, number by number, and add the products.",
          words[row], column + 1),
      products(x[row], column_of(w_q, column))};
  problem.solution = fmt::format("--explain 'q[{},{}]'", row + 1, column + 1);
  return problem;
}

DrillProblem draw_score(Draws& draws) {
  const std::size_t d_k = draws.place(2) + 2;
  const WholeNumbers q = draws.numbers(2, d_k, -2, 4), k = draws.numbers(2, d_k, -2, 4);
  const std::size_t row = draws.place(2), column = draws.place(2);
  const std::vector<std::string>& words = draws.one_of(sentences()).words;
  DrillProblem problem;
  problem.given = {Given{"q|k"}};
  problem.question.ask = fmt::format(
      "What is the dot product of the query of \"{}\" with the key of \"{}\", which is their score before "
      "the "
      "scaling?",
      words[row], words[column]);
  problem.question.of = fmt::format("scores[{},{}]", row + 1, column + 1);
  problem.question.on = fmt::format("attn walk --tokens '{0} {1}' --key-tokens '{0} {1}' --q '{2}' --k '{3}'",
                                    words[0], words[1], written(q), written(k));
  problem.question.hints = {"Multiply number by number and add the products.", products(q[row], k[column])};
  problem.solution = fmt::format("--explain 'scores[{},{}]'", row + 1, column + 1);
  return problem;
}

DrillProblem draw_scale(Draws& draws) {
  const int root = draws.one_of({2, 4, 8}), d_k = root * root;
  const std::size_t n = 3, column = draws.place(n);
  const WholeNumbers scores = draws.numbers(1, n, -3 * root, 5 * root, root / 2);
  DrillProblem problem;
  problem.given = {Given{"scores"}};
  problem.question.ask = fmt::format(
      "Queries and keys have d_k = {} numbers each. These are the scores of one query, before the "
      "scaling. What is the scaled score of key {}?",
      d_k, column + 1);
  const std::string score = fmt::format("scores[1,{}]", column + 1);
  problem.question.of = fmt::format("scaled[1,{}]", column + 1);
  problem.question.on = fmt::format("attn walk --scores '{}' --scale {}", written(scores), root);
  problem.question.hints = {"Divide the score by the square root of d_k.",
                            fmt::format("{} / √{}", scores[0][column], d_k)};
  problem.question.notes = {
      {fmt::format("{} / {}", score, d_k),
       "This is the score divided by d_k. Divide by the square root of d_k."},
      {score, "This is the score before the scaling. Divide it by √d_k."},
      {fmt::format("{} * {}", score, root), "This is the score multiplied by √d_k. Divide by it."}};
  problem.solution = fmt::format("--explain 'scaled[1,{}]'", column + 1);
  return problem;
}

constexpr std::array rows = {
    Drill{"projection", "a query from an embedding and W_Q", draw_projection},
    Drill{"scores", "the dot product of a query and a key", draw_score},
    Drill{"scale", "dividing a score by √d_k", draw_scale},
};

}  // namespace

std::span<const Drill> drills_of_scores() {
  return rows;
}

}  // namespace attn
