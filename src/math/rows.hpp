#pragma once

#include <span>

namespace attn {

// Kernels over the cells of one row or of a whole matrix, in place. They are compiled for several instruction
// sets and chosen when the program starts (instructions.hpp); every one of them gives the same bits, because
// sums run over the same eight lanes everywhere and no multiplication is fused with an addition. Expressions
// of arrays (definitions.hpp) cannot be compiled so: a softmax takes seven times as long as one.

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

/// Whether all are numbers, neither infinite nor NaN; and whether all are below ∞, which NaN is not and −∞
/// is.
bool is_finite(std::span<const double> numbers);
bool is_below_infinity(std::span<const double> numbers);

/// The sum of some numbers; 0 where no more than rounding is left of it: what 0.1 + 0.2 − 0.3 gives is
/// nothing to divide by.
double sum_of(std::span<const double> numbers);

}  // namespace attn
