#include "math/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attn {

Shape shape_of(const Matrix& matrix) {
  return {matrix.shape()[0], matrix.shape()[1]};
}

std::string to_string(Shape shape) {
  return fmt::format("{}×{}", shape.rows, shape.columns);
}

Matrix make_matrix(Shape shape) {
  return Matrix(Matrix::shape_type{shape.rows, shape.columns});
}

Matrix make_matrix(Shape shape, double value) {
  Matrix matrix = make_matrix(shape);
  std::ranges::fill(cells(matrix), value);
  return matrix;
}

}  // namespace attn
