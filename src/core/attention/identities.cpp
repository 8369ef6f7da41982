#include "core/attention/identities.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/attention/attention.hpp"
#include "core/math/difference.hpp"
#include "core/op/operations.hpp"

namespace attn {
namespace {

// Each identity is computed with the operations themselves, in a graph of its own.
Value input(Graph& graph, const Name& name, const Matrix& matrix) {
  return graph.input(name, matrix, axis("rows"), axis("columns"));
}

Matrix below(const Matrix& above, const Matrix& matrix) {
  Matrix stacked({above.shape().rows + matrix.shape().rows, above.shape().columns});
  const auto place = std::ranges::copy(cells(above), cells(stacked).begin()).out;
  std::ranges::copy(cells(matrix), place);
  return stacked;
}

}  // namespace

double gaussian_against_dot(const Matrix& q, const Matrix& k, double sigma) {
  Graph graph;
  const Value queries = input(graph, role::q, q), keys = input(graph, role::k, k);
  const Value of_kernel = softmax(gaussian(queries, keys, {.sigma = sigma}));
  const Value of_dot = softmax(divide(dot_product(queries, keys, {}), {sigma * sigma, {"σ²", "\\sigma^2"}}));
  return largest_difference(of_kernel.matrix(), of_dot.matrix());
}

Matrix of_equal_length(const Matrix& k) {
  Matrix result = k;
  for (std::size_t i = 0; i < k.shape().rows; ++i) {
    double squares = 0.0;
    for (const double value : row(k, i)) squares += value * value;
    if (squares == 0.0) result(i, 0) = squares = 1.0;
    for (double& value : row(result, i)) value /= std::sqrt(squares);
  }
  return result;
}

double additive_against_hidden_layer(const Matrix& q, const Matrix& k, const Matrix& w_q, const Matrix& w_k,
                                     const Matrix& w_v) {
  Graph graph;
  const Value queries = input(graph, role::q, q), keys = input(graph, role::k, k),
              to_score = input(graph, role::w_v, w_v);
  const ScoreParameters parameters{.matrices = {{&role::score_wq, input(graph, role::w_q, w_q)},
                                                {&role::score_wk, input(graph, role::w_k, w_k)},
                                                {&role::score_wv, to_score}}};
  const Value scores = additive(queries, keys, parameters);
  const Value hidden =
      attn::tanh(matmul(pairs(queries, keys), input(graph, Name{role::other, "both"}, below(w_q, w_k))));
  return largest_difference(scores.matrix(), unpair(matmul(hidden, to_score), queries, keys).matrix());
}

double split_against_independent(const Matrix& x, const Projections& w, std::size_t heads) {
  Graph graph;
  const Value words = input(graph, role::x, x), w_q = input(graph, role::w_q, w.q), w_k = input(graph, role::w_k, w.k),
              w_v = input(graph, role::w_v, w.v), w_o = input(graph, role::w_o, w.o);
  const Value split = multi_head_attention(matmul(words, w_q), matmul(words, w_k), matmul(words, w_v),
                                           {{}, heads, Projection{w_o, std::nullopt}});
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < heads; ++i) {
    const auto own = [&](const Value& all) {
      const std::size_t width = all.shape().columns / heads;
      return matmul(words, columns(all, i * width, width));
    };
    const Graph::Scope scope(graph, {scope::other, "independent." + std::to_string(i + 1)});
    outputs.push_back(attention(own(w_q), own(w_k), own(w_v), {}));
  }
  return largest_difference(split.matrix(), matmul(concatenate(outputs), w_o).matrix());
}

}  // namespace attn
