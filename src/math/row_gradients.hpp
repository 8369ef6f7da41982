#pragma once

#include <span>

#include "math/matrix.hpp"

namespace attn {

// Kernels over one row that gradients and normalization are made of, as those of math/rows.hpp: the same bits
// on every processor, because sums run over the same eight lanes everywhere.

/// Σ_j x_j, Σ_j x_j y_j, Σ_j (x_j − c) and Σ_j (x_j − c)².
double sum_of_cells(std::span<const double> x);
double dot_product(std::span<const double> x, std::span<const double> y);
double sum_of_distances(std::span<const double> x, double c);
double sum_of_squared_distances(std::span<const double> x, double c);

/// x_j ← x_j · factor, and x_j ← x_j + factor · y_j.
void multiply(std::span<double> x, double factor);
void add_multiple(std::span<double> x, double factor, std::span<const double> y);

/// x_j ← (x_j − mean) − rest.
void center_row(std::span<double> x, double mean, double rest);

/// From the gradient d of a softmax to that of its scores: d_j ← α_j (d_j − Σ_j' α_j' d_j').
void softmax_gradient_row(std::span<double> d, std::span<const double> weights);

/// sums_j ← Σ_i x_ij, from the first row to the last.  [m, n] -> [n].
void sum_columns(Rows x, std::span<double> sums);

}  // namespace attn
