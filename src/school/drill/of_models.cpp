#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "school/drill/drill.hpp"

namespace attn {

// --- layers
// Drills on what stands around attention: positions, residual connections, layer normalization, feed-forward.

namespace {

DrillProblem draw_position(Draws& draws) {
  // Sine and cosine of 0 to 3.
  constexpr std::array<std::string_view, 4> waves = {"sin 0 = 0, cos 0 = 1", "sin 1 = 0.84, cos 1 = 0.54",
                                                     "sin 2 = 0.91, cos 2 = −0.42", "sin 3 = 0.14, cos 3 = −0.99"};
  const std::size_t position = draws.place(3) + 1, column = draws.place(4);
  const bool is_fast = column < 2;
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Sinusoidal positions with d_model = 4: what is column {} for position {}? "
      "The first word has position 0. "
      "Give 2 decimals. {}; sin 0.0{} = 0.0{}, cos 0.0{} = 1.00.",
      column + 1, position, waves[position], position, position, position);
  problem.question.tolerance = 0.005;
  problem.question.of = fmt::format("positions[{},{}]", position + 1, column + 1);
  problem.question.on = "attn positions --n 4 --d-model 4";
  problem.question.hints = {
      "Columns 1 and 2 are sine and cosine of the position, columns 3 and 4 those of the position / 10000^(2/4).",
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
      "What does the residual connection make of number {} of word {}? Give 2 decimals.",
      column + 1, row + 1);
  problem.question.tolerance = 0.01;
  problem.question.of = fmt::format("encoder.1.sum_1[{},{}]", row + 1, column + 1);
  problem.question.on =
      fmt::format("attn encoder --x '{}' --d-model 4 --layers 1 --heads 1 --d-ff 4 --seed {} --precision 2", written(x),
                  draws.between(1, 999));
  problem.question.hints = {"Add the input of the layer to the output of its attention."};
  problem.solution = fmt::format("--explain 'encoder.1.sum_1[{},{}]'", row + 1, column + 1);
  return problem;
}

// Four whole numbers whose mean and whose standard deviation are whole.
std::vector<int> draw_even_row(Draws& draws) {
  const std::vector<int> away = draws.shuffled(draws.one_of(std::vector<std::vector<int>>{
      {-1, -1, 1, 1}, {-2, -2, 2, 2}, {-3, -3, 3, 3}, {-7, -1, 1, 7}, {-5, 1, 1, 3}, {5, -1, -1, -3}, {-4, -4, 4, 4}}));
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
        "Layer normalization of this row, with ε = 0 and without γ and β: what becomes of number {}? "
        "Give 2 decimals.",
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
      "A feed-forward layer without biases: w_1, then ReLU, then w_2. What is number {} of its output?", column + 1);
  problem.question.of = fmt::format("feed_forward[1,{}]", column + 1);
  problem.question.on =
      fmt::format("attn feed-forward --x '{}' --w1 '{}' --w2 '{}'", written(x), written(w_1), written(w_2));
  problem.question.hints = {"Multiply the row by w_1, replace negative numbers by 0, and multiply by w_2.",
                            fmt::format("The numbers before ReLU are {}, {} and {}.", inner[0], inner[1], inner[2])};
  problem.solution = fmt::format("--explain 'feed_forward[1,{}]' --depth 2", column + 1);
  return problem;
}

constexpr std::array drills_on_layers = {
    Drill{"positions", "a number of the sinusoidal positions", draw_position},
    Drill{"residual", "adding the input of a layer to what it computed", draw_residual},
    Drill{"layer-norm", "variance and normalized numbers of a row", draw_layer_norm},
    Drill{"feed-forward", "two matrices with ReLU between them", draw_feed_forward},
};

}  // namespace

std::span<const Drill> drills_of_layers() { return drills_on_layers; }

// --- shapes
// Drills on sizes: shapes, heads, numbers of parameters and of multiply-adds.

