#pragma once

#include <span>

#include "core/math/matrix.hpp"

/// What every operation computes, as an expression of arrays. Operations whose loops are written for speed
/// compute the same numbers, and tests compare them. Of each operand a definition is given the rows that it
/// needs to make some rows of the result, or more; the axes of an operand are those that core/op/operations.hpp
/// says.
namespace attn::definition {

// Of two matrices, or of a matrix and one row or column for all of it.
void add(Rows x, Rows y, RowsToMake result);
void subtract(Rows x, Rows y, RowsToMake result);
void multiply(Rows x, Rows y, RowsToMake result);

// Of a matrix and a number.
void divide(Rows x, double divisor, RowsToMake result);
void times(Rows x, double factor, RowsToMake result);

// Of every cell.
void tanh(Rows x, RowsToMake result);
void sigmoid(Rows x, RowsToMake result);
void relu(Rows x, RowsToMake result);
void gelu(Rows x, RowsToMake result);
void gelu_by_tanh(Rows x, RowsToMake result);
void silu(Rows x, RowsToMake result);
void exp(Rows x, RowsToMake result);
void identity(Rows x, RowsToMake result);

// Products. [m, k] [k, n] -> [m, n], [m, k] [n, k] -> [m, n] and [k, m] [k, n] -> [m, n]
void matmul(Rows a, Rows b, RowsToMake result);
void matmul_transposed(Rows a, Rows b, RowsToMake result);
void transposed_matmul(Rows a, Rows b, RowsToMake result);

// Masks: cells where `allowed` is 0 are replaced by `fill`; `mask` has −∞ in a row where all are.
void replace(Rows x, Rows allowed, double fill, RowsToMake result);
void mask(Rows scores, Rows allowed, double fill, RowsToMake result);

// Derivatives of functions of every cell, times d; of tanh, sigmoid and ReLU made from their results.
void tanh_gradient(Rows d, Rows result_of_tanh, RowsToMake result);
void sigmoid_gradient(Rows d, Rows result_of_sigmoid, RowsToMake result);
void relu_gradient(Rows d, Rows result_of_relu, RowsToMake result);
void gelu_gradient(Rows d, Rows x, RowsToMake result);
void gelu_by_tanh_gradient(Rows d, Rows x, RowsToMake result);
void silu_gradient(Rows d, Rows x, RowsToMake result);

// Weights of each row.
void softmax(Rows scores, RowsToMake weights);
void normalize(Rows x, RowsToMake weights);
void uniform(RowsToMake weights);
void largest(Rows scores, RowsToMake weights);

// One number for each row, and what normalization does with them.
void row_means(Rows x, RowsToMake means);
void row_variances(Rows x, Rows means, RowsToMake variances);
void half_squared_norms(Rows x, RowsToMake result);
void unit_rows(Rows x, RowsToMake result);
void standardize(Rows x, Rows means, Rows variances, double epsilon, RowsToMake result);
void divide_by_root_mean_square(Rows x, double epsilon, RowsToMake result);

// What flows back through weights, norms and lengths.
void softmax_gradient(Rows d, Rows weights, RowsToMake result);
void normalize_gradient(Rows d, Rows y, Rows x, RowsToMake result);
void row_variances_gradient(Rows x, Rows means, Rows d, RowsToMake result);
void divide_by_deviation(Rows d, Rows variances, double epsilon, RowsToMake result);
void root_mean_square_gradient(Rows d, Rows x, double epsilon, RowsToMake result);
void unit_rows_gradient(Rows d, Rows y, Rows x, RowsToMake result);

/// Which rows belong together: those that lie `apart` in each of so many equal parts.
struct RowGroups {
  std::size_t parts;
  std::size_t apart;
};

// Rows and columns added up, and the same ones repeated so often.
void row_sums(Rows x, RowsToMake sums);
void sum_rows(Rows x, RowGroups groups, RowsToMake sums);
void repeat_rows(Rows x, RowGroups groups, std::size_t times, RowsToMake result);
void repeat_columns(Rows x, RowsToMake result);

// The cross-entropy of softmax with the words of ids from 1, and what flows back from it.
void cross_entropy(Rows logits, Rows ids, double smoothing, RowsToMake result);
void cross_entropy_gradient(Rows logits, Rows ids, Rows d, double smoothing, RowsToMake result);

// Every query with every key: as a matrix, and as a row for each pair.
void minus_half_squared_distances(Rows q, Rows k, RowsToMake result);
void pairwise_sum(Rows q, Rows k, RowsToMake result);
void pairs(Rows q, Rows k, RowsToMake result);
void unpair(Rows pairs, RowsToMake result);
void pairs_of(Rows x, RowsToMake result);
void by_distance(Rows table, RowsToMake result);
void sum_by_distance(Rows d, std::size_t rows_of_table, RowsToMake table);

// Rows of a table for ids from 1, and the rows of the identity matrix. [n, 1] [vocabulary, d] -> [n, d], [n,
// 1] -> [n, vocabulary]
void embed(Rows ids, Rows table, RowsToMake result);
void one_hot(Rows ids, RowsToMake result);
void add_rows_by_id(Rows ids, Rows d, RowsToMake result);

/// The positions from `first` on, and the base of their waves.
struct Waves {
  std::size_t first;
  double base;
};

/// Sines and cosines of the positions: of each column its frequency, and whether it is a sine.
/// [1, d] [1, d] -> [n, d].
void sinusoid(Rows frequencies, Rows is_sine, Waves waves, RowsToMake result);

/// Pairs of neighboring columns, turned by the angles of the positions.  [n, d] -> [n, d].
void rotate(Rows x, Waves waves, RowsToMake result);
void rotate_back(Rows x, Waves waves, RowsToMake result);

// Other places: parts, parts among zeros, matrices joined, rows and columns exchanged.
void rows(Rows x, std::size_t first, RowsToMake result);
void columns(Rows x, std::size_t first, RowsToMake result);
void reshape(Rows x, RowsToMake result);
void rows_among_zeros(Rows x, std::size_t first, RowsToMake result);
void columns_among_zeros(Rows x, std::size_t first, RowsToMake result);
void concatenate(std::span<const Rows> parts, RowsToMake result);
void stack(std::span<const Rows> parts, RowsToMake result);
void transpose(Rows x, RowsToMake result);

}  // namespace attn::definition
