#pragma once

#include <span>
#include <vector>

#include "core/math/matrix.hpp"

namespace attn {

// Kernels over the cells of one row or of a whole matrix, in place. They are compiled for several instruction
// sets and chosen when the program starts (machine.hpp); every one of them gives the same bits, because
// sums run over the same eight lanes everywhere and no multiplication is fused with an addition. Expressions
// of arrays (core/op/) cannot be compiled so: a softmax takes seven times as long as one.

/// x_j ← exp(x_j − max x) / Σ_j' exp(x_j' − max x). Subtracting the maximum changes nothing in exact
/// arithmetic and keeps exp from overflowing. A row of −∞ alone, which may look at nothing, becomes zeros; a
/// row with NaN becomes NaN. (Zhang et al., Dive into Deep Learning, 11.1 and 11.3.1; Vaswani et al. 2017,
/// section 3.2.1.)
void softmax_row(std::span<double> row);

/// x ← x / divisor.
void divide(std::span<double> cells, double divisor);

/// x ← x + y, x ← x − y and x ← x · y, cell by cell. Both have the same size.
void add(std::span<double> cells, std::span<const double> other);
void subtract(std::span<double> cells, std::span<const double> other);
void multiply(std::span<double> cells, std::span<const double> other);

/// sums_j ← sums_j + (x − others_j)². Both have the same size.
void add_squared_differences(std::span<double> sums, double x, std::span<const double> others);

/// Each number rounded to float32.
void round_to_single(std::span<double> cells);

/// Whether all are numbers, neither infinite nor NaN; and whether all are below ∞, which NaN is not and −∞
/// is.
bool is_finite(std::span<const double> numbers);
bool is_below_infinity(std::span<const double> numbers);

/// Where the largest number of a row stands, the first of equal ones; where the so many largest stand, the largest
/// first; and whether a score is −∞, so that its weight is 0.
std::size_t place_of_largest(std::span<const double> row);
std::vector<std::size_t> places_of_largest(std::span<const double> row, std::size_t count);
bool is_masked(double score);

/// −Σ w log₂ w, in bits: 0 for a single key, log₂ n for n equal weights.
double entropy(std::span<const double> weights);

/// For each of some numbers the sum of the others. Of weights that sum to one it is 1 − w, without the subtraction that
/// would cancel.
std::vector<double> sums_of_others(std::span<const double> numbers);

/// The sum of some numbers; 0 where no more than rounding is left of it: what 0.1 + 0.2 − 0.3 gives is
/// nothing to divide by.
double sum_of(std::span<const double> numbers);

/// What one step of Adam multiplies with, of all parameters.  (Kingma and Ba 2015, algorithm 1)
struct AdamNumbers {
  double rate, beta_1, beta_2, epsilon;
  double factor;                               // of every gradient, where it is clipped
  double first_correction, second_correction;  // 1 / (1 − β^step)
};

/// One step of Adam on a parameter, with its gradient g in one pass: m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 −
/// β₂) g², θ ← θ − rate · m̂ / (√v̂ + ε). All have the same size. The same bits on every processor.
void take_adam_step(std::span<double> parameter, std::span<double> first, std::span<double> second,
                    std::span<const double> gradient, const AdamNumbers& numbers);

/// The squared distance of every row of `a` from every row of `b`, from the differences themselves: squared
/// out, ‖a‖² − 2a·b + ‖b‖² loses its digits where rows are long and near each other.
/// The definition holds all m·n·d differences at once; this loop holds none.
/// [m, d] [n, d] -> [m, n].  `result` holds the rows that are to be made.
void squared_distances(Rows a, Rows b, RowsToMake result);

/// The power of two by which a row is divided so that the sum of its squares can be told in full: 2^0, but
/// where its numbers are very large or very small. A division by a power of two rounds nothing.
int exponent_of(std::span<const double> row);

// Kernels over one row that gradients and normalization are made of, as those above: the same bits
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
