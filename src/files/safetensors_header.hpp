#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "math/matrix.hpp"

namespace attn {

/// What the header of a .safetensors file says about one tensor: believed only where it has been checked.
struct SafetensorsEntry {
  std::string name;
  std::optional<std::string> type;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;  // where its elements begin and end behind the header
};

/// The entries of a header in its order; what it says of itself under __metadata__ is passed over.
/// Throws InputError: not JSON, not an object of tensors, a name twice.
std::vector<SafetensorsEntry> read_safetensors_header(std::string_view json, const std::string& where);

/// A matrix to be written: with one dimension when it is a vector, which has one row.
struct WrittenTensor {
  std::string name;
  const Matrix* matrix;
  std::size_t dimensions;
};

/// The header of a file with these tensors, one after the other. Throws OutputError as write_safetensors
/// does.
std::string safetensors_header(const std::vector<WrittenTensor>& tensors);

}  // namespace attn
