#pragma once

// Which the calls of BLAS need, and do not include.
#include <complex>
#include <type_traits>

// The only file that includes xtensor-blas, and of it only the calls of BLAS: what stands on arrays of
// xtensor moved together with them, and brings LAPACK's declarations with it.
#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>
