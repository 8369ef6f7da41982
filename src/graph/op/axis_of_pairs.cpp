#include "graph/op/axis_of_pairs.hpp"

#include "support/error.hpp"

namespace attn {

Axis axis_of_pairs(const Frame& queries, const Frame& keys, std::size_t size) {
  const std::size_t n_q = queries.shape.rows, n_k = keys.shape.rows;
  if (!fits({n_q, n_k}) || !fits({n_q * n_k, size})) {
    fail(
        "{} queries and {} keys, pair by pair with {} numbers each, are more than the {} cells a matrix may "
        "have; give fewer queries or keys",
        n_q, n_k, size, most_cells);
  }
  if (!queries.rows.labels && !keys.rows.labels) return axis("pairs");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < n_q; ++i) {
    for (std::size_t j = 0; j < n_k; ++j) labels.push_back(queries.rows.label(i) + ", " + keys.rows.label(j));
  }
  return axis("pairs", std::move(labels));
}

}  // namespace attn
