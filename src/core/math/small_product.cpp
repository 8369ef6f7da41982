#include "core/math/small_product.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/math/machine.hpp"

namespace attn {

namespace {

// So many terms are added up in registers. A panel of the second matrix of this depth stays in the cache next
// to the processor, and the rounding of a long sum grows with the number of its blocks.
constexpr std::size_t block_depth = 128;

template <std::size_t lanes>
struct Vectors {
  using Vector [[gnu::vector_size(lanes * sizeof(double))]] = double;
};

// Everything below is inlined into one function for each set of instructions: a call would be compiled for
// the oldest processor.

// Some rows of the result and `vectors` · lanes columns of them, in registers. The first block of terms sets
// the cells, and the others are added to them.
template <std::size_t lanes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void make_tile(const SmallProduct& p, const double* a, const double* b,
                                             std::size_t b_depth, std::size_t depth, bool is_first, double* c,
                                             std::size_t c_row) {
  using Vector = typename Vectors<lanes>::Vector;
  Vector sums[rows][vectors] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    Vector of_b[vectors];
    for (std::size_t v = 0; v < vectors; ++v) {
      std::memcpy(&of_b[v], b + k * b_depth + v * lanes, sizeof(Vector));
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = a[i * p.a.row + k * p.a.column];
      for (std::size_t v = 0; v < vectors; ++v) sums[i][v] += of_b[v] * x;
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t v = 0; v < vectors; ++v) {
      double* const cells = c + i * c_row + v * lanes;
      if (!is_first) {
        Vector before;
        std::memcpy(&before, cells, sizeof(Vector));
        sums[i][v] += before;
      }
      std::memcpy(cells, &sums[i][v], sizeof(Vector));
    }
  }
}

template <std::size_t half, class Vector, std::size_t... lane>
[[gnu::always_inline]] inline void interleave(const Vector& x, const Vector& y, Vector& result,
                                              std::index_sequence<lane...>) {
  constexpr std::size_t lanes = sizeof...(lane);
  result = __builtin_shufflevector(x, y, (lane % 2 * lanes + lane / 2 + half * lanes / 2)...);
}

// Rows and columns of lanes × lanes cells exchanged: rows of the two halves are interleaved, as often as
// lanes can be halved.
template <std::size_t lanes>
[[gnu::always_inline]] inline void transpose_square(const double* from, std::size_t from_row, double* to,
                                                    std::size_t to_row) {
  using Vector = typename Vectors<lanes>::Vector;
  constexpr auto each_lane = std::make_index_sequence<lanes>();
  Vector rows[lanes], mixed[lanes];
  for (std::size_t i = 0; i < lanes; ++i) std::memcpy(&rows[i], from + i * from_row, sizeof(Vector));
  for (std::size_t parts = 1; parts < lanes; parts *= 2) {
    for (std::size_t i = 0; i < lanes / 2; ++i) {
      interleave<0>(rows[i], rows[i + lanes / 2], mixed[2 * i], each_lane);
      interleave<1>(rows[i], rows[i + lanes / 2], mixed[2 * i + 1], each_lane);
    }
    for (std::size_t i = 0; i < lanes; ++i) rows[i] = mixed[i];
  }
  for (std::size_t i = 0; i < lanes; ++i) std::memcpy(to + i * to_row, &rows[i], sizeof(Vector));
}

// A panel of the second matrix, copied: its cells beside each other, and zeros where it is not wide enough.
template <std::size_t lanes, std::size_t panel>
[[gnu::always_inline]] inline void pack(const SmallProduct& p, const double* b, std::size_t depth, std::size_t width,
                                        double* packed) {
  std::size_t j = 0;
  if (p.b.column == 1 && width == panel) {
    for (std::size_t k = 0; k < depth; ++k) {
      std::memcpy(packed + k * panel, b + k * p.b.row, panel * sizeof(double));
    }
    return;
  }
  for (; p.b.row == 1 && j + lanes <= width; j += lanes) {
    std::size_t k = 0;
    for (; k + lanes <= depth; k += lanes) {
      transpose_square<lanes>(b + k + j * p.b.column, p.b.column, packed + k * panel + j, panel);
    }
    for (; k < depth; ++k) {
      for (std::size_t l = j; l < j + lanes; ++l) packed[k * panel + l] = b[k + l * p.b.column];
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t l = j; l < panel; ++l) {
      packed[k * panel + l] = l < width ? b[k * p.b.row + l * p.b.column] : 0.0;
    }
  }
}

// As many rows as there are in tiles of `rows`, from row i on.
template <std::size_t lanes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void make_tiles(const SmallProduct& p, const double* a, const double* b,
                                              std::size_t b_depth, std::size_t depth, bool is_first, double* c,
                                              std::size_t& i) {
  for (; i + rows <= p.rows; i += rows) {
    make_tile<lanes, rows, vectors>(p, a + i * p.a.row, b, b_depth, depth, is_first, c + i * p.columns, p.columns);
  }
}

// The columns from j on that fit into `vectors` vectors, in all rows: one block of terms of them.
template <std::size_t lanes, std::size_t rows, std::size_t vectors>
[[gnu::always_inline]] inline void make_panel(const SmallProduct& p, std::size_t first_term, std::size_t depth,
                                              std::size_t j) {
  constexpr std::size_t panel = vectors * lanes;
  constexpr std::size_t least_rows_to_copy_for = 64;  // narrow parts of wide rows
  const std::size_t width = std::min(panel, p.columns - j);
  const bool is_first = first_term == 0;
  const double* const a = p.a.first + first_term * p.a.column;
  const double* b = p.b.first + first_term * p.b.row + j * p.b.column;
  std::size_t b_depth = p.b.row;
  alignas(64) double packed[block_depth * panel];
  if (width < panel || p.b.column != 1 || (p.rows >= least_rows_to_copy_for && p.columns > panel)) {
    pack<lanes, panel>(p, b, depth, width, packed);
    b = packed;
    b_depth = panel;
  }
  double* const c = p.c + j;
  std::size_t i = 0;
  if (width == panel) {
    make_tiles<lanes, rows, vectors>(p, a, b, b_depth, depth, is_first, c, i);
    if constexpr (rows > 4) make_tiles<lanes, 4, vectors>(p, a, b, b_depth, depth, is_first, c, i);
    make_tiles<lanes, 2, vectors>(p, a, b, b_depth, depth, is_first, c, i);
    make_tiles<lanes, 1, vectors>(p, a, b, b_depth, depth, is_first, c, i);
    return;
  }
  alignas(64) double tile[rows][panel];
  while (i < p.rows) {
    const std::size_t count = p.rows - i < rows ? 1 : rows;
    if (count == rows) {
      make_tile<lanes, rows, vectors>(p, a + i * p.a.row, b, b_depth, depth, true, tile[0], panel);
    } else {
      make_tile<lanes, 1, vectors>(p, a + i * p.a.row, b, b_depth, depth, true, tile[0], panel);
    }
    for (std::size_t row = 0; row < count; ++row, ++i) {
      for (std::size_t l = 0; l < width; ++l) {
        c[i * p.columns + l] = is_first ? tile[row][l] : tile[row][l] + c[i * p.columns + l];
      }
    }
  }
}

template <std::size_t lanes, std::size_t rows>
[[gnu::always_inline]] inline void multiply_by(const SmallProduct& p) {
  constexpr std::size_t wide = 8;  // vectors: one row alone is added up in as many places at a time
  // Where all terms are one block, a cell may be made twice: the last columns are those of a whole vector,
  // and not copied to be padded.
  const bool may_overlap = p.depth <= block_depth && p.columns >= lanes;
  for (std::size_t first = 0; first < p.depth; first += block_depth) {
    const std::size_t depth = std::min(block_depth, p.depth - first);
    for (std::size_t j = 0; j < p.columns;) {
      const std::size_t left = p.columns - j;
      if (p.rows == 1 && p.b.column == 1 && left >= wide * lanes) {
        make_tile<lanes, 1, wide>(p, p.a.first + first * p.a.column, p.b.first + first * p.b.row + j, p.b.row, depth,
                                  first == 0, p.c + j, 0);
        j += wide * lanes;
      } else if (left >= 2 * lanes || (left > lanes && !may_overlap)) {
        make_panel<lanes, rows, 2>(p, first, depth, j);
        j += 2 * lanes;
      } else {
        make_panel<lanes, rows, 1>(p, first, depth, may_overlap ? std::min(j, p.columns - lanes) : j);
        j += lanes;
      }
    }
  }
}

#ifdef ATTN_WIDEST
// The sums of a tile, and what they are made from, fit into the registers: 32 and 16 of them.
__attribute__((target(ATTN_WIDEST))) void multiply_widest(const SmallProduct& p) { multiply_by<8, 8>(p); }
__attribute__((target(ATTN_WIDE))) void multiply_wide(const SmallProduct& p) { multiply_by<4, 4>(p); }
#endif
void multiply_anywhere(const SmallProduct& p) { multiply_by<2, 4>(p); }

constexpr SmallProductKernel kernels[] = {
#ifdef ATTN_WIDEST
    {ATTN_WIDEST, [] { return __builtin_cpu_supports(ATTN_WIDEST) != 0; }, multiply_widest},
    {ATTN_WIDE, [] { return __builtin_cpu_supports(ATTN_WIDE) != 0; }, multiply_wide},
#endif
    {"those of every processor", [] { return true; }, multiply_anywhere},
};

const SmallProductKernel& best_kernel() {
  static const SmallProductKernel& best =
      *std::ranges::find_if(kernels, [](const auto& kernel) { return kernel.is_here(); });
  return best;
}

}  // namespace

std::span<const SmallProductKernel> small_product_kernels() { return kernels; }

void multiply(const SmallProduct& product) { best_kernel().multiply(product); }

std::string_view vector_instructions() { return best_kernel().instructions; }

}  // namespace attn