namespace {

// A matrix of attention that is asked for, and how its shape is found.
struct Shaped {
  std::string_view matrix;
  std::string_view called;
  std::string_view hint;
};

DrillProblem draw_shape(Draws& draws) {
  constexpr std::array<Shaped, 4> shaped = {
      Shaped{"scores", "of the scores", "There is a row for each query and a column for each key."},
      Shaped{"weights", "of the weights", "There is a row for each query and a column for each key."},
      Shaped{"output", "of the outputs", "There is a row for each query, as long as a value."},
      Shaped{"k", "k of the keys", "There is a row for each key, as long as a query."}};
  const std::vector<int> sizes = draws.shuffled(std::vector<int>{2, 3, 4, 5, 6, 7});
  const Shaped& asked = shaped[draws.kind(shaped.size())];
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "{} queries attend to {} keys. Queries have {} numbers each, and values {}. "
      "Which shape does the matrix {} have? Give rows × columns.",
      sizes[0], sizes[1], sizes[2], sizes[3], asked.called);
  problem.question.kind = AnswerKind::shape;
  problem.question.of = fmt::format("shape({})", asked.matrix);
  problem.question.on =
      fmt::format("attn walk --n-q {} --n-k {} --d-k {} --d-v {}", sizes[0], sizes[1], sizes[2], sizes[3]);
  problem.question.hints = {std::string(asked.hint)};
  problem.solution = fmt::format("--only {}", asked.matrix);
  return problem;
}

// Embeddings that are split among heads.
struct HeadSizes {
  int n = 0, d_model = 0, heads = 0;
};

HeadSizes draw_heads(Draws& draws) {
  constexpr std::array<std::pair<int, int>, 7> splits = {{{4, 2}, {6, 2}, {6, 3}, {8, 2}, {8, 4}, {12, 3}, {12, 4}}};
  const auto [d_model, heads] = splits[draws.place(splits.size())];
  return {draws.one_of({3, 5, 7}), d_model, heads};
}

std::string sentence_of_length(int words) {
  constexpr std::array<std::string_view, 7> all = {"we", "saw", "that", "old", "film", "again", "yesterday"};
  return fmt::format("{}", fmt::join(all.begin(), all.begin() + words, " "));
}

DrillProblem draw_split(Draws& draws) {
  constexpr std::array<Shaped, 3> shaped = {
      Shaped{"head.1.q", "the matrix q of one head", "The columns of q are split among the heads, its rows are not."},
      Shaped{"head.1.weights", "the matrix of the weights of one head", "Each head compares each word with each word."},
      Shaped{"head.1.output", "the matrix of the outputs of one head",
             "There is a row for each word, as long as a value of this head."}};
  const HeadSizes sizes = draw_heads(draws);
  const Shaped& asked = shaped[draws.kind(shaped.size())];
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Self-attention over {} words with d_model = {} has {} heads, which split q, k and v evenly. "
      "Which shape does {} have? Give rows × columns.",
      sizes.n, sizes.d_model, sizes.heads, asked.called);
  problem.question.kind = AnswerKind::shape;
  problem.question.of = fmt::format("shape({})", asked.matrix);
  problem.question.on = fmt::format("attn walk --text '{}' --d-model {} --heads {}", sentence_of_length(sizes.n),
                                    sizes.d_model, sizes.heads);
  problem.question.hints = {std::string(asked.hint),
                            fmt::format("{} / {} = {}", sizes.d_model, sizes.heads, sizes.d_model / sizes.heads)};
  problem.solution = fmt::format("--only {}", asked.matrix);
  return problem;
}

DrillProblem draw_concatenation(Draws& draws) {
  const HeadSizes sizes = draw_heads(draws);
  const int d_v = draws.one_of({1, 2, 4, 5});
  const bool asks_for_w_o = draws.kind(2) == 0;
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Self-attention over {} words with d_model = {} has {} heads. "
      "The values of each head have the size d_v = {}. Which shape does {} have? Give rows × columns.",
      sizes.n, sizes.d_model, sizes.heads, d_v,
      asks_for_w_o ? "the matrix W_O of the output projection" : "the concatenation of all heads");
  problem.question.kind = AnswerKind::shape;
  problem.question.of = asks_for_w_o ? "shape(w_o)" : "shape(concat)";
  problem.question.on = fmt::format("attn walk --text '{}' --d-model {} --heads {} --d-v {}",
                                    sentence_of_length(sizes.n), sizes.d_model, sizes.heads, d_v);
  problem.question.hints = {"The outputs of the heads stand beside each other, so their columns add up.",
                            fmt::format("{} · {} = {} columns", sizes.heads, d_v, sizes.heads * d_v)};
  problem.solution = fmt::format("--only {}", asks_for_w_o ? "w_o" : "concat");
  return problem;
}

