#include "math/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "math/memory.hpp"
#include "math/xtensor.hpp"
#include "support/error.hpp"

namespace attn {

std::string to_string(Shape shape) {
  return fmt::format("{}×{}", shape.rows, shape.columns);
}

Matrix::Matrix() : Matrix(Shape{}) {}

Matrix::Matrix(Shape shape)
    : array_(std::make_shared<Array>(Array::shape_type{shape.rows, shape.columns})),
      shape_(shape),
      cells_(array_->data()) {}

Matrix::Matrix(Shape shape, double value) : Matrix(shape) {
  std::ranges::fill(cells(*this), value);
}

Matrix::Matrix(Matrix&& other) noexcept
    : array_(std::move(other.array_)),
      shape_(std::exchange(other.shape_, {})),
      cells_(std::exchange(other.cells_, nullptr)) {}

Matrix& Matrix::operator=(Matrix other) noexcept {
  std::swap(array_, other.array_);
  std::swap(shape_, other.shape_);
  std::swap(cells_, other.cells_);
  return *this;
}

Matrix::~Matrix() = default;

void Matrix::take_own_cells() {
  Matrix own(shape_);
  std::copy_n(cells_, size(), own.cells_);
  *this = std::move(own);
}

bool Matrix::operator==(const Matrix& other) const {
  return shape_ == other.shape_ && std::ranges::equal(cells(*this), cells(other));
}

bool fits(Shape shape) {
  return shape.columns == 0 || shape.rows <= most_cells / shape.columns;
}

void require_size(std::string_view name, Shape shape) {
  if (!fits(shape)) {
    fail("{} would be {}, more than the {} cells that a matrix may have: give fewer words or smaller sizes",
         name, to_string(shape), most_cells);
  }
  constexpr double gibibyte = 1 << 30;
  const std::uint64_t bytes = bytes_in_use() + shape.cells() * sizeof(double);
  if (has_room_for(bytes)) return;
  fail(
      "{} would be {}, and with it the matrices would take {:.1f} GiB, more than the {:.1f} GiB that they "
      "may "
      "have: give fewer words or smaller sizes",
      name, to_string(shape), static_cast<double>(bytes) / gibibyte,
      static_cast<double>(most_matrix_bytes()) / gibibyte);
}

void transpose_into(Rows matrix, RowsToMake result) {
  constexpr std::size_t block = 16;  // what is written stays in the cache until its lines are full
  for (std::size_t begin = matrix.first; begin < matrix.end(); begin += block) {
    const std::size_t end = std::min(begin + block, matrix.end());
    for (std::size_t j = result.first; j < result.end(); ++j) {
      const std::span<double> cells = result.row(j);
      for (std::size_t i = begin; i < end; ++i) cells[i] = matrix(i, j);
    }
  }
}

Matrix transposed(const Matrix& matrix) {
  Matrix result({matrix.shape().columns, matrix.shape().rows});
  transpose_into(rows_of(matrix), rows_to_make(result));
  return result;
}

}  // namespace attn
