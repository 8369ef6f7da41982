#include "graph/op/operations.hpp"

#include <array>

namespace attn {
namespace {

// Different small numbers of both signs.
Value sample(Graph& graph, std::string_view name, Shape shape) {
  Matrix matrix = make_matrix(shape);
  int k = static_cast<int>(graph.nodes().size()) * 5;
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

Value allowed_sample(Graph& graph) {
  Matrix matrix = make_matrix({2, 3}, 1.0);
  matrix(0, 2) = matrix(1, 0) = 0.0;
  return graph.input("allowed", std::move(matrix), axis("rows"), axis("columns"));
}

constexpr std::array table = {
    OperationRow{"matmul", "the matrix product",
                 [](Graph& g) {
                   return matmul(sample(g, "a", {2, 3}), sample(g, "b", {3, 4}));
                 }},
    OperationRow{"matmul_transposed", "the dot products of all rows of one matrix with all rows of another",
                 [](Graph& g) {
                   return matmul_transposed(sample(g, "a", {2, 3}), sample(g, "b", {4, 3}));
                 }},
    OperationRow{"add", "the sum, cell by cell, or of one row with every row",
                 [](Graph& g) {
                   return add(sample(g, "a", {2, 3}), sample(g, "b", {1, 3}));
                 }},
    OperationRow{"subtract", "the difference, cell by cell, or of every row or column and one",
                 [](Graph& g) {
                   return subtract(sample(g, "a", {2, 3}), sample(g, "b", {2, 1}));
                 }},
    OperationRow{"transpose", "rows and columns exchanged",
                 [](Graph& g) {
                   return transpose(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"half_squared_norms", "half the squared length of every row",
                 [](Graph& g) {
                   return half_squared_norms(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"pairwise_sum", "every row of one matrix plus every row of another",
                 [](Graph& g) {
                   return pairwise_sum(sample(g, "a", {2, 3}), sample(g, "b", {4, 3}));
                 }},
    OperationRow{"pairs", "every row of one matrix beside every row of another",
                 [](Graph& g) {
                   return pairs(sample(g, "a", {2, 3}), sample(g, "b", {4, 2}));
                 }},
    OperationRow{"unpair", "one number for each pair of rows, as a matrix",
                 [](Graph& g) {
                   return unpair(sample(g, "p", {6, 1}), sample(g, "a", {2, 3}), sample(g, "b", {3, 3}));
                 }},
    OperationRow{"tanh", "the hyperbolic tangent of every cell",
                 [](Graph& g) {
                   return tanh(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"divide", "every cell divided by one number",
                 [](Graph& g) {
                   return divide(sample(g, "a", {2, 3}), {8.0, {"√64", "\\sqrt{64}"}});
                 }},
    OperationRow{"mask", "scores replaced where a query may not look",
                 [](Graph& g) {
                   return mask(sample(g, "a", {2, 3}), allowed_sample(g), -1e6);
                 }},
    OperationRow{"softmax", "every row made nonnegative with sum one",
                 [](Graph& g) {
                   return softmax(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"columns", "some neighbouring columns",
                 [](Graph& g) {
                   return columns(sample(g, "a", {2, 5}), 1, 3);
                 }},
    OperationRow{"concatenate", "matrices side by side",
                 [](Graph& g) {
                   return concatenate({sample(g, "a", {2, 3}), sample(g, "b", {2, 2})});
                 }},
    OperationRow{identity_name, "another name for the same matrix",
                 [](Graph& g) {
                   return g.name("again", sample(g, "a", {2, 3}));
                 }},
};

}  // namespace

std::span<const OperationRow> operations() {
  return table;
}

}  // namespace attn
