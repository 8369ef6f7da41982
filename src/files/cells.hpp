#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/number.hpp"

namespace attn {

/// What a piece of text is when it is read as one cell of a matrix.
enum class CellKind { number, boolean, overflow, text };

/// A cell and its value; the value counts for numbers and booleans only.
struct WrittenCell {
  CellKind kind;
  double value;
};

/// Reads `1.5`, `+2e-3`, `inf`, `-Infinity`, `nan`, `true` or `False`: all of the text or nothing of it.
WrittenCell parse_cell(std::string_view text);

/// Whether the cell has a value.
inline bool has_value(WrittenCell cell) {
  return cell.kind == CellKind::number || cell.kind == CellKind::boolean;
}

/// "is not a number" or "is too large for a number": what to say of a cell without a value.
std::string_view complaint(WrittenCell cell);

/// Text from a file as a message shows it: in single quotes, on one line, shortened when it is long.
std::string in_quotes(std::string_view text);

/// The same for a name such as `decoder.layers.5.multihead_attn.in_proj_weight`, of which every part counts.
std::string name_in_quotes(std::string_view name);

/// The whole number in bytes of which the lowest comes first.
template <class Word>
Word little_endian(const unsigned char* bytes) {
  Word value = 0;
  for (std::size_t i = sizeof(Word); i-- > 0;) {
    value = static_cast<Word>(static_cast<std::uint64_t>(value) << 8U | bytes[i]);
  }
  return value;
}

// The floating-point types that files hold, lowest byte first, as doubles: every value exactly, infinities
// and NaN too.
double float64_from(const unsigned char* bytes);
double float32_from(const unsigned char* bytes);
double float16_from(const unsigned char* bytes);
double bfloat16_from(const unsigned char* bytes);

/// The magnitude, or its negative.
double with_sign(double magnitude, bool negative);

}  // namespace attn
