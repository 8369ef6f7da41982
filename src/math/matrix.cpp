#include "math/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace attn {

Shape shape_of(const Matrix& matrix) {
  return {matrix.shape()[0], matrix.shape()[1]};
}

std::string to_string(Shape shape) {
  return fmt::format("{}×{}", shape.rows, shape.columns);
}

bool fits(Shape shape) {
  return shape.columns == 0 || shape.rows <= most_cells / shape.columns;
}

void require_size(std::string_view name, Shape shape) {
  if (fits(shape)) return;
  fail("{} would be {}, more than the {} cells that a matrix may have: give fewer words or smaller sizes",
       name, to_string(shape), most_cells);
}

Matrix make_matrix(Shape shape) {
  return Matrix(Matrix::shape_type{shape.rows, shape.columns});
}

Matrix make_matrix(Shape shape, double value) {
  Matrix matrix = make_matrix(shape);
  std::ranges::fill(cells(matrix), value);
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  const auto [rows, columns] = shape_of(matrix);
  constexpr std::size_t block = 16;  // what is written stays in the cache until its lines are full
  Matrix result = make_matrix({columns, rows});
  for (std::size_t begin = 0; begin < rows; begin += block) {
    const std::size_t end = std::min(begin + block, rows);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = begin; i < end; ++i) result(j, i) = matrix(i, j);
    }
  }
  return result;
}

}  // namespace attn