DrillProblem draw_parameters_of_attention(Draws& draws) {
  const HeadSizes sizes = draw_heads(draws);
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Multi-head attention with d_model = {} and {} heads has the matrices W_Q, W_K, W_V and W_O, without biases. "
      "How many parameters does it have?",
      sizes.d_model, sizes.heads);
  problem.question.of =
      "rows(w_q) * columns(w_q) + rows(w_k) * columns(w_k) + rows(w_v) * columns(w_v) + rows(w_o) * columns(w_o)";
  problem.question.on = fmt::format("attn walk --text 'we saw' --d-model {} --heads {}", sizes.d_model, sizes.heads);
  problem.question.hints = {"Each of the four matrices has d_model rows and d_model columns.",
                            fmt::format("4 · {0} · {0}", sizes.d_model)};
  problem.question.notes = {
      {"rows(w_q) * columns(w_q) * 3", "This leaves W_O out, which projects the concatenated heads."},
      {"rows(w_q) * columns(w_q)", "This is one matrix. There are four."},
      {"rows(w_q) * columns(w_q) * 4 * h",
       "This counts every matrix once per head. The heads split the columns of the same matrices."},
      {"rows(w_q) * columns(w_q) * 4 + columns(w_q) * 4", "This counts biases. Here there are none."}};
  problem.solution = "--only 'w_*'";
  return problem;
}

DrillProblem draw_parameters_of_feed_forward(Draws& draws) {
  const int d_model = draws.one_of({3, 4, 6, 8}), d_ff = draws.one_of({5, 10, 16, 20});
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "A feed-forward layer with d_model = {} and d_ff = {} has two matrices and no biases. "
      "How many parameters are that?",
      d_model, d_ff);
  problem.question.of = "rows(w_1) * columns(w_1) + rows(w_2) * columns(w_2)";
  problem.question.on = fmt::format("attn feed-forward --text 'we saw' --d-model {} --d-ff {}", d_model, d_ff);
  problem.question.hints = {"W_1 has d_model rows and d_ff columns, and W_2 the other way round.",
                            fmt::format("2 · {} · {}", d_model, d_ff)};
  problem.question.notes = {{"rows(w_1) * columns(w_1)", "This is one of the two matrices. Add the other one."},
                            {"rows(w_1) * columns(w_1) + rows(w_2) * columns(w_2) + columns(w_1) + columns(w_2)",
                             "This counts biases. Here there are none."}};
  problem.solution = "--only 'w_1|w_2'";
  return problem;
}

DrillProblem draw_parameters(Draws& draws) {
  return draws.kind(2) == 0 ? draw_parameters_of_attention(draws) : draw_parameters_of_feed_forward(draws);
}

DrillProblem draw_multiply_adds(Draws& draws) {
  const int n = draws.one_of({3, 5, 6, 10, 12}), d = draws.one_of({4, 8, 16, 20});
  const bool asks_for_attention = draws.kind(2) == 0;
  DrillProblem problem;
  problem.question.on = fmt::format("attn cost --n {} --d {}", n, d);
  problem.solution = "--only layers";
  if (asks_for_attention) {
    problem.question.ask = fmt::format(
        "Self-attention without projections reads {} words with embeddings of size {}. "
        "How many multiply-adds do the scores and the weighted sums take together?",
        n, d);
    problem.question.of = "layers[self-attention,multiply-adds]";
    problem.question.hints = {"The scores take n·n·d multiply-adds, and the weighted sums take as many.",
                              fmt::format("2 · {0} · {0} · {1}", n, d)};
    problem.question.notes = {
        {"layers[self-attention,multiply-adds] / 2", "This is one of the two products. Add the other one."},
        {"layers[recurrent,multiply-adds]",
         "This is 2·n·d·d, the number for a recurrent layer. Here all pairs of words are compared."},
        {"layers[with projections,multiply-adds]", "This counts the four projections. Here there are none."},
        {fmt::format("2 * {} * {}", n, d), "This is 2·n·d. There are n·n pairs of words, not n."}};
    return problem;
  }
  problem.question.ask = fmt::format(
      "A recurrent layer reads {} words. "
      "Input and state have the size d = {}, and each of the two is multiplied by a d×d matrix at every position. "
      "How many multiply-adds does the layer take?",
      n, d);
  problem.question.of = "layers[recurrent,multiply-adds]";
  problem.question.hints = {"At each position, a row of d numbers is multiplied by two d×d matrices.",
                            fmt::format("2 · {0} · {1} · {1}", n, d)};
  problem.question.notes = {
      {"layers[recurrent,multiply-adds] / 2", "This is one of the two matrices. Add the other one."},
      {"layers[self-attention,multiply-adds]",
       "This is 2·n·n·d, the number for self-attention. Here each position takes 2·d·d."},
      {fmt::format("2 * {0} * {0}", d), "This is one position. Multiply by the number of words."}};
  return problem;
}

