#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// What the header of a .npy file promises about the bytes that follow it.
struct NpyHeader {
  const ElementType* type = nullptr;
  bool big_endian = false;
  bool fortran_order = false;
  bool is_vector = false;  // of one dimension
  Shape shape;             // of all matrices below each other
  std::size_t count = 1;   // of matrices, where there are three dimensions or four
  std::size_t outer = 1;   // the first size of four
  std::size_t begin = 0;   // where the elements begin

  std::size_t end() const { return begin + shape.cells() * type->bytes; }
};

/// How many bytes the header takes, once enough of the file is there to tell.
/// Throws InputError: not a .npy file, an unknown version, an absurd length.
std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& where);

/// Reads the header. Throws InputError: damaged, a type that is no real number, a shape of more than four
/// dimensions or too large. `end()` never overflows.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& where);

/// The matrix of a .npy file, whose elements come piece by piece. The header and `where` must outlive it.
class NpyReader {
 public:
  /// Throws InputError, before there is room for the matrix, when no more than `most` bytes can come and it needs more.
  NpyReader(const NpyHeader& header, std::size_t most, const std::string& where);

  /// The next bytes behind the header; an element may lie in two pieces.
  void take(std::string_view piece);
  /// Throws InputError when fewer or more bytes came than the header says.
  MatrixFile finish() &&;

 private:
  void put(const unsigned char* element);
  std::size_t expected() const { return header_.end() - header_.begin; }
  [[noreturn]] void fail_incomplete(std::size_t came) const;

  const NpyHeader& header_;
  const std::string& where_;
  MatrixFile file_;
  bool is_as_in_memory_ = false;
  std::size_t bytes_ = 0, elements_ = 0;  // that came
  std::string begun_;                     // the first bytes of an element whose last ones are still to come
  std::optional<double> rounded_;         // the first whole number that is no double
};

/// The bytes that stand before the cells of a matrix in a .npy file.
std::string npy_head(Shape shape);

/// The cells of a matrix as a .npy file holds them, handed on in pieces so that no copy of all is made.
void write_npy_cells(const Matrix& matrix, Sink& sink);

}  // namespace attn
