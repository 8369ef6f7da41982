#include "core/math/stored_matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/math/machine.hpp"

namespace attn {

// --- types

namespace {

static_assert(std::endian::native == std::endian::little, "numbers of files are read as they lie in memory");

// Eight numbers at a time. Where a processor has shorter vectors, the compiler makes several of each.
constexpr std::size_t numbers_at_once = 8;
using Doubles [[gnu::vector_size(numbers_at_once * sizeof(double))]] = double;
using Floats [[gnu::vector_size(numbers_at_once * sizeof(float))]] = float;
using UnsignedIntegers [[gnu::vector_size(numbers_at_once * sizeof(std::uint32_t))]] = std::uint32_t;
using Integers [[gnu::vector_size(numbers_at_once * sizeof(std::int32_t))]] = std::int32_t;

template <class Word>
[[gnu::always_inline]] inline Word word_at(const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Whole numbers, each in a wider one. As one conversion of vectors, GCC 12 makes many instructions of it.
template <class Wide, class Narrow>
[[gnu::always_inline]] inline void widen_whole_numbers(const std::byte* from, Wide& to) {
  Narrow narrow[numbers_at_once];
  std::memcpy(narrow, from, sizeof narrow);
  for (std::size_t l = 0; l < numbers_at_once; ++l) to[l] = narrow[l];
}

// An exponent of 5 bits that is 112 less than that of a float: shifted into place, and then multiplied by 2^112, which
// also makes the smallest numbers right. The largest exponent is that of infinities and of what is no number.
constexpr float of_exponents = 0x1p112F;

float half_float(std::uint16_t half) {
  const auto bits = static_cast<std::uint32_t>(half);
  const std::uint32_t magnitude = (bits & 0x7FFFU) << 13U, sign = (bits & 0x8000U) << 16U;
  const float small = std::bit_cast<float>(magnitude) * of_exponents;
  const std::uint32_t number =
      (bits & 0x7C00U) == 0x7C00U ? magnitude | 0x7F800000U : std::bit_cast<std::uint32_t>(small);
  return std::bit_cast<float>(number | sign);
}

// How numbers of each type are read: eight of them from number j of a line on, where j is a multiple of 8, or one.
// All of this is inlined into one function for each set of instructions.

struct OfDoubles {
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Doubles& eight) {
    std::memcpy(&eight, line + 8 * j, sizeof eight);
  }
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Floats& eight) {
    Doubles wide;
    take(line, j, wide);
    eight = __builtin_convertvector(wide, Floats);
  }
  [[gnu::always_inline]] static double one(const std::byte* line, std::size_t j) {
    return word_at<double>(line + 8 * j);
  }
};

// What is a float on the way.
template <class Type>
struct ByFloats : Type {
  using Type::take;
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Doubles& eight) {
    Floats narrow;
    Type::take(line, j, narrow);
    eight = __builtin_convertvector(narrow, Doubles);
  }
};

struct OfFloats {
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Floats& eight) {
    std::memcpy(&eight, line + 4 * j, sizeof eight);
  }
  [[gnu::always_inline]] static float one(const std::byte* line, std::size_t j) { return word_at<float>(line + 4 * j); }
};

// The upper half of a float.
struct OfBrainFloats {
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Floats& eight) {
    UnsignedIntegers words;
    widen_whole_numbers<UnsignedIntegers, std::uint16_t>(line + 2 * j, words);
    words <<= 16U;
    std::memcpy(&eight, &words, sizeof eight);
  }
  [[gnu::always_inline]] static float one(const std::byte* line, std::size_t j) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word_at<std::uint16_t>(line + 2 * j)) << 16U);
  }
};

struct OfHalfFloats {
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Floats& eight) {
    UnsignedIntegers bits;
    widen_whole_numbers<UnsignedIntegers, std::uint16_t>(line + 2 * j, bits);
    const UnsignedIntegers magnitude = (bits & 0x7FFFU) << 13U, sign = (bits & 0x8000U) << 16U;
    std::memcpy(&eight, &magnitude, sizeof eight);
    eight *= of_exponents;
    UnsignedIntegers number;
    std::memcpy(&number, &eight, sizeof number);
    const auto is_largest = (bits & 0x7C00U) == 0x7C00U;  // all bits of a lane, or none
    UnsignedIntegers largest;
    std::memcpy(&largest, &is_largest, sizeof largest);
    number = (largest & (magnitude | 0x7F800000U)) | (~largest & number) | sign;
    std::memcpy(&eight, &number, sizeof eight);
  }
  [[gnu::always_inline]] static float one(const std::byte* line, std::size_t j) {
    return half_float(word_at<std::uint16_t>(line + 2 * j));
  }
};

