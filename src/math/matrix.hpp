#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "math/memory.hpp"
#include "math/xtensor.hpp"

namespace attn {

/// Everything computed, shown or written is a matrix: rows × columns, tokens are rows, row-major doubles.
using Matrix =
    xt::xtensor_container<xt::uvector<double, MatrixAllocator<double>>, 2, xt::layout_type::row_major>;

/// The rows and columns of a matrix.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;

  bool operator==(const Shape&) const = default;
  std::size_t cells() const { return rows * columns; }
};

Shape shape_of(const Matrix& matrix);

/// No matrix, given or computed, may have more cells (1 GiB of doubles): a crafted file or a number that was
/// typed cannot take all memory.
constexpr std::size_t most_cells = std::size_t{1} << 27;
bool fits(Shape shape);

/// Throws InputError when a matrix called `name` would have more: before its memory is taken.
void require_size(std::string_view name, Shape shape);

/// "3×4".
std::string to_string(Shape shape);

/// A matrix whose cells are not set yet.
Matrix make_matrix(Shape shape);
Matrix make_matrix(Shape shape, double value);

Matrix transposed(const Matrix& matrix);  // [m, n] -> [n, m]

/// One row as its cells. Rows are contiguous.
inline std::span<double> row(Matrix& matrix, std::size_t i) {
  const std::size_t columns = matrix.shape()[1];
  return {matrix.data() + i * columns, columns};
}
inline std::span<const double> row(const Matrix& matrix, std::size_t i) {
  const std::size_t columns = matrix.shape()[1];
  return {matrix.data() + i * columns, columns};
}

/// All cells, row after row.
inline std::span<double> cells(Matrix& matrix) {
  return {matrix.data(), matrix.size()};
}
inline std::span<const double> cells(const Matrix& matrix) {
  return {matrix.data(), matrix.size()};
}

}  // namespace attn
