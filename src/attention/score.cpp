#include "attention/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graph/op/operations.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr ScoreParameter bilinear_parameters[] = {
    {"score_m", "one row for each number of a query and one column for each number of a key",
     [](std::size_t d_q, std::size_t d_k) {
       return Shape{d_q, d_k};
     }},
};

// When they are drawn, the hidden layer is as wide as a key.
constexpr ScoreParameter additive_parameters[] = {
    {"score_wq", "one row for each number of a query",
     [](std::size_t d_q, std::size_t d_k) {
       return Shape{d_q, d_k};
     }},
    {"score_wk", "one row for each number of a key",
     [](std::size_t, std::size_t d_k) {
       return Shape{d_k, d_k};
     }},
    {"score_wv", "one column, and a row for each column of score_wq",
     [](std::size_t, std::size_t d_k) {
       return Shape{d_k, 1};
     }},
};

constexpr std::array table = {
    ScoreFunction{"scaled-dot", "q ⋅ k / √d_k (Vaswani et al. 2017)", "sqrt-dk", {}, dot_product},
    ScoreFunction{"dot", "q ⋅ k (Luong et al. 2015)", "none", {}, dot_product},
    ScoreFunction{"gaussian", "−‖q − k‖² / 2σ², with --score-sigma", "none", {}, gaussian},
    ScoreFunction{"bilinear", "q ⋅ M ⋅ k, with --score-m; sizes may differ (Luong et al. 2015)", "none",
                  bilinear_parameters, bilinear},
    ScoreFunction{"additive",
                  "w_v ⋅ tanh(W_q q + W_k k), with --score-wq, -wk and -wv (Bahdanau et al. 2014)", "none",
                  additive_parameters, additive},
};

void require_same_size(const Value& q, const Value& k) {
  if (q.shape().columns == k.shape().columns) return;
  fail(
      "scores: {} is {} but {} is {}: queries and keys must have the same number of columns, but for the "
      "score functions bilinear and additive",
      q.node().title(), to_string(q.shape()), k.node().title(), to_string(k.shape()));
}

// The shapes of a scoring function's matrices are checked against the queries and keys that it is used on.
const Value& parameter(const ScoreParameters& parameters, std::string_view name, std::size_t rows,
                       std::string_view of_what) {
  const Value& value = parameters.matrices.find(name)->second;
  if (value.shape().rows != rows) {
    fail("scores: {} is {}: it must have {} rows, one for each {}", name, to_string(value.shape()), rows,
         of_what);
  }
  return value;
}

void require_columns(const Value& value, std::string_view name, std::size_t columns,
                     std::string_view of_what) {
  if (value.shape().columns == columns) return;
  fail("scores: {} is {}: it must have {} columns, {}", name, to_string(value.shape()), columns, of_what);
}

}  // namespace

std::span<const ScoreFunction> score_functions() {
  return table;
}

Value dot_product(Value q, Value k, const ScoreParameters&) {
  require_same_size(q, k);
  return matmul_transposed(std::move(q), std::move(k));
}

Value gaussian(Value q, Value k, const ScoreParameters& parameters) {
  require_same_size(q, k);
  Value dot = name("dot", matmul_transposed(q, k));
  Value half_q = name("half_q", half_squared_norms(std::move(q)));
  Value half_k = name("half_k", half_squared_norms(std::move(k)));
  Value scores = subtract(subtract(std::move(dot), transpose(std::move(half_k))), std::move(half_q));
  if (parameters.sigma == 1.0) return scores;
  const std::string sigma = fmt::format("{}", parameters.sigma);
  return divide(std::move(scores), {parameters.sigma * parameters.sigma, {sigma + "²", sigma + "^{2}"}});
}

Value bilinear(Value q, Value k, const ScoreParameters& parameters) {
  const Value& m = parameter(parameters, "score_m", q.shape().columns, "number of a query");
  require_columns(m, "score_m", k.shape().columns, "one for each number of a key");
  Value projected = name("projected_q", matmul(std::move(q), m));
  return matmul_transposed(std::move(projected), std::move(k));
}

Value additive(Value q, Value k, const ScoreParameters& parameters) {
  const Value& w_q = parameter(parameters, "score_wq", q.shape().columns, "number of a query");
  const Value& w_k = parameter(parameters, "score_wk", k.shape().columns, "number of a key");
  require_columns(w_k, "score_wk", w_q.shape().columns, "as many as score_wq");
  const Value& w_v = parameter(parameters, "score_wv", w_q.shape().columns, "column of score_wq");
  require_columns(w_v, "score_wv", 1, "no more");
  Value hidden_q = name("hidden_q", matmul(q, w_q));
  Value hidden_k = name("hidden_k", matmul(k, w_k));
  Value hidden = name("hidden", pairwise_sum(std::move(hidden_q), std::move(hidden_k)));
  Value activated = name("activated", attn::tanh(std::move(hidden)));
  return unpair(matmul(std::move(activated), w_v), q, k);
}

bool is_of_scoring(std::string_view leaf) {
  constexpr std::string_view leaves[] = {"dot",       "half_q",   "half_k",  "projected_q",
                                         "hidden_q",  "hidden_k", "hidden",  "activated",
                                         "distances", "relative", "content", "scores"};
  return std::ranges::find(leaves, leaf) != std::end(leaves);
}

std::string meaning_of_scores(const Node& node) {
  const auto beside = [&](std::string_view leaf) {
    return node.graph->find(std::string(node.scope()) + std::string(leaf)) != nullptr;
  };
  if (beside("content")) {
    return "A score has two parts: the content, a query (row) compared with a key (column), and what the "
           "query finds at the distance between them, whatever word stands there.";
  }
  if (beside("half_k")) {
    return "A score is minus half the squared distance from a query (row) to a key (column): the nearer the "
           "key, the larger it is. ½‖q‖² is the same for all keys of a row and cancels in the softmax; ½‖k‖² "
           "cancels only where all keys have the same length.";
  }
  if (beside("activated")) {
    return "A score is what a small network says of a pair: the query (row) and the key (column), each "
           "multiplied by a matrix of its own, are added, pass through tanh, and are weighed by w_v.";
  }
  if (beside("projected_q")) {
    return "A score is the dot product of a key (column) with a query (row) that a learned matrix has first "
           "turned into the keys' space.";
  }
  return "A score is the dot product of a query (row) with a key (column): the better the key fits what the "
         "query asks for, the larger it is.";
}

}  // namespace attn
