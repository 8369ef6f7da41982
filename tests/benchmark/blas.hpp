#pragma once

#include "core/math/matrix.hpp"
#include "core/math/xtensor_blas.hpp"

namespace attn {

/// One call of BLAS for a whole product, into memory that is there: what attention is measured against.
/// `transpose` is about the second matrix.
inline void multiply_by_blas(const Matrix& a, const Matrix& b, cxxblas::Transpose transpose, Matrix& result) {
  using Index = xt::blas_index_t;
  const auto index = [](std::size_t size) { return static_cast<Index>(size); };
  cxxblas::gemm<Index>(cxxblas::RowMajor, cxxblas::NoTrans, transpose, index(result.shape().rows),
                       index(result.shape().columns), index(a.shape().columns), 1.0, a.data(), index(a.shape().columns),
                       b.data(), index(b.shape().columns), 0.0, result.data(), index(result.shape().columns));
}

/// The same of the first matrix transposed.
inline void multiply_transposed_by_blas(const Matrix& a, const Matrix& b, Matrix& result) {
  using Index = xt::blas_index_t;
  const auto index = [](std::size_t size) { return static_cast<Index>(size); };
  cxxblas::gemm<Index>(cxxblas::RowMajor, cxxblas::Trans, cxxblas::NoTrans, index(result.shape().rows),
                       index(result.shape().columns), index(a.shape().rows), 1.0, a.data(), index(a.shape().columns),
                       b.data(), index(b.shape().columns), 0.0, result.data(), index(result.shape().columns));
}

}  // namespace attn
