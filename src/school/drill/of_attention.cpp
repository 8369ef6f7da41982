#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "school/drill/drill.hpp"

namespace attn {

// --- scores
// Drills on what leads to the scores: projections, dot products, the scale.

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
  problem.question.ask =
      fmt::format("The embeddings are the rows of x, and q = x ⋅ w_q. What is number {} of the query of \"{}\"?",
                  column + 1, words[row]);
  problem.question.of = fmt::format("q[{},{}]", row + 1, column + 1);
  problem.question.on =
      fmt::format("attn walk --tokens '{} {}' --x '{}' --wq '{}'", words[0], words[1], written(x), written(w_q));
  problem.question.hints = {
      fmt::format("Multiply the embedding of \"{}\" by column {} of w_q, number by number, and add the products.",
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
      "What is the dot product of the query of \"{}\" with the key of \"{}\", which is their score before the scaling?",
      words[row], words[column]);
  problem.question.of = fmt::format("scores[{},{}]", row + 1, column + 1);
  problem.question.on = fmt::format("attn walk --tokens '{0} {1}' --key-tokens '{0} {1}' --q '{2}' --k '{3}'", words[0],
                                    words[1], written(q), written(k));
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
      "Queries and keys have d_k = {} numbers each. These are the scores of one query, before the scaling. "
      "What is the scaled score of key {}?",
      d_k, column + 1);
  const std::string score = fmt::format("scores[1,{}]", column + 1);
  problem.question.of = fmt::format("scaled[1,{}]", column + 1);
  problem.question.on = fmt::format("attn walk --scores '{}' --scale {}", written(scores), root);
  problem.question.hints = {"Divide the score by the square root of d_k.",
                            fmt::format("{} / √{}", scores[0][column], d_k)};
  problem.question.notes = {
      {fmt::format("{} / {}", score, d_k), "This is the score divided by d_k. Divide by the square root of d_k."},
      {score, "This is the score before the scaling. Divide it by √d_k."},
      {fmt::format("{} * {}", score, root), "This is the score multiplied by √d_k. Divide by it."}};
  problem.solution = fmt::format("--explain 'scaled[1,{}]'", column + 1);
  return problem;
}

constexpr std::array drills_on_scores = {
    Drill{"projection", "a query from an embedding and W_Q", draw_projection},
    Drill{"scores", "the dot product of a query and a key", draw_score},
    Drill{"scale", "dividing a score by √d_k", draw_scale},
};

}  // namespace

std::span<const Drill> drills_of_scores() { return drills_on_scores; }

// --- weights
// Drills on weights and what they weigh: softmax, masks and weighted sums.

