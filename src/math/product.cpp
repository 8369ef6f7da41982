#include "math/product.hpp"

#include <sys/mman.h>

#include <new>

#include "math/xtensor_blas.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// BLAS itself checks no shapes and complains on standard output about empty matrices.
void require_cells(const Matrix& a, const Matrix& b) {
  if (a.size() == 0 || b.size() == 0) {
    fail("a {} matrix cannot be multiplied by a {} matrix: one of them is empty", to_string(a.shape()),
         to_string(b.shape()));
  }
}

// OpenBLAS asks for 128 MiB of addresses at its first product, and where it does not get them it asks again
// for ever.
void require_room_for_blas() {
  constexpr std::size_t bytes = std::size_t{192} << 20;
  static const bool once [[maybe_unused]] = [] {
    void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    munmap(room, bytes);
    return true;
  }();
}

// One row times a matrix. The product of two matrices would copy all of the second first.
void multiply_row(const Matrix& row, const Matrix& b, Matrix& result, cxxblas::Transpose transpose) {
  using Index = xt::blas_index_t;
  const auto m = static_cast<Index>(b.shape().rows), n = static_cast<Index>(b.shape().columns);
  cxxblas::gemv<Index>(cxxblas::RowMajor, transpose, m, n, 1.0, b.data(), n, row.data(), Index{1}, 0.0,
                       result.data(), Index{1});
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  if (a.shape().columns != b.shape().rows) {
    fail(
        "a {} matrix cannot be multiplied by a {} matrix: the first must have as many columns as the second "
        "has "
        "rows",
        to_string(a.shape()), to_string(b.shape()));
  }
  require_cells(a, b);
  require_room_for_blas();
  Matrix result({a.shape().rows, b.shape().columns});
  if (a.shape().rows == 1) {
    multiply_row(a, b, result, cxxblas::Trans);
  } else {
    xt::blas::gemm(a.array(), b.array(), result.array(), false, false);
  }
  return result;
}

Matrix product_transposed(const Matrix& a, const Matrix& b) {
  if (a.shape().columns != b.shape().columns) {
    fail(
        "a {} matrix cannot be multiplied by the transpose of a {} matrix: both must have the same number of "
        "columns",
        to_string(a.shape()), to_string(b.shape()));
  }
  require_cells(a, b);
  require_room_for_blas();
  Matrix result({a.shape().rows, b.shape().rows});
  if (a.shape().rows == 1) {
    multiply_row(a, b, result, cxxblas::NoTrans);
  } else {
    xt::blas::gemm(a.array(), b.array(), result.array(), false, true);
  }
  return result;
}

}  // namespace attn
