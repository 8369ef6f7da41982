#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/attention.hpp"
#include "attention/identities.hpp"
#include "command/errata/errata.hpp"
#include "data/examples.hpp"
#include "data/request.hpp"
#include "model/layer_norm.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

void say(Page& page, std::string sentence) {
  page.say(text(std::move(sentence)));
}

void show(Page& page, const std::vector<Value>& values) {
  std::vector<const Node*> nodes;
  for (const Value& value : values) nodes.push_back(&value.node());
  add_results(page, nodes);
  page.trace.insert(page.trace.end(), nodes.begin(), nodes.end());
}

// A built-in example, computed into the graph.
void solve_example(std::string_view name, Graph& graph) {
  const Example& example = look_up(examples(), name, "example");
  evaluate(build(read_request(example.json, std::string(name))), graph);
}

Value at(Graph& graph, std::string_view name) {
  return graph.value(graph.at(name));
}

Value input(Graph& graph, std::string_view name, Shape shape) {
  Matrix matrix = make_matrix(shape);
  int k = static_cast<int>(graph.nodes().size());
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

std::string sentence_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void show_columns_and_rows(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  say(page,
      "With words as rows, as everywhere in this program, a projection is x times w. With words as columns "
      "it is the transposed w times the transposed x. Both are the same numbers, one the transpose of the "
      "other.");
  const Value x = at(graph, "x"), w = at(graph, "w_q"), rows_first = at(graph, "q");
  const Value words = name("x_columns", transpose(x)), map = name("w_q_columns", transpose(w));
  const Value columns_first = name("q_columns", matmul(map, words));
  show(page, {rows_first, words, map, columns_first});
  const Value back = transpose(columns_first);
  say(page, fmt::format("Transposed back, the largest difference is {}.",
                        written_difference(largest_difference(back.matrix(), rows_first.matrix()))));
}

void show_one_letter_for_two(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  say(page,
      "Scores and weights are two things, and here they have two names. Where one letter stands for both, "
      "the softmax is easily taken twice. Weights differ by 1 at most, so that none of the weights made of "
      "weights is more than e = 2.72 times another: most of what they told apart is lost.");
  const Value weights = at(graph, "weights");
  const Value twice = name("weights_twice", softmax(weights));
  show(page, {at(graph, "scaled"), weights, twice});
}

void show_sizes_of_heads(Page& page, Graph& graph) {
  constexpr std::size_t d = 8, heads = 2, d_k = 4, d_v = 6, words = 3;
  say(page,
      fmt::format("With D = {}, H = {}, D_k = {} and D_v = {}: if W^q of a head had D_v / H = {} columns, "
                  "its queries would not fit the keys, which have D_k / H = {}.",
                  d, heads, d_k, d_v, d_v / heads, d_k / heads));
  const Value x = input(graph, "x", {words, d});
  const Value k = name("k", matmul(x, input(graph, "w_k", {d, d_k / heads})));
  const Value wrong = name("q_wrong", matmul(x, input(graph, "w_q_wrong", {d, d_v / heads})));
  const Value right = name("q", matmul(x, input(graph, "w_q", {d, d_k / heads})));
  say(page, sentence_of([&] { dot_product(wrong, k, {}); }) + ".");
  const Value v = name("v", matmul(x, input(graph, "w_v", {d, d_v})));
  const Value output = name("output", attention(right, k, v, {}));
  say(page, fmt::format(
                "With D_k / H columns they fit. The context of {} words is {}: a row of D_v numbers for each "
                "of the M words, M vectors of dimension D_v and not the other way round.",
                words, to_string(output.shape())));
  show(page, {right, k, output});
}

void show_wrong_index(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value weights = at(graph, "weights"), v = at(graph, "v"), output = at(graph, "output");
  say(page,
      "Σ_j α_ij v_j mixes the values of all words. Σ_j α_ij v_i has the same value in every term: the "
      "weights sum to one, so v_i comes out as it went in, and no word has looked at another.");
  Matrix totals = make_matrix({weights.shape().rows, 1}, 0.0);
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    for (const double weight : row(weights.matrix(), i)) totals(i, 0) += weight;
  }
  const Value sums =
      graph.input("sums_of_weights", std::move(totals), weights.node().frame.rows, axis("sum"));
  const Value wrong = name("output_wrong", multiply(v, sums));
  show(page, {weights, v, output, wrong});
  say(page, fmt::format(
                "The wrong output differs from v by {}. Likewise it is [a_t; s_t] and not [α_t; s_t]: "
                "a_t has as many numbers as a state, while α_t has one for each word of the source, so that "
                "no learned matrix could take it for every sentence.",
                written_difference(largest_difference(wrong.matrix(), v.matrix()))));
}

