#include "attention/score.hpp"

#include <array>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::array table = {
    ScoreFunction{"scaled-dot", "q · k / √d_k (Vaswani et al. 2017)", "sqrt-dk", dot_product},
    ScoreFunction{"dot", "q · k (Luong et al. 2015)", "none", dot_product},
};

}  // namespace

std::span<const ScoreFunction> score_functions() {
  return table;
}

Value dot_product(Value q, Value k) {
  if (q.shape().columns != k.shape().columns) {
    fail("scores: {} is {} but {} is {}: queries and keys must have the same number of columns",
         q.node().title(), to_string(q.shape()), k.node().title(), to_string(k.shape()));
  }
  return matmul_transposed(std::move(q), std::move(k));
}

}  // namespace attn
