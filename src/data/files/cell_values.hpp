#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/math/matrix.hpp"
#include "core/math/precision.hpp"
#include "core/support/number.hpp"
#include "core/support/outside.hpp"

namespace attn {

/// What a cell is where it is written: true or false, a number without a point, any other number; or text
/// that is no cell. In order: of several kinds, a matrix has the greatest.
enum class CellKind { boolean, whole, real, overflow, text };

/// How a text writes its numbers.
struct NumberNotation {
  int decimals = 0;               // the most that one has: 3 of 0.250, and of 2.5e-2
  int digits = 0;                 // the most that one has, without zeros before them
  bool has_exponents = false;     // some number but 0 has one
  bool has_no_exponents = false;  // some number but 0 has none

  /// Takes notice of a cell that was read as a number.
  void add(std::string_view cell);
  /// Whether it is that of "%e", which has the same count of digits in each number.
  bool is_scientific() const { return has_exponents && !has_no_exponents; }
};

/// A cell and its value; the value counts for booleans and numbers only.
struct WrittenCell {
  CellKind kind;
  double value;
};

/// Reads `1.5`, `+2e-3`, `inf`, `-Infinity`, `nan`, `true` or `False`: all of the text or nothing of it.
WrittenCell parse_cell(std::string_view text);

/// Whether a whole number as it is written is no double: then the nearest one is its value.
bool is_rounded(std::string_view whole);

/// Whether the cell has a value.
inline bool has_value(WrittenCell cell) { return cell.kind <= CellKind::real; }

/// "is not a number" or "is too large for a number": what to say of a cell without a value.
std::string_view complaint(WrittenCell cell);

/// Text from a file as a message shows it: in single quotes, on one line, shortened when it is long.
std::string in_quotes(std::string_view text);

/// The same for a name such as `decoder.layers.5.multihead_attn.in_proj_weight`, of which every part counts.
std::string name_in_quotes(std::string_view name);

/// The sizes of an array without those before its last three that are 1: a batch of one.
inline std::vector<std::size_t> without_single_ones(std::span<const std::size_t> sizes) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i + 3 >= sizes.size() || sizes[i] != 1) rest.push_back(sizes[i]);
  }
  return rest;
}

/// An array of four dimensions has matrices of several layers, each of which has several; no array has more.
constexpr std::size_t most_array_dimensions = 4;

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
/// Whether such a number is no double.
template <class Integer>
bool is_rounded_from(const unsigned char* bytes) {
  constexpr int most_bits = std::numeric_limits<double>::digits;
  const auto number = static_cast<Integer>(little_endian<std::make_unsigned_t<Integer>>(bytes));
  auto magnitude = static_cast<std::uint64_t>(number);
  if (number < 0) magnitude = 0 - magnitude;
  return magnitude != 0 && static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude) > most_bits;
}
/// 1 for any byte but 0.
inline double boolean_from(const unsigned char* byte) { return *byte == 0 ? 0 : 1; }

// The floating-point types that files hold, lowest byte first, as doubles: every value exactly, infinities
// and NaN too.
double float64_from(const unsigned char* bytes);
double float32_from(const unsigned char* bytes);
double float16_from(const unsigned char* bytes);
double bfloat16_from(const unsigned char* bytes);

struct StoredType;

/// A type of the elements of files, by the names that NumPy (behind the byte order) and safetensors have for it, or ""
/// where one has none; `decode` takes the bytes of an element, lowest first. `is_rounded` says whether its number is no
/// double, and is null where all are.
struct ElementType {
  std::string_view numpy;
  std::string_view safetensors;
  std::size_t bytes;
  CellKind kind;
  Precision precision;
  double (*decode)(const unsigned char* element);
  bool (*is_rounded)(const unsigned char* element) = nullptr;
  const StoredType* stored = nullptr;  // how a matrix has them that stays where it is; null: it cannot
};

/// The type that has this name in a column of names, or null: it is none of real numbers, or none that is known.
const ElementType* find_element_type(std::string_view ElementType::*names, std::string_view name);

/// Puts row i of a text at the end of a string. From any thread.
using AppendRow = std::function<void(std::size_t i, std::string& text)>;

/// Writes the rows of a text one after the other. `cells` is how many numbers they have: where these are
/// many, several threads make the text of some rows each. The bytes are the same.
void write_rows(Shape cells, const AppendRow& append, Sink& sink);

}  // namespace attn
