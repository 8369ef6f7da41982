#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/math/matrix.hpp"
#include "core/support/number.hpp"
#include "core/support/outside.hpp"

namespace attn {

/// What a cell is where it is written: true or false, a number without a point, any other number; or text
/// that is no cell. In order: of several kinds, a matrix has the greatest.
enum class CellKind { boolean, whole, real, overflow, text };

/// How exactly a file holds its numbers: as it writes them, or in a type with so many bits. Whole numbers are
/// exact.
enum class Precision { written, float16, bfloat16, float32, float64 };

/// A cell and its value; the value counts for booleans and numbers only.
struct WrittenCell {
  CellKind kind;
  double value;
};

/// Reads `1.5`, `+2e-3`, `inf`, `-Infinity`, `nan`, `true` or `False`: all of the text or nothing of it.
WrittenCell parse_cell(std::string_view text);

/// Whether the cell has a value.
inline bool has_value(WrittenCell cell) { return cell.kind <= CellKind::real; }

/// "is not a number" or "is too large for a number": what to say of a cell without a value.
std::string_view complaint(WrittenCell cell);

/// Text from a file as a message shows it: in single quotes, on one line, shortened when it is long.
std::string in_quotes(std::string_view text);

/// The same for a name such as `decoder.layers.5.multihead_attn.in_proj_weight`, of which every part counts.
std::string name_in_quotes(std::string_view name);

/// The sizes of an array without those before its last three that are 1: a batch of one.
inline std::span<const std::size_t> without_single_ones(std::span<const std::size_t> sizes) {
  while (sizes.size() > 3 && sizes.front() == 1) sizes = sizes.subspan(1);
  return sizes;
}

/// The whole number in bytes of which the lowest comes first.
template <class Word>
Word little_endian(const unsigned char* bytes) {
  Word value = 0;
  for (std::size_t i = sizeof(Word); i-- > 0;) {
    value = static_cast<Word>(static_cast<std::uint64_t>(value) << 8U | bytes[i]);
  }
  return value;
}

/// A whole number as a double: the nearest one above 2^53.
template <class Integer>
double whole_from(const unsigned char* bytes) {
  return static_cast<double>(static_cast<Integer>(little_endian<std::make_unsigned_t<Integer>>(bytes)));
}
/// 1 for any byte but 0.
inline double boolean_from(const unsigned char* byte) { return *byte == 0 ? 0 : 1; }

// The floating-point types that files hold, lowest byte first, as doubles: every value exactly, infinities
// and NaN too.
double float64_from(const unsigned char* bytes);
double float32_from(const unsigned char* bytes);
double float16_from(const unsigned char* bytes);
double bfloat16_from(const unsigned char* bytes);

/// A type of the elements of files, by the names that NumPy (behind the byte order) and safetensors have for it, or ""
/// where one has none; `decode` takes the bytes of an element, lowest first.
struct ElementType {
  std::string_view numpy;
  std::string_view safetensors;
  std::size_t bytes;
  CellKind kind;
  Precision precision;
  double (*decode)(const unsigned char* element);
};

/// The type that has this name in a column of names, or null: it is none of real numbers, or none that is known.
const ElementType* find_element_type(std::string_view ElementType::*names, std::string_view name);

/// Puts row i of a text at the end of a string. From any thread.
using AppendRow = std::function<void(std::size_t i, std::string& text)>;

/// Writes the rows of a text one after the other. `cells` is how many numbers they have: where these are
/// many, several threads make the text of some rows each. The bytes are the same.
void write_rows(Shape cells, const AppendRow& append, Sink& sink);

}  // namespace attn
