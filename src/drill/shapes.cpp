// Drills on sizes: shapes, heads, numbers of parameters and of multiply-adds.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "drill/drill.hpp"

namespace attn {
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
      "{} queries attend to {} keys. Queries have {} numbers each, and values {}. Which shape does the "
      "matrix {} "
      "have? Give rows × columns.",
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
  constexpr std::array<std::pair<int, int>, 7> splits = {
      {{4, 2}, {6, 2}, {6, 3}, {8, 2}, {8, 4}, {12, 3}, {12, 4}}};
  const auto [d_model, heads] = splits[draws.place(splits.size())];
  return {draws.one_of({3, 5, 7}), d_model, heads};
}

std::string sentence_of(int words) {
  constexpr std::array<std::string_view, 7> all = {"we", "saw", "that", "old", "film", "again", "yesterday"};
  return fmt::format("{}", fmt::join(all.begin(), all.begin() + words, " "));
}

DrillProblem draw_split(Draws& draws) {
  constexpr std::array<Shaped, 3> shaped = {
      Shaped{"head.1.q", "the matrix q of one head",
             "The columns of q are split among the heads, its rows are not."},
      Shaped{"head.1.weights", "the matrix of the weights of one head",
             "Each head compares each word with each word."},
      Shaped{"head.1.output", "the matrix of the outputs of one head",
             "There is a row for each word, as long as a value of this head."}};
  const HeadSizes sizes = draw_heads(draws);
  const Shaped& asked = shaped[draws.kind(shaped.size())];
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Self-attention over {} words with d_model = {} has {} heads, which split q, k and v evenly. Which "
      "shape does {} have? Give rows × columns.",
      sizes.n, sizes.d_model, sizes.heads, asked.called);
  problem.question.kind = AnswerKind::shape;
  problem.question.of = fmt::format("shape({})", asked.matrix);
  problem.question.on = fmt::format("attn walk --text '{}' --d-model {} --heads {}", sentence_of(sizes.n),
                                    sizes.d_model, sizes.heads);
  problem.question.hints = {std::string(asked.hint), fmt::format("{} / {} = {}", sizes.d_model, sizes.heads,
                                                                 sizes.d_model / sizes.heads)};
  problem.solution = fmt::format("--only {}", asked.matrix);
  return problem;
}

DrillProblem draw_concatenation(Draws& draws) {
  const HeadSizes sizes = draw_heads(draws);
  const int d_v = draws.one_of({1, 2, 4, 5});
  const bool asks_for_w_o = draws.kind(2) == 0;
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Self-attention over {} words with d_model = {} has {} heads. The values of each head have the size "
      "d_v = {}. Which shape does {} have? Give rows × columns.",
      sizes.n, sizes.d_model, sizes.heads, d_v,
      asks_for_w_o ? "the matrix W_O of the output projection" : "the concatenation of all heads");
  problem.question.kind = AnswerKind::shape;
  problem.question.of = asks_for_w_o ? "shape(w_o)" : "shape(concat)";
  problem.question.on = fmt::format("attn walk --text '{}' --d-model {} --heads {} --d-v {}",
                                    sentence_of(sizes.n), sizes.d_model, sizes.heads, d_v);
  problem.question.hints = {"The outputs of the heads stand beside each other, so their columns add up.",
                            fmt::format("{} · {} = {} columns", sizes.heads, d_v, sizes.heads * d_v)};
  problem.solution = fmt::format("--only {}", asks_for_w_o ? "w_o" : "concat");
  return problem;
}

DrillProblem draw_parameters_of_attention(Draws& draws) {
  const HeadSizes sizes = draw_heads(draws);
  DrillProblem problem;
  problem.question.ask = fmt::format(
      "Multi-head attention with d_model = {} and {} heads has the matrices W_Q, W_K, W_V and W_O, without "
      "biases. "
      "How many parameters does it have?",
      sizes.d_model, sizes.heads);
  problem.question.of =
      "rows(w_q) * columns(w_q) + rows(w_k) * columns(w_k) + rows(w_v) * columns(w_v) + "
      "rows(w_o) * columns(w_o)";
  problem.question.on =
      fmt::format("attn walk --text 'we saw' --d-model {} --heads {}", sizes.d_model, sizes.heads);
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
      "A feed-forward layer with d_model = {} and d_ff = {} has two matrices and no biases. How many "
      "parameters are "
      "that?",
      d_model, d_ff);
  problem.question.of = "rows(w_1) * columns(w_1) + rows(w_2) * columns(w_2)";
  problem.question.on =
      fmt::format("attn feed-forward --text 'we saw' --d-model {} --d-ff {}", d_model, d_ff);
  problem.question.hints = {"W_1 has d_model rows and d_ff columns, and W_2 the other way round.",
                            fmt::format("2 · {} · {}", d_model, d_ff)};
  problem.question.notes = {
      {"rows(w_1) * columns(w_1)", "This is one of the two matrices. Add the other one."},
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
        "Self-attention without projections reads {} words with embeddings of size {}. How many "
        "multiply-adds do the scores and the weighted sums take together?",
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
      "A recurrent layer reads {} words. Input and state have the size d = {}, and each of the two is "
      "multiplied by a d×d matrix at every position. How many multiply-adds does the layer take?",
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

constexpr std::array rows = {
    Drill{"shapes", "the shapes of scores, weights and outputs", draw_shape},
    Drill{"heads", "the shapes of what one head has", draw_split},
    Drill{"concat", "the shapes of the concatenated heads and of W_O", draw_concatenation},
    Drill{"parameters", "the number of parameters of attention and of a feed-forward layer", draw_parameters},
    Drill{"multiply-adds", "the multiply-adds of self-attention and of a recurrent layer",
          draw_multiply_adds},
};

}  // namespace

std::span<const Drill> drills_of_shapes() {
  return rows;
}

}  // namespace attn
