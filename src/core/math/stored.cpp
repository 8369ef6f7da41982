#include "core/math/stored.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace attn {

// --- types

namespace {

static_assert(std::endian::native == std::endian::little, "numbers of files are read as they lie in memory");

template <class Word>
Word word_at(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

void widen_doubles(const std::byte* from, std::size_t count, double* to) { std::memcpy(to, from, count * sizeof *to); }

void widen_floats(const std::byte* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<double>(word_at<float>(from + 4 * i));
}

// The upper half of a float.
void widen_brain_floats(const std::byte* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto upper = static_cast<std::uint32_t>(word_at<std::uint16_t>(from + 2 * i));
    to[i] = static_cast<double>(std::bit_cast<float>(upper << 16U));
  }
}

// An exponent of 5 bits that is 112 less than that of a float: shifted into place, and then multiplied by 2^112, which
// also makes the smallest numbers right. The largest exponent is that of infinities and of what is no number.
double half_float(std::uint16_t half) {
  constexpr float of_exponents = 0x1p112F;
  const auto bits = static_cast<std::uint32_t>(half);
  const std::uint32_t magnitude = (bits & 0x7FFFU) << 13U, sign = (bits & 0x8000U) << 16U;
  const float small = std::bit_cast<float>(magnitude) * of_exponents;
  const std::uint32_t number =
      (bits & 0x7C00U) == 0x7C00U ? magnitude | 0x7F800000U : std::bit_cast<std::uint32_t>(small);
  return static_cast<double>(std::bit_cast<float>(number | sign));
}

void widen_half_floats(const std::byte* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = half_float(word_at<std::uint16_t>(from + 2 * i));
}

constexpr std::size_t numbers_of_q8 = 32, bytes_of_q8 = 2 + numbers_of_q8;

void widen_q8(const std::byte* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; i += numbers_of_q8, from += bytes_of_q8) {
    const double factor = half_float(word_at<std::uint16_t>(from));
    for (std::size_t j = 0; j < numbers_of_q8; ++j)
      to[i + j] = factor * static_cast<double>(word_at<std::int8_t>(from + 2 + j));
  }
}

}  // namespace

namespace stored_type {
const StoredType float64{"float64", 1, 8, 52, widen_doubles}, float32{"float32", 1, 4, 23, widen_floats},
    float16{"float16", 1, 2, 10, widen_half_floats}, bfloat16{"bfloat16", 1, 2, 7, widen_brain_floats},
    q8_0{"Q8_0", numbers_of_q8, bytes_of_q8, 7, widen_q8};
}  // namespace stored_type

// --- a stored matrix

const std::byte* Stored::line_at(std::size_t i) const {
  return elements + (lines.at(i) * line + skipped) / type->block * type->bytes;
}

void Stored::widen(std::size_t i, std::size_t begin, std::size_t count, double* numbers) const {
  type->widen(line_at(i) + begin / type->block * type->bytes, count, numbers);
}

void Stored::widen_all(double* cells) const {
  const std::size_t length = line_length(), columns = shape.columns;
  if (!is_transposed) {
    for (std::size_t i = 0; i < shape.rows; ++i) widen(i, 0, length, cells + i * columns);
    return;
  }
  // A few columns at a time, so that what is written fills lines of the cache.
  constexpr std::size_t few = 16;
  std::vector<double> numbers(few * length);
  for (std::size_t first = 0; first < columns; first += few) {
    const std::size_t count = std::min(few, columns - first);
    for (std::size_t j = 0; j < count; ++j) widen(first + j, 0, length, numbers.data() + j * length);
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < count; ++j) cells[i * columns + first + j] = numbers[j * length + i];
    }
  }
}

double Stored::number(std::size_t row, std::size_t column) const {
  constexpr std::size_t most_of_block = 32;
  const std::size_t i = is_transposed ? column : row, j = is_transposed ? row : column;
  std::array<double, most_of_block> numbers{};
  const std::size_t begin = j / type->block * type->block;
  widen(i, begin, type->block, numbers.data());
  return numbers[j - begin];
}

}  // namespace attn