constexpr std::array drills_on_shapes = {
    Drill{"shapes", "the shapes of scores, weights and outputs", draw_shape},
    Drill{"heads", "the shapes of what one head has", draw_split},
    Drill{"concat", "the shapes of the concatenated heads and of W_O", draw_concatenation},
    Drill{"parameters", "the number of parameters of attention and of a feed-forward layer", draw_parameters},
    Drill{"multiply-adds", "the multiply-adds of self-attention and of a recurrent layer", draw_multiply_adds},
};

}  // namespace

std::span<const Drill> drills_of_shapes() { return drills_on_shapes; }

// --- training
// Drills on training: gradients that go back through the weighted sum and through softmax.

namespace {

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
  question.on =
      fmt::format("attn backward --weights '{}' --v '{}' --upstream '{}'", weights, written(values), written(upstream));
  if (is_of_a_value) {
    problem.given = {Given{"weights|d_output"}};
    question.of = fmt::format("d_v[{},{}]", row, column);
    question.ask = fmt::format(
        "These are the weights of two queries (rows) for two keys, and the gradient of a loss with respect to the output. "
        "What is the derivative of the loss with respect to number {} of value {}?",
        column, row);
    question.hints = {
        fmt::format("Value {} goes into both rows of the output. Its weights are in column {} of weights.", row, row),
        fmt::format("weights[1,{0}] · d_output[1,{1}] + weights[2,{0}] · d_output[2,{1}]", row, column)};
  } else {
    problem.given = {Given{"v|d_output"}};
    question.of = fmt::format("d_weights[{},{}]", row, column);
    question.ask = fmt::format(
        "These are the values of two keys, and the gradient of a loss with respect to the output of two queries. "
        "What is the derivative of the loss with respect to the weight of query {} for key {}?",
        row, column);
    question.hints = {
        fmt::format("This weight multiplies value {}, and the product goes into row {} of the output.", column, row),
        fmt::format("d_output[{0},1] · v[{1},1] + d_output[{0},2] · v[{1},2]", row, column)};
  }
  problem.solution = fmt::format("--explain '{}'", question.of);
  return problem;
}

DrillProblem draw_softmax_gradient(Draws& draws) {
  const std::vector<int> numbers = draws.shuffled(draws.one_of(
      std::vector<std::vector<int>>{{1, 1}, {1, 3}, {1, 4}, {2, 3}, {1, 9}, {1, 1, 2}, {1, 2, 2}, {1, 3, 4}}));
  const std::size_t column = draws.place(numbers.size());
  std::vector<std::string> scores;
  for (const int number : numbers) scores.push_back(fmt::format("{:.4f}", std::log(number)));
  const WholeNumbers values = draws.numbers(numbers.size(), 1, 0, 40, 10);
  DrillProblem problem;
  problem.given = {Given{"weights|d_weights"}};
  problem.question.ask = fmt::format(
      "These are the weights of one query, and the gradient of a loss with respect to the weights. "
      "What is the gradient with respect to the score of key {}?",
      column + 1);
  problem.question.tolerance = two_decimals;
  problem.question.of = fmt::format("d_scores[1,{}]", column + 1);
  problem.question.on = fmt::format("attn backward --scores '{}' --v '{}'", fmt::join(scores, " "), written(values));
  problem.question.hints = {
      "Subtract from each number of d_weights their sum weighted with the weights, and multiply by the weight.",
      fmt::format("weights[1,{0}] · (d_weights[1,{0}] − the weighted sum of d_weights)", column + 1)};
  problem.solution = fmt::format("--explain 'd_scores[1,{}]'", column + 1);
  return problem;
}

constexpr std::array drills_on_training = {
    Drill{"gradients", "the gradient of the values or of the weights from that of the output", draw_gradient},
    Drill{"softmax-gradient", "the gradient of the scores from that of the weights", draw_softmax_gradient},
};

}  // namespace

std::span<const Drill> drills_of_training() { return drills_on_training; }

}  // namespace attn
