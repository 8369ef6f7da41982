#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/math/matrix.hpp"
#include "core/support/outside.hpp"
#include "data/files/cells.hpp"

namespace attn {

/// What the header of a .npy file promises about the bytes that follow it.
struct NpyHeader {
  const ElementType* type = nullptr;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;            // of all matrices below each other
  std::size_t count = 1;  // of matrices, where there are three dimensions
  std::size_t begin = 0;  // where the elements begin

  std::size_t end() const { return begin + shape.cells() * type->bytes; }
};

/// How many bytes the header takes, once enough of the file is there to tell.
/// Throws InputError: not a .npy file, an unknown version, an absurd length.
std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& where);

/// Reads the header. Throws InputError: damaged, a type that is no real number, a shape of more than three
/// dimensions or too large. `end()` never overflows.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& where);

/// The bytes that stand before the cells of a matrix in a .npy file.
std::string npy_head(Shape shape);

/// The cells of a matrix as a .npy file holds them, handed on in pieces so that no copy of all is made.
void write_npy_cells(const Matrix& matrix, Sink& sink);

}  // namespace attn
