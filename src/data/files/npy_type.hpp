#pragma once

#include <cstddef>
#include <string_view>

namespace attn {

/// A kind of element of NumPy arrays and how one becomes a double; `decode` takes its bytes, lowest first.
struct NpyType {
  std::string_view code;  // as NumPy writes it behind the byte order
  std::size_t bytes;
  double (*decode)(const unsigned char* element);
};

/// The real number types and bool, or null for every other code.
const NpyType* find_npy_type(std::string_view code);

}  // namespace attn