namespace {

// "e⁰ = 1, e¹ = 2.72": of the numbers that a problem needs.
std::string exponentials(std::vector<int> exponents) {
  constexpr std::array<std::string_view, 4> known = {"e⁰ = 1", "e¹ = 2.72", "e² = 7.39", "e³ = 20.09"};
  std::ranges::sort(exponents);
  exponents.erase(std::unique(exponents.begin(), exponents.end()), exponents.end());
  std::vector<std::string_view> needed;
  for (const int exponent : exponents) needed.push_back(known[static_cast<std::size_t>(exponent)]);
  return fmt::format("{}", fmt::join(needed, ", "));
}

// "e² / (e⁰ + e²)"
std::string share(const std::vector<int>& scores, std::size_t of) {
  constexpr std::array<std::string_view, 4> powers = {"e⁰", "e¹", "e²", "e³"};
  std::vector<std::string_view> terms;
  for (const int score : scores) terms.push_back(powers[static_cast<std::size_t>(score)]);
  return fmt::format("{} / ({})", powers[static_cast<std::size_t>(scores[of])], fmt::join(terms, " + "));
}

// The scores of one query whose exponentials are in the question.
DrillProblem draw_softmax(Draws& draws) {
  const std::size_t n = draws.place(2) + 2, column = draws.place(n);
  const WholeNumbers scores = draws.numbers(1, n, 0, 3);
  DrillProblem problem;
  problem.given = {Given{"scores"}};
  problem.question.ask =
      fmt::format("These are the scaled scores of one query. What is the weight of key {}? Give 2 decimals. {}.",
                  column + 1, exponentials(scores[0]));
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("weights[1,{}]", column + 1);
  problem.question.on = fmt::format("attn walk --scores '{}'", written(scores));
  problem.question.hints = {"Take e to the power of each score, and divide by the sum of these numbers.",
                            share(scores[0], column)};
  problem.solution = fmt::format("--explain 'weights[1,{}]'", column + 1);
  return problem;
}

// Scores that are logarithms: softmax gives their numbers as shares.
DrillProblem draw_softmax_of_logarithms(Draws& draws) {
  const std::vector<int> numbers = draws.shuffled(draws.one_of(std::vector<std::vector<int>>{
      {1, 3}, {1, 4}, {2, 3}, {1, 1, 2}, {1, 2, 2}, {1, 1, 3}, {1, 3, 4}, {2, 3, 5}, {1, 4, 5}}));
  const std::size_t column = draws.place(numbers.size());
  std::vector<std::string> scores, powers;
  for (const int number : numbers) scores.push_back(fmt::format("{:.4f}", std::log(number)));
  std::vector<int> known = numbers;
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const int number : known)
    powers.push_back(number == 1 ? "e⁰ = 1" : fmt::format("e^{:.4f} ≈ {}", std::log(number), number));
  DrillProblem problem;
  problem.given = {Given{"scores"}};
  problem.question.ask = fmt::format("These are the scaled scores of one query. What is the weight of key {}? {}.",
                                     column + 1, fmt::join(powers, ", "));
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("weights[1,{}]", column + 1);
  problem.question.on = fmt::format("attn walk --scores '{}'", fmt::join(scores, " "));
  problem.question.hints = {"Take e to the power of each score, and divide by the sum of these numbers.",
                            fmt::format("{} / ({})", numbers[column], fmt::join(numbers, " + "))};
  problem.solution = fmt::format("--explain 'weights[1,{}]'", column + 1);
  return problem;
}

DrillProblem draw_either_softmax(Draws& draws) {
  return draws.kind(2) == 0 ? draw_softmax(draws) : draw_softmax_of_logarithms(draws);
}

DrillProblem draw_masked_softmax(Draws& draws) {
  const std::size_t n = draws.place(2) + 3, masked = draws.place(n);
  std::size_t column = draws.place(n - 1);
  column += column >= masked ? 1 : 0;
  const WholeNumbers scores = draws.numbers(1, n, 0, 3);
  std::vector<int> mask(n, 1), stay = scores[0];
  mask[masked] = 0;
  stay.erase(stay.begin() + static_cast<std::ptrdiff_t>(masked));
  DrillProblem problem;
  problem.given = {Given{"scores|mask"}};
  problem.question.ask = fmt::format(
      "These are the scaled scores of one query, and a mask: 0 means masked. What is the weight of key {}? "
      "Give 2 decimals. {}.",
      column + 1, exponentials(scores[0]));
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("weights[1,{}]", column + 1);
  problem.question.on =
      fmt::format("attn walk --scores '{}' --mask '{}'", written(scores), written(WholeNumbers{mask}));
  problem.question.hints = {"Replace the score of the masked key by −∞. Its exponential is 0.",
                            share(stay, column - (column > masked ? 1 : 0))};
  problem.solution = fmt::format("--explain 'weights[1,{}]'", column + 1);
  return problem;
}

std::string square(const std::vector<std::string>& words) {
  return fmt::format("--tokens '{0}' --key-tokens '{0}'", fmt::join(words, " "));
}

DrillProblem draw_causal_mask(Draws& draws) {
  const std::vector<std::string>& words = draws.one_of(sentences()).words;
  const std::size_t row = draws.place(3), column = draws.place(3);
  DrillProblem problem;
  problem.question.on =
      fmt::format("attn walk {} --scores '{}' --causal", square(words), written(draws.numbers(3, 3, 0, 3)));
  problem.solution = "--only mask";
  problem.question.hints = {"With a causal mask, a word attends to itself and to the words before it.",
                            fmt::format("\"{}\" is word {}.", words[row], row + 1)};
  if (draws.kind(2) == 0) {
    problem.question.ask = fmt::format("The sentence is \"{}\", and the mask is causal. Does \"{}\" attend to \"{}\"?",
                                       fmt::join(words, " "), words[row], words[column]);
    problem.question.kind = AnswerKind::choice;
    problem.question.choices = {"yes", "no"};
    problem.question.of = fmt::format("mask[{},{}] > 0", row + 1, column + 1);
  } else {
    problem.question.ask =
        fmt::format("The sentence is \"{}\", and the mask is causal. To how many words does \"{}\" attend?",
                    fmt::join(words, " "), words[row]);
    problem.question.of = fmt::format("sum(mask[{}])", row + 1);
  }
  return problem;
}

