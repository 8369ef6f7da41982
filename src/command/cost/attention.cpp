#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "command/cost/cost.hpp"
#include "model/layer_cost.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t heads = 8;

// The size itself, or the next larger one that the heads can share.
std::size_t shareable(std::size_t d) {
  return (d + heads - 1) / heads * heads;
}

}  // namespace

void add_heads(QuantityPage& page, std::optional<std::size_t> words, std::optional<std::size_t> size) {
  constexpr std::size_t largest_n = 4096, most_numbers = 65536;
  constexpr std::size_t usual_words = 8, usual_size = 512;  // as in Vaswani et al. 2017
  const std::size_t n = std::min(words.value_or(usual_words), largest_n);
  const std::size_t d_model = shareable(std::min(size.value_or(usual_size), most_numbers));
  page.head(1, "Eight heads against one");
  page.say(fmt::format(
      "Self-attention with w_q, w_k, w_v and w_o on {} of size {}: once with 8 heads of size {}, once "
      "with one head of size {}.{}",
      count_of(n, "word"), d_model, d_model / heads, d_model,
      size && *size != d_model ? fmt::format(" (The size {} is replaced by {}.)", *size, d_model) : ""));
  page.table("heads", work_columns,
             {{fmt::format("8 heads of {}", d_model / heads), numbers(counted_heads(heads, n, d_model))},
              {fmt::format("1 head of {}", d_model), numbers(counted_heads(1, n, d_model))}});
  page.say(
      "Several heads need no more multiply-adds: 4nd² + 2n²d in both cases. But each head has scores of its "
      "own, so the work on the scores is done 8 times. And q, k and v are split into parts. Both take "
      "element-wise operations and memory.");
}

void add_scores(QuantityPage& page, LayerSizes sizes) {
  constexpr std::size_t most_queries = 64, most_numbers = 64;
  const std::size_t n = std::min(sizes.n, most_queries), d = std::min(sizes.d, most_numbers);
  page.head(1, "Additive against dot product");
  page.say(fmt::format(
      "The scores of {0} and {1} of size {2}{3}:", n == 1 ? "1 query" : fmt::format("{} queries", n),
      count_of(n, "key"), d, n < sizes.n || d < sizes.d ? ", the largest size that is counted here" : ""));
  QuantityRows rows;
  for (const ScoringFunction& function : scoring_functions()) {
    rows.emplace_back(function.name, numbers(counted_scores(function, n, d)));
  }
  page.table("scoring", work_columns, rows);
  page.say(
      "A dot product takes n²d multiply-adds. Additive attention takes n²d for w_v, and 2nd² for W_q and "
      "W_k. It can need fewer only if its hidden layer is narrower than d. It also adds and takes the tanh "
      "of d numbers for each pair, 2n²d element-wise operations, and stores them. The dot products are one "
      "matrix product. attn cost --measure shows the difference in seconds.");
}

}  // namespace attn
