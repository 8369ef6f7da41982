#include "attention/identities.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "graph/op/operations.hpp"

namespace attn {
namespace {

// Each identity is computed with the operations themselves, in a graph of its own.
Value input(Graph& graph, std::string_view name, const Matrix& matrix) {
  return graph.input(name, matrix, axis("rows"), axis("columns"));
}

Matrix below(const Matrix& above, const Matrix& matrix) {
  Matrix stacked = make_matrix({above.shape()[0] + matrix.shape()[0], above.shape()[1]});
  const auto place = std::ranges::copy(cells(above), cells(stacked).begin()).out;
  std::ranges::copy(cells(matrix), place);
  return stacked;
}

}  // namespace

double largest_difference(const Matrix& a, const Matrix& b) {
  if (shape_of(a) != shape_of(b)) {
    throw std::logic_error("a " + to_string(shape_of(a)) + " matrix is compared with a " +
                           to_string(shape_of(b)) + " one");
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = std::fabs(cells(a)[i] - cells(b)[i]);
    if (std::isnan(distance)) return distance;
    largest = std::max(largest, distance);
  }
  return largest;
}

double gaussian_against_dot(const Matrix& q, const Matrix& k) {
  Graph graph;
  const Value queries = input(graph, "q", q), keys = input(graph, "k", k);
  const Value of_kernel = softmax(gaussian(queries, keys, {}));
  const Value of_dot = softmax(dot_product(queries, keys, {}));
  return largest_difference(of_kernel.matrix(), of_dot.matrix());
}

Matrix of_equal_length(const Matrix& k) {
  Matrix result = k;
  for (std::size_t i = 0; i < k.shape()[0]; ++i) {
    double squares = 0.0;
    for (const double value : row(k, i)) squares += value * value;
    for (double& value : row(result, i)) value /= squares > 0.0 ? std::sqrt(squares) : 1.0;
  }
  return result;
}

double additive_against_hidden_layer(const Matrix& q, const Matrix& k, const Matrix& w_q, const Matrix& w_k,
                                     const Matrix& w_v) {
  Graph graph;
  const Value queries = input(graph, "q", q), keys = input(graph, "k", k),
              to_score = input(graph, "w_v", w_v);
  const ScoreParameters parameters{.matrices = {{"score_wq", input(graph, "w_q", w_q)},
                                                {"score_wk", input(graph, "w_k", w_k)},
                                                {"score_wv", to_score}}};
  const Value scores = additive(queries, keys, parameters);
  const Value hidden = attn::tanh(matmul(pairs(queries, keys), input(graph, "both", below(w_q, w_k))));
  return largest_difference(scores.matrix(), unpair(matmul(hidden, to_score), queries, keys).matrix());
}

double split_against_independent(const Matrix& x, const Matrix& w, std::size_t heads) {
  Graph graph;
  const Value words = input(graph, "x", x), all = input(graph, "w", w);
  const Value projected = matmul(words, all);
  const std::size_t width = w.shape()[1] / heads;
  double largest = 0.0;
  for (std::size_t i = 0; i < heads; ++i) {
    const Value split = columns(projected, i * width, width);
    const Value independent = matmul(words, columns(all, i * width, width));
    largest = std::max(largest, largest_difference(split.matrix(), independent.matrix()));
  }
  return largest;
}

}  // namespace attn
