#include <fmt/format.h>

#include <cmath>

#include "attention/attention.hpp"
#include "attention/identities.hpp"
#include "command/errata/demonstration.hpp"
#include "command/errata/errata.hpp"
#include "math/elementary.hpp"
#include "model/layer_cost.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {

void show_additive_cost(Page& page, Graph& graph) {
  constexpr std::size_t n = 64, d = 64;
  page.say(fmt::format(
      "The notes on \"Attention Is All You Need\" are correct: in theory both costs are similar, and in "
      "practice the dot product is faster. At the same size additive attention saves nothing. It needs a "
      "tanh for each of {} numbers of each pair of a query and a key. The counts for {} queries and {} keys "
      "of size {}:",
      d, n, n, d));
  Matrix numbers({2, 2});
  std::size_t row = 0;
  for (const std::string_view function : {"scaled-dot", "additive"}) {
    const Cost cost = counted_scores(look_up(scoring_functions(), function, "scoring function"), n, d).cost;
    numbers(row, 0) = static_cast<double>(cost.multiply_adds);
    numbers(row++, 1) = static_cast<double>(cost.element_operations);
  }
  const Value counts = graph.input(Name{role::other, "counts"}, std::move(numbers),
                                   axis("functions", {"scaled-dot", "additive"}),
                                   axis("quantities", {"multiply-adds", "element-wise operations"}));
  page.trace.add(counts.node());
  page.say(table_of(counts.node()));
}

void show_dropped_norms(Page& page, Graph& graph) {
  solve_example("thinking-machines", graph);
  const Value all_q = at(graph, "q"), all_k = at(graph, "k");
  const Matrix &q = all_q.matrix(), &k = all_k.matrix();
  page.say(
      "The Gaussian score is −½‖q − k‖² = q ⋅ k − ½‖k‖² − ½‖q‖². Dropping ½‖q‖² is correct: it is the same "
      "for "
      "all keys and cancels in the softmax. Dropping ½‖k‖² is correct only if all keys have the same length. "
      "The text also adds 1/√d, which is another kernel, of width σ² = √d. Its Gaussian weights and those of "
      "the dot product, for the queries and keys of \"Thinking Machines\":");
  const double sigma = elementary::power(static_cast<double>(k.shape().columns), 0.25);
  Listing listing{{"compared", "keys", "largest difference"}, {}, true};
  const auto add = [&](std::string scores, std::string keys, double difference) {
    listing.rows.push_back({std::move(scores), std::move(keys), written_difference(difference)});
  };
  add("σ = 1 and q ⋅ k", "as they are", gaussian_against_dot(q, k));
  add("σ = 1 and q ⋅ k", "scaled to length 1", gaussian_against_dot(q, of_equal_length(k)));
  add("σ² = √d and q ⋅ k / √d", "scaled to length 1", gaussian_against_dot(q, of_equal_length(k), sigma));
  page.say(std::move(listing));
  show(page, {all_q, all_k});
}

// Encoder states as keys, and the decoder's state before and after a step as the query.
void show_alignment_variants(Page& page, Graph& graph) {
  page.say(
      "None of them is wrong: they are different models. Bahdanau et al. (2014) compare the previous state "
      "s_{t−1} with an additive score, Luong et al. (2015) the current state s_t with a dot product. But a "
      "text should choose one. The post on cross-attention has s_{t−1} in the formula of the weights, and "
      "s_t in that of the score. The same encoder states h give different weights:");
  constexpr std::size_t size = 4;
  const Value h = small_numbers(graph, role::h, {3, size});
  const Value before = small_numbers(graph, Name{role::other, "s_before"}, {1, size}),
              now = small_numbers(graph, Name{role::other, "s_now"}, {1, size});
  const ScoreParameters learned{
      .matrices = {{&role::score_wq, small_numbers(graph, role::score_wq, {size, size})},
                   {&role::score_wk, small_numbers(graph, role::score_wk, {size, size})},
                   {&role::score_wv, small_numbers(graph, role::score_wv, {size, 1})}}};
  const Scalar root{std::sqrt(static_cast<double>(size)), {"√4", "\\sqrt{4}"}};
  const Value by_additive =
      name(Name{role::weights, "bahdanau"}, softmax(name(role::scores, additive(before, h, learned))));
  const Value by_scaled =
      name(Name{role::weights, "scaled_dot"}, softmax(divide(matmul_transposed(before, h), root)));
  const Value by_dot = name(Name{role::weights, "luong"}, softmax(matmul_transposed(now, h)));
  show(page, {by_additive, by_scaled, by_dot});
  page.say(fmt::format("The largest difference between the weights of bahdanau and luong is {}.",
                       written_difference(largest_difference(by_additive.matrix(), by_dot.matrix()))));
}

void show_index_of_the_state(Page& page, Graph& graph) {
  page.say(
      "The post represents the input x_i by h_t. Correct is h_i: t counts the outputs, and i counts the "
      "inputs. If every input were represented by the same h_t, all its scores would be equal, and attention "
      "would only average:");
  const Value s = small_numbers(graph, Name{role::other, "s"}, {1, 4}),
              h = small_numbers(graph, role::h, {3, 4});
  const Value h_t = name(Name{role::other, "h_t"}, rows(h, 1, 1));
  const Value same = name(Name{role::other, "all_h_t"}, stack({h_t, h_t, h_t}));
  const Value right = name(Name{role::weights, "with_h_i"}, softmax(matmul_transposed(s, h)));
  const Value wrong = name(Name{role::weights, "with_h_t"}, softmax(matmul_transposed(s, same)));
  show(page, {right, wrong});
  page.say(fmt::format("The largest difference between these weights is {}.",
                       written_difference(largest_difference(right.matrix(), wrong.matrix()))));
}

}  // namespace attn
