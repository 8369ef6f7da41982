#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace attn
