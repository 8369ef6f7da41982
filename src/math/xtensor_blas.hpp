#pragma once

// The only file that includes xtensor-blas. It brings LAPACK's declarations with it: include it in .cpp files
// only.
#include <xtensor-blas/xblas.hpp>
#include "math/xtensor.hpp"
