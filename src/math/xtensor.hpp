#pragma once

// The only file that includes xtensor: its headers moved between releases, and both places are listed here.
#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include "math/matrix.hpp"
#include "math/memory.hpp"

namespace attn {

/// What a matrix holds: `matrix.array()` is used in any expression of xtensor.
class Array : public xt::xtensor<double, 2, xt::layout_type::row_major, MatrixAllocator<double>> {
 public:
  using Base = xt::xtensor<double, 2, xt::layout_type::row_major, MatrixAllocator<double>>;
  using Base::Base;
  using Base::operator=;
};

}  // namespace attn
