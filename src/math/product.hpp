#pragma once

#include "math/matrix.hpp"

namespace attn {

/// The matrix product.  [m, k] [k, n] -> [m, n].  Throws InputError when the inner sizes differ.
Matrix product(const Matrix& a, const Matrix& b);

/// The product with the second matrix transposed: the dot product of every row of `a` with every row of `b`.
/// [m, k] [n, k] -> [m, n].  Throws InputError when the rows are of different sizes.
Matrix product_transposed(const Matrix& a, const Matrix& b);

}  // namespace attn
