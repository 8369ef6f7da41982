#pragma once

#include <cstddef>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/math/rounding.hpp"

namespace attn {

/// How far two numbers are apart; infinite where one of them is not finite and they are not the same.
double distance(double one, double other);

/// Where two matrices differ, and where most. Whoever compares other things cell by cell adds them itself.
struct Difference {
  bool has_other_shape = false;
  std::size_t cells = 0;                   // that differ
  std::vector<std::size_t> rows, columns;  // that have some, in order
  double largest = 0.0;                    // distance; infinite where one of the two numbers is not finite
  double change = 0.0;                     // the same as it is told: NaN where one of the two is NaN
  std::size_t row = 0, column = 0;         // of it: the first one

  bool agrees() const { return !has_other_shape && cells == 0; }
  /// Whether rounding alone makes so much.
  bool is_small() const;
  /// Takes notice of two numbers in this cell that are so far apart. Whether it is the largest distance so far.
  bool add(std::size_t row, std::size_t column, double apart);
};

/// Matrices of the same shape are compared cell by cell, rows first.
Difference difference(const Matrix& one, const Matrix& other, const Rounding& rounding = {});
/// The largest distance of two cells; NaN where one of the two is NaN. Throws std::logic_error where the shapes differ.
double largest_difference(const Matrix& one, const Matrix& other);
/// Whether they differ nowhere, which is known at the first cell that does.
bool agree(const Matrix& one, const Matrix& other, const Rounding& rounding = {});

/// `other` − `one`, 0 where they are the same: also −∞ and −∞.
/// [m, n] [m, n] -> [m, n]
Matrix cell_changes(const Matrix& one, const Matrix& other);

/// The largest absolute value of its finite numbers.
double largest_of(const Matrix& matrix);

}  // namespace attn