constexpr std::size_t numbers_of_q8 = 32, bytes_of_q8 = 2 + numbers_of_q8;

// A product of 11 and 8 binary digits is exact in a float.
struct OfQ8 {
  [[gnu::always_inline]] static void take(const std::byte* line, std::size_t j, Floats& eight) {
    const std::byte* const block = line + j / numbers_of_q8 * bytes_of_q8;
    Integers numbers;
    widen_whole_numbers<Integers, std::int8_t>(block + 2 + j % numbers_of_q8, numbers);
    eight = __builtin_convertvector(numbers, Floats) * half_float(word_at<std::uint16_t>(block));
  }
  [[gnu::always_inline]] static float one(const std::byte* line, std::size_t j) {
    const std::byte* const block = line + j / numbers_of_q8 * bytes_of_q8;
    return half_float(word_at<std::uint16_t>(block)) *
           static_cast<float>(word_at<std::int8_t>(block + 2 + j % numbers_of_q8));
  }
};

template <class Type, class Vector, class Number>
[[gnu::always_inline]] inline void widen_line(const std::byte* line, std::size_t count, Number* numbers) {
  std::size_t j = 0;
  for (; j + numbers_at_once <= count; j += numbers_at_once) {
    Vector eight;
    Type::take(line, j, eight);
    std::memcpy(numbers + j, &eight, sizeof eight);
  }
  for (; j < count; ++j) numbers[j] = static_cast<Number>(Type::one(line, j));
}

template <class Type, std::size_t line_count>
[[gnu::always_inline]] inline void add_some_lines(const double* x, const std::byte* const* lines, std::size_t count,
                                                  double* sums) {
  std::size_t j = 0;
  for (; j + numbers_at_once <= count; j += numbers_at_once) {
    Doubles sum, eight;
    std::memcpy(&sum, sums + j, sizeof sum);
    for (std::size_t t = 0; t < line_count; ++t) {
      Type::take(lines[t], j, eight);
      sum += eight * x[t];
    }
    std::memcpy(sums + j, &sum, sizeof sum);
  }
  for (; j < count; ++j) {
    for (std::size_t t = 0; t < line_count; ++t) sums[j] += static_cast<double>(Type::one(lines[t], j)) * x[t];
  }
}

template <class Type>
[[gnu::always_inline]] inline void add_lines(const double* x, const std::byte* const* lines, std::size_t line_count,
                                             std::size_t count, double* sums) {
  if (line_count == most_lines_at_once) return add_some_lines<Type, most_lines_at_once>(x, lines, count, sums);
  for (std::size_t t = 0; t < line_count; ++t) add_some_lines<Type, 1>(x + t, lines + t, count, sums);
}

