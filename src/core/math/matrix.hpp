#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

namespace attn {

/// The rows and columns of a matrix.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;

  bool operator==(const Shape&) const = default;
  std::size_t cells() const { return rows * columns; }
};

/// "3×4".
std::string to_string(Shape shape);

/// The xtensor array of two dimensions that a matrix holds. core/math/xtensor.hpp defines it, for files that
/// compute with it; others need not read xtensor's headers.
class Array;

/// A matrix whose numbers stay in a file (core/math/stored_matrix.hpp), and the array of all of them once it was
/// needed.
struct StoredMatrix;
struct StoredCells;

/// Everything computed, shown or written is a matrix: rows × columns, tokens are rows, row-major doubles. It
/// holds an xtensor array, which copies share until one of them is changed: what is given is kept as it was
/// read, in the problem and in the graph, and stands in memory once.
class Matrix {
 public:
  Matrix();  // 0×0
  /// Cells are not set yet.
  explicit Matrix(Shape shape);
  Matrix(Shape shape, double value);
  /// Numbers that stay where they are stored. Whoever asks for cells makes all of them, once for all copies; who knows
  /// of stored() need not. That may throw InputError where they are too many.
  explicit Matrix(StoredMatrix stored);
  Matrix(const Matrix& other) = default;
  Matrix(Matrix&& other) noexcept;
  Matrix& operator=(Matrix other) noexcept;
  ~Matrix();

  Shape shape() const { return shape_; }
  std::size_t size() const { return shape_.cells(); }
  // To change cells, which are then this matrix's own: pointers to them do not outlive its next copy.
  double* data() {
    if (stored_ || array_.use_count() > 1) take_own_cells();
    return cells_;
  }
  const double* data() const { return stored_ ? cells_of_stored() : cells_; }
  double& operator()(std::size_t row, std::size_t column) { return data()[row * shape_.columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return data()[row * shape_.columns + column]; }

  Array& array() {
    data();
    return *array_;
  }
  const Array& array() const;

  /// Where its numbers are stored, or null. Whether the cells were made as well.
  const StoredMatrix* stored() const;
  bool has_cells() const;

  bool operator==(const Matrix& other) const;

 private:
  void take_own_cells();
  const double* cells_of_stored() const;

  std::shared_ptr<Array> array_;         // null: the numbers are stored
  std::shared_ptr<StoredCells> stored_;  // null: they are not
  Shape shape_;
  double* cells_;  // the array's
};

/// No matrix, given or computed, may have more cells (1 GiB of doubles): a crafted file or a number that was
/// typed cannot take all memory.
constexpr std::size_t most_cells = std::size_t{1} << 27;
bool fits(Shape shape);

/// Throws InputError when a matrix called `name` would have more, or there is no room for it beside the
/// others: before its memory is taken.
void require_size(std::string_view name, Shape shape);

/// One row as its cells. Rows are contiguous.
inline std::span<double> row(Matrix& matrix, std::size_t i) {
  const std::size_t columns = matrix.shape().columns;
  return {matrix.data() + i * columns, columns};
}
inline std::span<const double> row(const Matrix& matrix, std::size_t i) {
  const std::size_t columns = matrix.shape().columns;
  return {matrix.data() + i * columns, columns};
}

/// Some neighboring rows of a matrix, to read: all of it, or a block that passes by. Rows are counted as in
/// the whole matrix.
struct Rows {
  const double* cells = nullptr;
  std::size_t first = 0;
  Shape shape = {};  // of these rows
  /// All of a matrix whose numbers are stored, for an operation that takes them so: there are no cells then. Products
  /// with it may be made in single precision.
  const StoredMatrix* stored = nullptr;
  bool in_single = false;

  std::span<const double> row(std::size_t i) const { return {cells + (i - first) * shape.columns, shape.columns}; }
  double operator()(std::size_t i, std::size_t j) const { return cells[(i - first) * shape.columns + j]; }
  /// The row beside row i of another matrix: its own, or the only one for all.
  std::span<const double> beside(std::size_t i) const { return row(shape.rows == 1 ? first : i); }
  std::size_t end() const { return first + shape.rows; }
};

/// A matrix of so many cells is small: its products are made by our own kernel, and where it is stored, its cells are
/// made.
constexpr std::size_t most_cells_of_small = std::size_t{1} << 16;

/// Some neighboring rows of a matrix whose cells are to be set.
struct RowsToMake {
  double* cells = nullptr;
  std::size_t first = 0;
  Shape shape = {};

  std::span<double> row(std::size_t i) const { return {cells + (i - first) * shape.columns, shape.columns}; }
  std::span<double> all() const { return {cells, shape.cells()}; }
  std::size_t end() const { return first + shape.rows; }
  operator Rows() const { return {cells, first, shape}; }
};

inline Rows rows_of(const Matrix& matrix) { return {matrix.data(), 0, matrix.shape()}; }
inline RowsToMake rows_to_make(Matrix& matrix) { return {matrix.data(), 0, matrix.shape()}; }

/// Rows and columns exchanged.  [m, n] -> [n, m].
void transpose_into(Rows matrix, RowsToMake result);
Matrix transposed(const Matrix& matrix);

/// All cells, row after row.
inline std::span<double> cells(Matrix& matrix) { return {matrix.data(), matrix.size()}; }
inline std::span<const double> cells(const Matrix& matrix) { return {matrix.data(), matrix.size()}; }

/// Memory for matrices: aligned to cache lines, and to huge pages from 4 MiB on. Large blocks that were freed
/// are kept and given out again, because the first touch of fresh pages costs more than the arithmetic on
/// them. Any thread may ask. Throws std::bad_alloc, also beyond most_matrix_bytes(), and InputError where a
/// Budget has no room for it.
void* allocate_cells(std::size_t bytes);
/// `bytes` is what was asked for.
void free_cells(void* cells, std::size_t bytes);

/// The most bytes that all matrices together may take at the same time: 4 GiB, or less where the system
/// leaves less (core/math/machine.hpp). What is asked for beyond it is not given.
std::uint64_t most_matrix_bytes();
/// Whether all matrices together may take as many.
bool has_room_for(std::uint64_t bytes);

/// Gives freed blocks back to the system, if more bytes than this were freed since it was last done.
void return_freed_cells(std::size_t unless_fewer_bytes);

/// The bytes of matrices that live at this moment, and the most that lived at the same time since the last
/// measure_bytes_anew().
std::size_t bytes_in_use();
std::size_t most_bytes_in_use();
void measure_bytes_anew();

/// The standard allocator's interface to the two functions above.
template <class T>
struct MatrixAllocator {
  using value_type = T;

  MatrixAllocator() = default;
  template <class U>
  MatrixAllocator(const MatrixAllocator<U>&) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T) / 2) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_cells(n * sizeof(T)));
  }
  void deallocate(T* cells, std::size_t n) { free_cells(cells, n * sizeof(T)); }

  bool operator==(const MatrixAllocator&) const = default;
};

}  // namespace attn
