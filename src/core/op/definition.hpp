#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>
#include <utility>

#include "core/math/xtensor.hpp"
#include "core/op/gradient_operations.hpp"

// A definition in xtensor, with its text: one operand, two or three, by the names that follow. In DEFINE they are
// arrays of the rows beside those of the result; in DEFINE_ROWS all rows that are there. `use` has the settings.
#define ATTN_DEFINITION(count, made_of, names, ...)                                              \
  {                                                                                              \
    []([[maybe_unused]] const Use& use, [[maybe_unused]] Operands operands, RowsToMake result) { \
      [[maybe_unused]] const auto& [ATTN_NAMES names] = made_of<count>(operands, result);        \
      __VA_ARGS__                                                                                \
    },                                                                                           \
        #names, #__VA_ARGS__                                                                     \
  }
#define ATTN_NAMES(...) __VA_ARGS__
#define DEFINE_1(names, ...) ATTN_DEFINITION(1, all_beside, names, __VA_ARGS__)
#define DEFINE_2(names, ...) ATTN_DEFINITION(2, all_beside, names, __VA_ARGS__)
#define DEFINE_3(names, ...) ATTN_DEFINITION(3, all_beside, names, __VA_ARGS__)
#define DEFINE_ROWS_1(names, ...) ATTN_DEFINITION(1, all_rows, names, __VA_ARGS__)
#define DEFINE_ROWS_2(names, ...) ATTN_DEFINITION(2, all_rows, names, __VA_ARGS__)
/// Of any number of operands, which are a list.
#define DEFINE_LIST(...)                                                                                            \
  {                                                                                                                 \
    []([[maybe_unused]] const Use& use, [[maybe_unused]] Operands operands, RowsToMake result) { __VA_ARGS__ }, "", \
        #__VA_ARGS__                                                                                                \
  }

// The same for an operation that has a kernel: tests check the kernel by its definition. The program shows the text and
// never runs it, so that it is compiled only for tests, with ATTN_WITH_DEFINITIONS.
#ifdef ATTN_WITH_DEFINITIONS
#define CHECKED_1 DEFINE_1
#define CHECKED_2 DEFINE_2
#define CHECKED_3 DEFINE_3
#define CHECKED_ROWS_1 DEFINE_ROWS_1
#define CHECKED_ROWS_2 DEFINE_ROWS_2
#define CHECKED_LIST DEFINE_LIST
#else
#define ATTN_TEXT(names, ...) \
  { nullptr, #names, #__VA_ARGS__ }
#define CHECKED_1 ATTN_TEXT
#define CHECKED_2 ATTN_TEXT
#define CHECKED_3 ATTN_TEXT
#define CHECKED_ROWS_1 ATTN_TEXT
#define CHECKED_ROWS_2 ATTN_TEXT
#define CHECKED_LIST(...) \
  { nullptr, "", #__VA_ARGS__ }
#endif

namespace attn {

using xt::newaxis;
using xt::range;
using xt::view;

using ArrayBeside = decltype(array_view(Rows()));

template <std::size_t count>
std::array<ArrayBeside, count> all_beside(Operands operands, RowsToMake result) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<ArrayBeside, count>{beside(operands[i], result)...};
  }
  (std::make_index_sequence<count>());
}
template <std::size_t count>
std::array<Rows, count> all_rows(Operands operands, RowsToMake) {
  std::array<Rows, count> all;
  std::copy_n(operands.begin(), count, all.begin());
  return all;
}

/// What a sum of the numbers of a row may be where only rounding is left of it, for a size of 1.
inline double rounding_of(RowsToMake rows) {
  return static_cast<double>(rows.shape.columns) * std::numeric_limits<double>::epsilon();
}

}  // namespace attn
