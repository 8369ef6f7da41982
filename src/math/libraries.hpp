#pragma once

#include <vector>

#include "support/library.hpp"

namespace attn {

/// What matrices are computed with: libraries, the kernel that OpenBLAS chose for this processor, the vector
/// instructions that our own kernels chose, and how many threads there are.
std::vector<Library> libraries_of_math();

}  // namespace attn