DrillProblem draw_causal_weights(Draws& draws) {
  const std::vector<std::string>& words = draws.one_of(sentences()).words;
  const std::size_t row = draws.place(2) + 1, column = draws.place(row + 1);
  const WholeNumbers scores = draws.numbers(3, 3, 0, 3);
  const std::vector<int>& all = scores[row];
  DrillProblem problem;
  problem.given = {Given{"scores"}};
  problem.question.ask = fmt::format(
      "These are scaled scores, and the mask is causal. "
      "With which weight does \"{}\" attend to \"{}\"? Give 2 decimals. {}.",
      words[row], words[column], exponentials(all));
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("weights[{},{}]", row + 1, column + 1);
  problem.question.on = fmt::format("attn walk {} --scores '{}' --causal", square(words), written(scores));
  problem.question.hints = {"Leave out the later words: their scores become −∞.",
                            share({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(row) + 1}, column)};
  problem.solution = fmt::format("--explain 'weights[{},{}]'", row + 1, column + 1);
  return problem;
}

// Rows of weights with one or two decimals.
std::vector<std::string> draw_weights(Draws& draws) {
  return draws.shuffled(draws.one_of(std::vector<std::vector<std::string>>{{"0.5", "0.3", "0.2"},
                                                                           {"0.6", "0.3", "0.1"},
                                                                           {"0.7", "0.2", "0.1"},
                                                                           {"0.5", "0.25", "0.25"},
                                                                           {"0.8", "0.1", "0.1"},
                                                                           {"0.4", "0.4", "0.2"}}));
}

// "0.5 · 10 + 0.5 · 20"
std::string weighted(const std::vector<std::string>& weights, const WholeNumbers& values, std::size_t column) {
  std::string sum;
  for (std::size_t i = 0; i < weights.size(); ++i)
    sum += fmt::format("{}{} · {}", i == 0 ? "" : " + ", weights[i], values[i][column]);
  return sum;
}

DrillProblem draw_weighted_sum(Draws& draws) {
  const std::vector<std::string> weights = draw_weights(draws);
  const WholeNumbers values = draws.numbers(3, 2, 0, 90, 10);
  const std::size_t column = draws.place(2);
  DrillProblem problem;
  problem.given = {Given{"weights|v"}};
  problem.question.ask = fmt::format(
      "These are the weights of one query, and the values, one in each row of v. "
      "What is number {} of the output?",
      column + 1);
  problem.question.of = fmt::format("output[1,{}]", column + 1);
  problem.question.on = fmt::format("attn walk --weights '{}' --v '{}'", fmt::join(weights, " "), written(values));
  problem.question.hints = {
      fmt::format("Multiply column {} of v by the weights, number by number, and add the products.", column + 1),
      weighted(weights, values, column)};
  problem.solution = fmt::format("--explain 'output[1,{}]'", column + 1);
  return problem;
}

DrillProblem draw_alignment(Draws& draws) {
  const Sentence& sentence = draws.one_of(sentences());
  std::vector<std::vector<std::string>> weights;
  std::string matrix;
  for (std::size_t i = 0; i < 3; ++i) {
    weights.push_back(draw_weights(draws));
    matrix += fmt::format("{}{}", i == 0 ? "" : "; ", fmt::join(weights.back(), " "));
  }
  const WholeNumbers values = draws.numbers(3, 1, 0, 90, 10);
  const std::size_t row = draws.place(3);
  DrillProblem problem;
  const std::string words = fmt::format("--tokens '{}' --key-tokens '{}'", fmt::join(sentence.translation, " "),
                                        fmt::join(sentence.words, " "));
  problem.question.ask = fmt::format(
      "In this alignment each column is a word of the translation, and has its weights for the words of the sentence. "
      "The encoder states are v. What is the context of \"{}\"?",
      sentence.translation[row]);
  problem.question.of = fmt::format("output[{},1]", row + 1);
  problem.question.on = fmt::format("attn weigh {} --weights '{}' --v '{}'", words, matrix, written(values));
  problem.given = {{"alignment", fmt::format("attn softmax {} --weights '{}' --transpose", words, matrix)}, {"v"}};
  problem.question.hints = {
      fmt::format("Multiply each state by the weight in the column of \"{}\", and add the products.",
                  sentence.translation[row]),
      weighted(weights[row], values, 0)};
  problem.solution = fmt::format("--explain 'output[{},1]'", row + 1);
  return problem;
}