void show_overflow(Page& page, Graph& graph) {
  say(page,
      "The published snippet nests its triple quotes so that it cannot be read by Python at all. Its softmax "
      "does not subtract the largest score first: in double precision exp(710) is already infinite, and "
      "infinity over infinity is no number.");
  Matrix large = make_matrix({1, 2});
  large(0, 0) = 1000.0;
  large(0, 1) = 998.0;
  const double unshifted = std::exp(large(0, 0)) / (std::exp(large(0, 0)) + std::exp(large(0, 1)));
  const Value scores = graph.input("scores", std::move(large), axis("queries"), axis("keys"));
  const Value weights = name("weights", softmax(scores));
  show(page, {scores, weights});
  say(page, fmt::format("Without the subtraction the first weight is {}.",
                        std::isnan(unshifted) ? "no number (NaN)" : fmt::format("{}", unshifted)));
  say(page, "Its numbers can be had all the same: attn walk --example numpy-3 draws what it draws.");
}

void show_own_word_not_highest(Page& page, Graph& graph) {
  solve_example("animal", graph);
  say(page,
      "It is not so: a word may find another word more relevant than itself, and that is what attention is "
      "for.");
  std::vector<Value> shown;
  for (const std::string head : {"head.1.", "head.2."}) {
    const Value weights = at(graph, head + "weights");
    const Matrix& cells = weights.matrix();
    std::vector<std::string> others;
    for (std::size_t i = 0; i < cells.shape()[0]; ++i) {
      const std::span<const double> looks = row(cells, i);
      const auto most = static_cast<std::size_t>(std::ranges::max_element(looks) - looks.begin());
      if (looks[most] > looks[i]) {
        others.push_back(fmt::format("\"{}\" looks at \"{}\" with {} and at itself with {}",
                                     weights.node().frame.rows.label(i),
                                     weights.node().frame.columns.label(most), written_fixed(looks[most], 4),
                                     written_fixed(looks[i], 4)));
      }
    }
    for (const std::string& other : others) say(page, head + "weights: " + other + ".");
    shown.push_back(weights);
  }
  for (const Value& weights : shown) page.trace.push_back(&weights.node());
}

void show_norm_before_and_after(Page& page, Graph& graph) {
  solve_example("animal", graph);
  say(page,
      "After: LayerNorm(x + sublayer(x)), and every word leaves with mean 0 and variance 1. Before: x + "
      "sublayer(LayerNorm(x)), and what is added to x is never normalised again, so that it can grow from "
      "layer to layer, but a path without any normalisation leads from the top to the bottom.");
  const Value x = at(graph, "x");
  const std::size_t d = x.shape().columns;
  const LayerNorm norm{
      .gamma = graph.input("gamma", make_matrix({1, d}, 1.0), axis("gain"), axis("features")),
      .beta = graph.input("beta", make_matrix({1, d}, 0.0), axis("bias"), axis("features")),
      .epsilon = 1e-9};  // so small that rows that hardly vary have variance 1 as well
  const auto sublayer = [&](const Value& words) {
    return multi_head_attention(
        matmul(words, at(graph, "w_q")), matmul(words, at(graph, "w_k")), matmul(words, at(graph, "w_v")),
        {{.divisor = Scalar{2.0, {"√4", "\\sqrt{4}"}}}, 2, Projection{at(graph, "w_o"), std::nullopt}});
  };
  const auto within = [&](std::string_view scope_name, const auto& compute) {
    const Graph::Scope scope(graph, scope_name);
    return compute();
  };
  const Value after =
      within("post_norm", [&] { return name("result", layer_norm(add(x, sublayer(x)), norm)); });
  const Value before =
      within("pre_norm", [&] { return name("result", add(x, sublayer(layer_norm(x, norm)))); });
  show(page, {after, before});
  Matrix numbers = make_matrix({x.shape().rows, 2});
  const auto fill = [&](const Value& value, std::size_t column) {
    const Value variance = row_variances(value, row_means(value));
    for (std::size_t i = 0; i < x.shape().rows; ++i) numbers(i, column) = variance.matrix()(i, 0);
  };
  fill(after, 0);
  fill(before, 1);
  page.say(quantities("variance", x.node().frame.rows, {"normalised after", "before"}, std::move(numbers)));
}

}  // namespace attn
