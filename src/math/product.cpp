#include "math/product.hpp"

#include "math/xtensor_blas.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// BLAS itself checks no shapes and complains on standard output about empty matrices.
void require_cells(const Matrix& a, const Matrix& b) {
  if (a.size() == 0 || b.size() == 0) {
    fail("a {} matrix cannot be multiplied by a {} one: one of them is empty", to_string(shape_of(a)),
         to_string(shape_of(b)));
  }
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  if (a.shape()[1] != b.shape()[0]) {
    fail(
        "a {} matrix cannot be multiplied by a {} one: the first must have as many columns as the second has "
        "rows",
        to_string(shape_of(a)), to_string(shape_of(b)));
  }
  require_cells(a, b);
  Matrix result = make_matrix({a.shape()[0], b.shape()[1]});
  xt::blas::gemm(a, b, result, false, false);
  return result;
}

Matrix product_transposed(const Matrix& a, const Matrix& b) {
  if (a.shape()[1] != b.shape()[1]) {
    fail(
        "a {} matrix cannot be multiplied by the transpose of a {} one: both must have the same number of "
        "columns",
        to_string(shape_of(a)), to_string(shape_of(b)));
  }
  require_cells(a, b);
  Matrix result = make_matrix({a.shape()[0], b.shape()[0]});
  xt::blas::gemm(a, b, result, false, true);
  return result;
}

}  // namespace attn
