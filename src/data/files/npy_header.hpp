#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/files/npy_type.hpp"
#include "math/matrix.hpp"

namespace attn {

/// What the header of a .npy file promises about the bytes that follow it.
struct NpyHeader {
  const NpyType* type = nullptr;
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::size_t begin = 0;  // where the elements begin

  std::size_t end() const { return begin + shape.cells() * type->bytes; }
};

/// How many bytes the header takes, once enough of the file is there to tell.
/// Throws InputError: not a .npy file, an unknown version, an absurd length.
std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& where);

/// Reads the header. Throws InputError: damaged, a type that is no real number, a shape that is no matrix or
/// too large for one. `end()` never overflows.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& where);

}  // namespace attn
