#pragma once

#include "math/matrix.hpp"

namespace attn {

/// Which of a matrix's two directions an operation works along.
enum class Along { rows, columns };

/// Its size in that direction, of a shape that may be changed or not.
inline std::size_t& size_along(Along along, Shape& shape) {
  return along == Along::rows ? shape.rows : shape.columns;
}
inline std::size_t size_along(Along along, const Shape& shape) {
  return along == Along::rows ? shape.rows : shape.columns;
}

}  // namespace attn
