#include "graph/op/operations.hpp"

#include <array>

namespace attn {
namespace {

// Different small numbers of both signs.
Value sample(Graph& graph, std::string_view name, Shape shape) {
  Matrix matrix(shape);
  int k = static_cast<int>(graph.nodes().size()) * 5;
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(called(name), std::move(matrix), axis("rows"), axis("columns"));
}

Value ids_sample(Graph& graph) {
  Matrix matrix({3, 1}, 2.0);
  matrix(0, 0) = 4.0;
  return graph.input(role::ids, std::move(matrix), axis("words"), axis("id"));
}

Value allowed_sample(Graph& graph) {
  Matrix matrix({2, 3}, 1.0);
  matrix(0, 2) = matrix(1, 0) = 0.0;
  return graph.input(role::allowed, std::move(matrix), axis("rows"), axis("columns"));
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
    OperationRow{"add", "the element-wise sum, or one row added to every row",
                 [](Graph& g) {
                   return add(sample(g, "a", {2, 3}), sample(g, "b", {1, 3}));
                 }},
    OperationRow{"subtract", "the element-wise difference, or one row or column subtracted from each",
                 [](Graph& g) {
                   return subtract(sample(g, "a", {2, 3}), sample(g, "b", {2, 1}));
                 }},
    OperationRow{"multiply", "the element-wise product",
                 [](Graph& g) {
                   return multiply(sample(g, "a", {2, 3}), sample(g, "b", {2, 3}));
                 }},
    OperationRow{"transpose", "rows and columns exchanged",
                 [](Graph& g) {
                   return transpose(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"half_squared_norms", "half the squared length of every row",
                 [](Graph& g) {
                   return half_squared_norms(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"minus_half_squared_distances",
                 "minus half the squared distance of every row of one matrix from every row of another",
                 [](Graph& g) {
                   return minus_half_squared_distances(sample(g, "a", {2, 3}), sample(g, "b", {4, 3}));
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
    OperationRow{"tanh", "the hyperbolic tangent of every element",
                 [](Graph& g) {
                   return tanh(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"sigmoid", "1 / (1 + exp(−x)) of every element",
                 [](Graph& g) {
                   return sigmoid(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"relu", "every element, or 0 if it is negative",
                 [](Graph& g) {
                   return relu(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"times", "every element multiplied by one number",
                 [](Graph& g) {
                   return times(sample(g, "a", {2, 3}), {8.0, {"√64", "\\sqrt{64}"}});
                 }},
    OperationRow{"divide", "every element divided by one number",
                 [](Graph& g) {
                   return divide(sample(g, "a", {2, 3}), {8.0, {"√64", "\\sqrt{64}"}});
                 }},
    OperationRow{"replace", "elements replaced by a number where a mask is 0",
                 [](Graph& g) {
                   return replace(sample(g, "a", {2, 3}), allowed_sample(g), -1e6);
                 }},
    OperationRow{"mask", "masked scores replaced by a number",
                 [](Graph& g) {
                   return mask(sample(g, "a", {2, 3}), allowed_sample(g), -1e6);
                 }},
    OperationRow{"softmax", "every row turned into nonnegative weights with sum one",
                 [](Graph& g) {
                   return softmax(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"normalize", "every row divided by its sum",
                 [](Graph& g) {
                   return normalize(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"row_means", "the mean of every row",
                 [](Graph& g) {
                   return row_means(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"row_variances", "the variance of every row",
                 [](Graph& g) {
                   return row_variances(sample(g, "a", {2, 3}), sample(g, "b", {2, 1}));
                 }},
    OperationRow{"standardize", "every row shifted to mean 0 and divided by √(variance + ε)",
                 [](Graph& g) {
                   const Value a = sample(g, "a", {2, 3});
                   const Value means = g.name(called("means"), row_means(a));
                   return standardize(a, means, g.name(called("variances"), row_variances(a, means)), 1e-5);
                 }},
    OperationRow{"uniform", "the same number everywhere, with sum one in every row",
                 [](Graph& g) {
                   return uniform(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"largest", "1 at the largest element of every row, else 0",
                 [](Graph& g) {
                   return largest(sample(g, "a", {2, 3}));
                 }},
    OperationRow{"rows", "some neighboring rows",
                 [](Graph& g) {
                   return rows(sample(g, "a", {5, 2}), 1, 3);
                 }},
    OperationRow{"columns", "some neighboring columns",
                 [](Graph& g) {
                   return columns(sample(g, "a", {2, 5}), 1, 3);
                 }},
    OperationRow{"concatenate", "matrices concatenated side by side",
                 [](Graph& g) {
                   return concatenate({sample(g, "a", {2, 3}), sample(g, "b", {2, 2})});
                 }},
    OperationRow{"stack", "matrices stacked below each other",
                 [](Graph& g) {
                   return stack({sample(g, "a", {2, 3}), sample(g, "b", {1, 3})});
                 }},
    OperationRow{"labelled", "the same matrix with other labels of its rows",
                 [](Graph& g) {
                   return labelled(sample(g, "a", {2, 3}), axis("words", {"one", "two"}));
                 }},
    OperationRow{"embed", "the rows of a table with given ids",
                 [](Graph& g) {
                   return embed(ids_sample(g), sample(g, "e", {4, 2}));
                 }},
    OperationRow{"one_hot", "1 in the column of every id, else 0",
                 [](Graph& g) {
                   return one_hot(ids_sample(g), sample(g, "e", {4, 2}));
                 }},
    OperationRow{"by_distance", "a number for the distance of every query and key",
                 [](Graph& g) {
                   return by_distance(sample(g, "r", {1, 3}), sample(g, "q", {2, 2}), sample(g, "k", {4, 2}));
                 }},
    OperationRow{"sinusoid", "sines and cosines of the positions",
                 [](Graph& g) {
                   return sinusoid(g, sinusoid_layouts().front(), {{4, 6}, axis("tokens"), axis("features")});
                 }},
    OperationRow{identity_name, "another name for the same matrix",
                 [](Graph& g) {
                   return g.name(called("again"), sample(g, "a", {2, 3}));
                 }},
};

}  // namespace

std::span<const OperationRow> operations() {
  return table;
}

}  // namespace attn
