#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/attention.hpp"
#include "attention/identities.hpp"
#include "command/errata/demonstration.hpp"
#include "command/errata/errata.hpp"
#include "math/elementary.hpp"
#include "model/norm.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
void show_columns_and_rows(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  page.say(
      "Both forms are correct, and the texts use both. With words as rows, as in this program, a projection "
      "is x times w. With words as columns, it is wᵀ times xᵀ. The result is the transpose of x times w.");
  const Value x = at(graph, "x"), w = at(graph, "w_q"), rows_first = at(graph, "q");
  const Value words = name(Name{role::other, "x_columns"}, transpose(x)),
              map = name(Name{role::other, "w_q_columns"}, transpose(w));
  const Value columns_first = name(Name{role::other, "q_columns"}, matmul(map, words));
  show(page, {rows_first, words, map, columns_first});
  const Value back = transpose(columns_first);
  page.say(fmt::format("The largest difference from the transpose of q is {}.",
                       written_difference(largest_difference(back.matrix(), rows_first.matrix()))));
}

void show_one_letter_for_two(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  page.say(
      "One letter, α, stands for the scores and for the weights made of them. They need two, as in weights = "
      "softmax(scores). A reader who mistakes one for the other may apply the softmax twice. Weights differ "
      "by at most 1, so after a second softmax the largest ratio of two weights is e ≈ 2.72. Most of the "
      "difference between them is lost.");
  const Value weights = at(graph, "weights");
  const Value twice = name(Name{role::weights, "weights_twice"}, softmax(weights));
  show(page, {at(graph, "scaled"), weights, twice});
}

void show_wrong_index(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value weights = at(graph, "weights"), v = at(graph, "v"), output = at(graph, "output");
  page.say(
      "Correct is Σ_j α_ij v_j, which mixes the values of all words. Σ_j α_ij v_i has the same value in "
      "every term. The weights sum to one, so the output is v_i itself, and no information moves between "
      "words.");
  Matrix totals({weights.shape().rows, 1}, 0.0);
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    for (const double weight : row(weights.matrix(), i)) totals(i, 0) += weight;
  }
  const Value sums = graph.input(Name{role::other, "sums_of_weights"}, std::move(totals),
                                 weights.node().frame.rows, axis("sum"));
  const Value wrong = name(Name{role::other, "output_wrong"}, multiply(v, sums));
  show(page, {weights, v, output, wrong});
  page.say(fmt::format(
      "The largest difference between the wrong output and v is {}. Likewise, correct is [a_t; s_t], not "
      "[α_t; s_t]. a_t has the size of a state. α_t has one number for each source word, so no learned "
      "matrix could take it for every sentence.",
      written_difference(largest_difference(wrong.matrix(), v.matrix()))));
}

void show_overflow(Page& page, Graph& graph) {
  page.say(
      "The published code nests its triple quotes, so Python cannot parse it. Its softmax does not subtract "
      "the largest score first. In double precision exp(710) is already infinite, and infinity divided by "
      "infinity is not a number (NaN). The softmax here subtracts the largest score of the row first.");
  Matrix large({1, 2});
  large(0, 0) = 1000.0;
  large(0, 1) = 998.0;
  const double unshifted =
      elementary::exp(large(0, 0)) / (elementary::exp(large(0, 0)) + elementary::exp(large(0, 1)));
  const Value scores = graph.input(role::scores, std::move(large), axis("queries"), axis("keys"));
  const Value weights = name(role::weights, softmax(scores));
  show(page, {scores, weights});
  page.say(fmt::format("Without the subtraction the first weight is {}.",
                       std::isnan(unshifted) ? "not a number (NaN)" : fmt::format("{}", unshifted)));
  page.say(
      "attn walk --example numpy-3 still gives the numbers of the published code: it uses the same random "
      "numbers.");
}

void show_own_word_not_highest(Page& page, Graph& graph) {
  solve_example("animal", graph);
  page.say(
      "This is not always so. Another word can get a larger weight than the word itself, as in the example "
      "with two heads:");
  std::vector<Value> shown;
  for (const std::size_t head : {1U, 2U}) {
    const Value weights = at(graph, Name({{scope::head, head}}, role::weights).text());
    const Matrix& cells = weights.matrix();
    std::vector<std::string> others;
    for (std::size_t i = 0; i < cells.shape().rows; ++i) {
      const std::span<const double> looks = row(cells, i);
      const auto most = static_cast<std::size_t>(std::ranges::max_element(looks) - looks.begin());
      if (looks[most] > looks[i]) {
        others.push_back(fmt::format("\"{}\" gives \"{}\" the weight {} and itself {}",
                                     weights.node().frame.rows.label(i),
                                     weights.node().frame.columns.label(most), written_fixed(looks[most], 4),
                                     written_fixed(looks[i], 4)));
      }
    }
    for (const std::string& other : others) page.say(weights.node().name + ": " + other + ".");
    shown.push_back(weights);
  }
  for (const Value& weights : shown) page.trace.add(weights.node());
}

void show_norm_before_and_after(Page& page, Graph& graph) {
  solve_example("animal", graph);
  page.say(
      "Both are in use. After (post-norm): LayerNorm(x + sublayer(x)). Every row of the result has mean 0 "
      "and variance 1 up to ε, if γ is 1 and β is 0. Before (pre-norm): x + sublayer(LayerNorm(x)). The sum "
      "is not normalized, so it can grow from layer to layer, and models with pre-norm normalize once more "
      "at the end. In return, x has a path through all layers without any normalization.");
  const Value x = at(graph, "x");
  const std::size_t d = x.shape().columns;
  const NormParameters norm{
      .gamma = graph.input(role::gamma, Matrix({1, d}, 1.0), axis("gain"), axis("features")),
      .beta = graph.input(role::beta, Matrix({1, d}, 0.0), axis("bias"), axis("features")),
      .epsilon = 1e-9};  // so small that rows that hardly vary have variance 1 as well
  const auto sublayer = [&](const Value& words) {
    return multi_head_attention(
        matmul(words, at(graph, "w_q")), matmul(words, at(graph, "w_k")), matmul(words, at(graph, "w_v")),
        {{.divisor = Scalar{2.0, {"√4", "\\sqrt{4}"}}}, 2, Projection{at(graph, "w_o"), std::nullopt}});
  };
  const auto within = [&](std::string_view scope_name, const auto& compute) {
    const Graph::Scope scope(graph, {scope::other, scope_name});
    return compute();
  };
  const Value after = within("post_norm", [&] {
    return name(Name{role::other, "result"}, layer_norm(add(x, sublayer(x)), norm));
  });
  const Value before = within("pre_norm", [&] {
    return name(Name{role::other, "result"}, add(x, sublayer(layer_norm(x, norm))));
  });
  show(page, {after, before});
  Matrix numbers({x.shape().rows, 2});
  const auto fill = [&](const Value& value, std::size_t column) {
    const Value variance = row_variances(value, row_means(value));
    for (std::size_t i = 0; i < x.shape().rows; ++i) numbers(i, column) = variance.matrix()(i, 0);
  };
  fill(after, 0);
  fill(before, 1);
  page.say(quantities("variance", x.node().frame.rows, {"post-norm", "pre-norm"}, std::move(numbers)));
}

}  // namespace attn