// Each in eight sums, and then these: the first and the fifth, and so on. What is left over comes last.
template <class Type, std::size_t line_count>
[[gnu::always_inline]] inline void multiply_some_lines(const double* x, const std::byte* const* lines,
                                                       std::size_t count, double* products) {
  Doubles sums[line_count] = {}, of_x, eight;
  std::size_t j = 0;
  for (; j + numbers_at_once <= count; j += numbers_at_once) {
    std::memcpy(&of_x, x + j, sizeof of_x);
    for (std::size_t t = 0; t < line_count; ++t) {
      Type::take(lines[t], j, eight);
      sums[t] += eight * of_x;
    }
  }
  for (std::size_t t = 0; t < line_count; ++t) {
    double lane[numbers_at_once];
    std::memcpy(lane, &sums[t], sizeof lane);
    for (std::size_t half = numbers_at_once / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    products[t] = lane[0];
    for (std::size_t k = j; k < count; ++k) products[t] += static_cast<double>(Type::one(lines[t], k)) * x[k];
  }
}

template <class Type>
[[gnu::always_inline]] inline void multiply_lines_of(const double* x, const std::byte* const* lines,
                                                     std::size_t line_count, std::size_t count, double* products) {
  constexpr std::size_t few = 4;
  std::size_t t = 0;
  for (; t + few <= line_count; t += few) multiply_some_lines<Type, few>(x, lines + t, count, products + t);
  for (; t < line_count; ++t) multiply_some_lines<Type, 1>(x, lines + t, count, products + t);
}

// The kernels of a type, with the instructions that the compiler is told to use.
#define ATTN_KERNELS(instructions, attributes)                                                              \
  template <class Type>                                                                                     \
  struct instructions {                                                                                     \
    attributes static void widen(const std::byte* line, std::size_t count, double* numbers) {               \
      widen_line<Type, Doubles>(line, count, numbers);                                                      \
    }                                                                                                       \
    attributes static void widen_to_floats(const std::byte* line, std::size_t count, float* numbers) {      \
      widen_line<Type, Floats>(line, count, numbers);                                                       \
    }                                                                                                       \
    attributes static void add(const double* x, const std::byte* const* lines, std::size_t line_count,      \
                               std::size_t count, double* sums) {                                           \
      add_lines<Type>(x, lines, line_count, count, sums);                                                   \
    }                                                                                                       \
    attributes static void multiply(const double* x, const std::byte* const* lines, std::size_t line_count, \
                                    std::size_t count, double* products) {                                  \
      multiply_lines_of<Type>(x, lines, line_count, count, products);                                       \
    }                                                                                                       \
  };

ATTN_KERNELS(OfEveryProcessor, )
#ifdef ATTN_WIDEST
ATTN_KERNELS(OfWidest, __attribute__((target(ATTN_WIDEST))))
ATTN_KERNELS(OfWide, __attribute__((target(ATTN_WIDE))))
#endif

#undef ATTN_KERNELS

template <class Kernels>
constexpr StoredType with_kernels(StoredType type) {
  type.widen = Kernels::widen;
  type.widen_to_floats = Kernels::widen_to_floats;
  type.add_lines = Kernels::add;
  type.dot_products = Kernels::multiply;
  return type;
}

// With the kernels of the widest vectors that this processor has.
template <class Type>
StoredType made_by(const StoredType& type) {
#ifdef ATTN_WIDEST
  if (__builtin_cpu_supports(ATTN_WIDEST)) return with_kernels<OfWidest<Type>>(type);
  if (__builtin_cpu_supports(ATTN_WIDE)) return with_kernels<OfWide<Type>>(type);
#endif
  return with_kernels<OfEveryProcessor<Type>>(type);
}

}  // namespace

namespace stored_type {
const StoredType float64 = made_by<OfDoubles>({"float64", 1, 8, 52}),
                 float32 = made_by<ByFloats<OfFloats>>({"float32", 1, 4, 23}),
                 float16 = made_by<ByFloats<OfHalfFloats>>({"float16", 1, 2, 10}),
                 bfloat16 = made_by<ByFloats<OfBrainFloats>>({"bfloat16", 1, 2, 7}),
                 q8_0 = made_by<ByFloats<OfQ8>>({"Q8_0", numbers_of_q8, bytes_of_q8, 7});
}  // namespace stored_type

// --- a stored matrix

const std::byte* StoredMatrix::line_at(std::size_t i) const {
  return elements + (lines.at(i) * line + skipped) / type->block * type->bytes;
}

void StoredMatrix::widen(std::size_t i, std::size_t begin, std::size_t count, double* numbers) const {
  type->widen(line_at(i) + begin / type->block * type->bytes, count, numbers);
}

void StoredMatrix::widen_all(double* cells) const {
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

double StoredMatrix::number(std::size_t row, std::size_t column) const {
  constexpr std::size_t most_of_block = 32;
  const std::size_t i = is_transposed ? column : row, j = is_transposed ? row : column;
  std::array<double, most_of_block> numbers{};
  const std::size_t begin = j / type->block * type->block;
  widen(i, begin, j - begin + 1, numbers.data());
  return numbers[j - begin];
}

void StoredMatrix::widen_row(std::size_t i, double* cells) const {
  if (!is_transposed) return widen(i, 0, shape.columns, cells);
  for (std::size_t j = 0; j < shape.columns; ++j) cells[j] = number(i, j);
}

void copy_row(const Rows& rows, std::size_t i, std::span<double> cells) {
  if (rows.stored) return rows.stored->widen_row(i, cells.data());
  std::ranges::copy(rows.row(i), cells.begin());
}

}  // namespace attn
