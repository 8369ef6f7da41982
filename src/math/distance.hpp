#pragma once

#include "math/matrix.hpp"

namespace attn {

/// The squared distance of every row of `a` from every row of `b`, from the differences themselves: squared
/// out, ‖a‖² − 2a·b + ‖b‖² loses its digits where rows are long and near each other.
/// [m, d] [n, d] -> [m, n].  Throws InputError when the rows are of different sizes.
Matrix squared_distances(const Matrix& a, const Matrix& b);

}  // namespace attn
