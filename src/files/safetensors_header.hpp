#pragma once

#include <cstdint>
#include <map>
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

/// What a header says of the whole file, under __metadata__: texts by name.
using SafetensorsMetadata = std::map<std::string, std::string, std::less<>>;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in its order
  SafetensorsMetadata metadata;
};

/// Throws InputError: not JSON, not an object of tensors, a name twice.
SafetensorsHeader read_safetensors_header(std::string_view json, const std::string& where);

/// A matrix to be written: with one dimension when it is a vector, which has one row.
struct WrittenTensor {
  std::string name;
  const Matrix* matrix;
  std::size_t dimensions;
};

/// How exactly a number is written: with all of its digits, or as a float of half the size.
enum class FloatSize : std::size_t { four_bytes = 4, eight_bytes = 8 };

/// The header of a file with these tensors, one after the other. Throws OutputError as write_safetensors
/// does.
std::string safetensors_header(const std::vector<WrittenTensor>& tensors, const SafetensorsMetadata& metadata,
                               FloatSize size);

}  // namespace attn
