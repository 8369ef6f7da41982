#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/math/matrix.hpp"

namespace attn {

/// How numbers lie in a file: so many of them in so many bytes, the lowest byte first.
struct StoredType {
  std::string_view name;  // "bfloat16"
  std::size_t block;      // numbers that are stored together
  std::size_t bytes;      // of a block
  std::size_t mantissa;   // binary digits of a number, without the first; of a block, of its factors
  /// The first `count` numbers from the beginning of a block on, as doubles; and rounded to float32.
  void (*widen)(const std::byte* blocks, std::size_t count, double* numbers) = nullptr;
  void (*widen_to_floats)(const std::byte* blocks, std::size_t count, float* numbers) = nullptr;
  /// sums_j ← sums_j + Σ_t x_t line_tj, t after t. So many lines at most.
  void (*add_lines)(const double* x, const std::byte* const* lines, std::size_t line_count, std::size_t count,
                    double* sums) = nullptr;
  /// products_t ← Σ_j x_j line_tj, of each line by itself.
  void (*dot_products)(const double* x, const std::byte* const* lines, std::size_t line_count, std::size_t count,
                       double* products) = nullptr;
};

/// How many lines the kernels of a type take at once, at most.
constexpr std::size_t most_lines_at_once = 8;

namespace stored_type {
extern const StoredType float64, float32, float16, bfloat16;
extern const StoredType q8_0;  // of GGUF: a float16, and 32 whole numbers of a byte that it multiplies
}  // namespace stored_type

/// The lines of a tensor that are those of a matrix: `first`, and after `group` neighbors the next group begins `apart`
/// lines behind the beginning of the last.
struct StoredLines {
  std::size_t first = 0;
  std::size_t group = 1;
  std::size_t apart = 1;

  std::size_t at(std::size_t i) const { return first + i / group * apart + i % group; }
  /// How many lines of the tensor lie between two neighbors of these `count`; 0 where it is not always the same.
  std::size_t step(std::size_t count) const {
    return count <= group ? 1 : group == 1 || apart == group ? apart / group : 0;
  }
};

/// A matrix whose numbers stay where a file has them, in its type, and are widened where they are needed. A line of the
/// tensor is a row of the matrix or, where it is transposed, a column.
struct StoredMatrix {
  const StoredType* type;
  const std::byte* elements;           // of the whole tensor
  std::shared_ptr<const void> holder;  // keeps these bytes
  Shape shape;                         // of the matrix
  bool is_transposed = false;
  std::size_t line = 0;     // numbers of a line of the tensor
  std::size_t skipped = 0;  // of each line, before the numbers of the matrix
  StoredLines lines = {};

  /// How many lines the matrix has, and how many numbers each of them.
  std::size_t line_count() const { return is_transposed ? shape.columns : shape.rows; }
  std::size_t line_length() const { return is_transposed ? shape.rows : shape.columns; }
  /// Some numbers of a line, from the beginning of a block on.
  void widen(std::size_t i, std::size_t begin, std::size_t count, double* numbers) const;
  /// Where line `i` of the matrix begins.
  const std::byte* line_at(std::size_t i) const;
  /// All of it.  -> shape.rows × shape.columns cells, row after row.
  void widen_all(double* cells) const;
  double number(std::size_t row, std::size_t column) const;
  /// A row of the matrix.
  void widen_row(std::size_t i, double* cells) const;
};

/// A row of an operand, whether it has cells or is stored.
void copy_row(const Rows& rows, std::size_t i, std::span<double> cells);

}  // namespace attn
