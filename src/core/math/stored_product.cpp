#include "core/math/stored_product.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "core/math/machine.hpp"
#include "core/math/product.hpp"
#include "core/math/stored_matrix.hpp"
#include "core/math/xtensor_blas.hpp"

namespace attn {
namespace {

struct StoredProduct {
  Rows a;
  const StoredMatrix& b;
  bool lines_are_terms;  // a line of the tensor has one factor of every sum, or else all factors of one sum
  bool in_single;
  RowsToMake result;

  std::size_t depth() const { return a.shape.columns; }
  std::size_t columns() const { return result.shape.columns; }
};

// Below so many multiplications, other threads are not asked.
constexpr std::size_t least_work_of_thread = std::size_t{1} << 18;

void share(std::size_t count, std::size_t work, const std::function<void(std::size_t)>& task) {
  if (work >= 2 * least_work_of_thread) return parallel_for(count, task);
  for (std::size_t i = 0; i < count; ++i) task(i);
}

// --- one row

// Some cells of a row: Σ_k x_k line_kj.
void add_terms(const StoredProduct& p, const double* x, std::size_t first, std::size_t count, double* sums) {
  std::fill_n(sums, count, 0.0);
  std::array<const std::byte*, most_lines_at_once> lines{};
  const std::size_t before = first / p.b.type->block * p.b.type->bytes;
  for (std::size_t k = 0; k < p.depth(); k += most_lines_at_once) {
    const std::size_t few = std::min(most_lines_at_once, p.depth() - k);
    for (std::size_t t = 0; t < few; ++t) lines[t] = p.b.line_at(k + t) + before;
    p.b.type->add_lines(x + k, lines.data(), few, count, sums);
  }
}

// The same: Σ_k x_k line_jk.
void multiply_lines(const StoredProduct& p, const double* x, std::size_t first, std::size_t count, double* products) {
  std::array<const std::byte*, most_lines_at_once> lines{};
  for (std::size_t j = 0; j < count; j += most_lines_at_once) {
    const std::size_t few = std::min(most_lines_at_once, count - j);
    for (std::size_t t = 0; t < few; ++t) lines[t] = p.b.line_at(first + j + t);
    p.b.type->dot_products(x, lines.data(), few, p.depth(), products + j);
  }
}

// However its cells are shared, each is made in the same way.
void make_row(const StoredProduct& p, std::size_t i) {
  constexpr std::size_t most = 2048, whole_blocks = 64;  // a part of the sums stays in the nearest cache
  const std::size_t parts = 2 * threads();
  const std::size_t of_part = (p.columns() / parts + whole_blocks) / whole_blocks * whole_blocks;
  const std::size_t width = threads() == 1 ? most : std::min(most, of_part);
  const double* const x = p.a.row(i).data();
  double* const cells = p.result.row(i).data();
  share((p.columns() + width - 1) / width, p.depth() * p.columns(), [&](std::size_t part) {
    const std::size_t first = part * width, count = std::min(width, p.columns() - first);
    (p.lines_are_terms ? add_terms : multiply_lines)(p, x, first, count, cells + first);
  });
}

// --- blocks of rows

// What is widened at a time, both multiples of the longest block of a type.
constexpr std::size_t panel_depth = 256, panel_width = 256;

template <class Number>
void widen(const StoredMatrix& b, std::size_t line, std::size_t begin, std::size_t count, Number* numbers) {
  const std::byte* const from = b.line_at(line) + begin / b.type->block * b.type->bytes;
  if constexpr (std::is_same_v<Number, double>) {
    b.type->widen(from, count, numbers);
  } else {
    b.type->widen_to_floats(from, count, numbers);
  }
}

// Some rows and columns of the stored matrix, line after line.
template <class Number>
struct Panel {
  const Number* numbers;
  std::size_t row;    // numbers of a line
  std::size_t depth;  // terms
};

struct Columns {
  std::size_t first, count;
};

template <class Number>
Panel<Number> widened(const StoredProduct& p, std::size_t first_term, Columns columns) {
  thread_local std::vector<Number> numbers(panel_depth * panel_width);
  const std::size_t depth = std::min(panel_depth, p.depth() - first_term);
  const std::size_t first_line = p.lines_are_terms ? first_term : columns.first;
  const std::size_t begin = p.lines_are_terms ? columns.first : first_term;
  const std::size_t lines = p.lines_are_terms ? depth : columns.count;
  const std::size_t length = p.lines_are_terms ? columns.count : depth;
  for (std::size_t t = 0; t < lines; ++t) widen(p.b, first_line + t, begin, length, numbers.data() + t * length);
  return {numbers.data(), length, depth};
}

// All terms of some columns, where float32 numbers lie as BLAS reads them; else null.
Panel<float> where_it_lies(const StoredProduct& p, Columns columns) {
  const std::size_t step = p.b.lines.step(p.b.line_count());
  const std::byte* const first =
      p.lines_are_terms ? p.b.line_at(0) + columns.first * sizeof(float) : p.b.line_at(columns.first);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0;
  if (p.b.type != &stored_type::float32 || step == 0 || !is_aligned) return {nullptr, 0, 0};
  return {reinterpret_cast<const float*>(first), step * p.b.line, p.depth()};
}

// c ← a b, or c + a b.  [rows, depth] [depth, columns] -> [rows, columns]
template <class Number>
void multiply_panel(const StoredProduct& p, std::size_t rows, const Number* a, const Panel<Number>& b, bool adds,
                    Number* c, std::size_t columns, std::size_t c_row) {
  const auto index = [](std::size_t size) { return static_cast<xt::blas_index_t>(size); };
  cxxblas::gemm<xt::blas_index_t>(cxxblas::RowMajor, cxxblas::NoTrans,
                                  p.lines_are_terms ? cxxblas::NoTrans : cxxblas::Trans, index(rows), index(columns),
                                  index(b.depth), Number{1}, a, index(p.depth()), b.numbers, index(b.row),
                                  static_cast<Number>(adds ? 1 : 0), c, index(c_row));
}

void make_columns(const StoredProduct& p, const RowsToMake& rows, Columns columns) {
  for (std::size_t k = 0; k < p.depth(); k += panel_depth) {
    const Panel<double> panel = widened<double>(p, k, columns);
    for (std::size_t i = rows.first; i < rows.end(); i += rows_of_block) {
      multiply_panel(p, std::min(rows_of_block, rows.end() - i), p.a.row(i).data() + k, panel, k > 0,
                     rows.row(i).data() + columns.first, columns.count, p.columns());
    }
  }
}

void make_columns_in_single(const StoredProduct& p, const std::vector<float>& a, const RowsToMake& rows,
                            Columns columns) {
  std::vector<float> made(rows.shape.rows * columns.count);
  const auto multiply = [&](const Panel<float>& panel, std::size_t k) {
    for (std::size_t i = 0; i < rows.shape.rows; i += rows_of_block) {
      multiply_panel(p, std::min(rows_of_block, rows.shape.rows - i), a.data() + i * p.depth() + k, panel, k > 0,
                     made.data() + i * columns.count, columns.count, columns.count);
    }
  };
  if (const Panel<float> all = where_it_lies(p, columns); all.numbers) {
    multiply(all, 0);
  } else {
    for (std::size_t k = 0; k < p.depth(); k += panel_depth) multiply(widened<float>(p, k, columns), k);
  }
  for (std::size_t i = 0; i < rows.shape.rows; ++i)
    std::copy_n(made.data() + i * columns.count, columns.count, rows.row(rows.first + i).data() + columns.first);
}

// Blocks of several rows, the last of which may be shorter than the others.
void make_blocks(const StoredProduct& p, const RowsToMake& rows) {
  std::vector<float> a;
  if (p.in_single) {
    a.resize(rows.shape.rows * p.depth());
    std::transform(p.a.row(rows.first).data(), p.a.row(rows.first).data() + a.size(), a.begin(),
                   [](double number) { return static_cast<float>(number); });
  }
  const std::size_t count = (p.columns() + panel_width - 1) / panel_width;
  share(count, rows.shape.rows * p.depth() * p.columns(), [&](std::size_t part) {
    const Columns columns{part * panel_width, std::min(panel_width, p.columns() - part * panel_width)};
    const std::unique_lock<std::mutex> turn = blas_lock();
    if (p.in_single) {
      make_columns_in_single(p, a, rows, columns);
    } else {
      make_columns(p, rows, columns);
    }
  });
}

void make(const StoredProduct& p) {
  const bool last_is_alone = p.result.end() % rows_of_block == 1;
  const std::size_t in_blocks = p.result.shape.rows - (last_is_alone ? 1 : 0);
  if (in_blocks > 0) make_blocks(p, {p.result.cells, p.result.first, {in_blocks, p.columns()}});
  if (last_is_alone) make_row(p, p.result.end() - 1);
}

}  // namespace

void product_with_stored(const Rows& a, const Rows& b, const RowsToMake& result) {
  make({a, *b.stored, !b.stored->is_transposed, b.in_single, result});
}

void product_transposed_with_stored(const Rows& a, const Rows& b, const RowsToMake& result) {
  make({a, *b.stored, b.stored->is_transposed, b.in_single, result});
}

}  // namespace attn
