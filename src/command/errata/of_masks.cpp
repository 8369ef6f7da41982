#include <fmt/format.h>

#include <limits>

#include "attention/attention.hpp"
#include "attention/masks.hpp"
#include "command/errata/demonstration.hpp"
#include "command/errata/errata.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

constexpr double published = -1e6, minus_infinity = -std::numeric_limits<double>::infinity();

}  // namespace

void show_filled_weights(Page& page, Graph& graph) {
  page.say(
      "Dive into Deep Learning (11.3) \"sets the attention weights to a large negative number, such as "
      "−10⁶\". Correct are the scores, before the softmax. Then masked keys have the weight 0, and the other "
      "weights of the row sum to one.");
  const Value scores = row_of_numbers(graph, role::scores, {2.0, 1.0, 0.0, 0.0});
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0, 0.0});
  const Value right = name(role::weights, softmax(mask(scores, allowed, minus_infinity)));
  const Value unmasked = name(role::unmasked, softmax(scores));
  const Value filled = name(role::filled, replace(unmasked, allowed, published));
  const Value zeroed = name(role::zeroed, multiply(unmasked, allowed));
  show(page, {right, filled, zeroed});
  page.say(
      fmt::format("If the weights are replaced by −10⁶, the row sums to {}. If they are set to 0 instead, it "
                  "sums to {}. With masked scores it sums to {}.",
                  written_fixed(sum_of_row(filled, 0), 4), written_fixed(sum_of_row(zeroed, 0), 4),
                  written_fixed(sum_of_row(right, 0), 4)));
}

// An embedding of zeros makes a key of zeros, whose score is 0, and e⁰ is 1.
void show_masked_embeddings(Page& page, Graph& graph) {
  page.say(
      "The post applies \"masking to the embeddings for unseen target elements\", so \"that only relevant "
      "input elements contribute\". Two things are wrong. The mask is on the scores, and what remains are "
      "the known target elements. A masked embedding, a row of zeros, gives a key of zeros. Its score is 0, "
      "and e⁰ = 1, so the key still gets weight.");
  const Value q = row_of_numbers(graph, role::q, {1.0, 0.0});
  Matrix zeroed({3, 2}, 0.0);
  zeroed(0, 0) = zeroed(1, 1) = 1.0;
  const Value k = graph.input(role::k, std::move(zeroed), axis("keys", {"known 1", "known 2", "unseen"}),
                              axis("features"));
  const Value scores = name(role::scores, matmul_transposed(q, k));
  const Value embeddings = name(Name{role::weights, "embedding_masked"}, softmax(scores));
  const Value allowed = row_of_numbers(graph, role::mask, {1.0, 1.0, 0.0});
  const Value masked =
      name(Name{role::weights, "score_masked"}, softmax(mask(scores, allowed, minus_infinity)));
  show(page, {k, scores, embeddings, masked});
  page.say(fmt::format(
      "The weight of the unseen element is {} if its embedding is masked, and {} if its score is masked.",
      written_fixed(embeddings.matrix()(0, 2), 4), written_fixed(masked.matrix()(0, 2), 4)));
}

void show_shift_and_mask(Page& page, Graph& graph) {
  constexpr std::size_t n = 4;
  page.say(
      "One text lets a position depend on outputs up to that position, the other on outputs at positions "
      "less than i. There is no conflict, because the inputs of the decoder are the outputs shifted right by "
      "one position. Input 1 is the start token, and input i is output i − 1. The causal mask allows inputs "
      "1 to i, which are outputs 1 to i − 1.");
  std::vector<std::string> inputs = {"<start>"}, positions;
  for (std::size_t i = 1; i < n; ++i) inputs.push_back(fmt::format("output {}", i));
  for (std::size_t i = 1; i <= n; ++i) positions.push_back(fmt::format("predict {}", i));
  const Value allowed = graph.input(role::mask, mask_by({causal_rule()}, {n, n}), axis("queries", positions),
                                    axis("keys", inputs));
  show(page, {allowed});
  Matrix numbers({n, 2});
  for (std::size_t i = 0; i < n; ++i) {
    numbers(i, 0) = sum_of_row(allowed, i);
    numbers(i, 1) = numbers(i, 0) - allowed.matrix()(i, 0);
  }
  page.say(
      quantities("known", axis("queries", positions), {"inputs", "of these, outputs"}, std::move(numbers)));
}

}  // namespace attn
