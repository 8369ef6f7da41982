#pragma once

#include <string>

#include "math/matrix.hpp"
#include "support/sink.hpp"

namespace attn {

/// The bytes that stand before the cells of a matrix in a .npy file.
std::string npy_head(Shape shape);

/// The cells of a matrix as a .npy file holds them, handed on in pieces so that no copy of all is made.
void write_npy_cells(const Matrix& matrix, Sink& sink);

}  // namespace attn