DrillProblem draw_cross_attention(Draws& draws) {
  const Sentence& sentence = draws.one_of(sentences());
  const std::size_t row = draws.place(3);
  DrillProblem problem;
  problem.given = {Given{"q|k"}};
  problem.question.ask = fmt::format(
      "The queries are those of the translation, and the keys those of the sentence. "
      "To which word does \"{}\" attend most?",
      sentence.translation[row]);
  problem.question.kind = AnswerKind::word;
  problem.question.of = fmt::format("most(weights[{}])", row + 1);
  problem.question.on = fmt::format("attn walk --tokens '{}' --key-tokens '{}' --q '{}' --k '{}'",
                                    fmt::join(sentence.translation, " "), fmt::join(sentence.words, " "),
                                    written(draws.numbers(3, 2, -1, 3)), written(draws.numbers(3, 2, -1, 3)));
  problem.question.hints = {
      fmt::format("Take the dot products of the query of \"{}\" with all keys.", sentence.translation[row]),
      "The largest score gets the largest weight."};
  problem.solution = "--only 'scores|weights'";
  return problem;
}

DrillProblem draw_attention(Draws& draws) {
  const std::size_t d_k = 4, n = 2;
  const auto dot = [](const std::vector<int>& one, const std::vector<int>& other) {
    return std::inner_product(one.begin(), one.end(), other.begin(), 0);
  };
  WholeNumbers q, k;
  std::vector<int> scaled;
  do {
    q = draws.numbers(1, d_k, 0, 2);
    k = draws.numbers(n, d_k, 0, 2);
    scaled.clear();
    for (const std::vector<int>& key : k) scaled.push_back(dot(q[0], key));
  } while (scaled[0] == scaled[1] ||
           std::ranges::any_of(scaled, [](int score) { return score % 2 != 0 || score > 6; }));
  for (int& score : scaled) score /= 2;
  const WholeNumbers values = draws.numbers(n, 1, 0, 100, 10);
  DrillProblem problem;
  problem.given = {Given{"q|k|v"}};
  problem.question.ask = fmt::format(
      "This is one query, with keys and values, and d_k = 4. "
      "What is the output of scaled dot-product attention? "
      "Round to a whole number. {}.",
      exponentials(scaled));
  problem.question.tolerance = 0.75;
  problem.question.of = "output[1,1]";
  problem.question.on = fmt::format("attn walk --q '{}' --k '{}' --v '{}'", written(q), written(k), written(values));
  problem.question.hints = {"Take the dot products, divide them by √4, apply softmax, and weigh the values with it.",
                            fmt::format("The scaled scores are {} and {}.", scaled[0], scaled[1]),
                            fmt::format("The first weight is {}.", share(scaled, 0))};
  problem.solution = "--explain 'output[1,1]' --depth 3";
  return problem;
}

constexpr std::array drills_on_weights = {
    Drill{"softmax", "attention weights from scores", draw_either_softmax},
    Drill{"masked-softmax", "attention weights where a key is masked", draw_masked_softmax},
    Drill{"causal-mask", "which words a causal mask hides", draw_causal_mask},
    Drill{"causal-weights", "attention weights under a causal mask", draw_causal_weights},
    Drill{"weighted-sum", "the output from weights and values", draw_weighted_sum},
    Drill{"attention", "all of it for one query: scores, scale, softmax, weighted sum", draw_attention},
    Drill{"cross-attention", "to which word of the sentence a word of the translation attends", draw_cross_attention},
    Drill{"alignment", "the context of a word from its column of an alignment", draw_alignment},
};

}  // namespace

std::span<const Drill> drills_of_weights() { return drills_on_weights; }

}  // namespace attn
