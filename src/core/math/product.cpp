#include "core/math/product.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "core/math/small_product.hpp"
#include "core/math/stored_product.hpp"
#include "core/math/xtensor_blas.hpp"
#include "core/support/error.hpp"

extern "C" int openblas_get_parallel();  // 0 where it was built for one thread

namespace attn {
namespace {

using Index = xt::blas_index_t;

Index index(std::size_t size) { return static_cast<Index>(size); }

// BLAS itself checks no shapes and complains on standard output about empty matrices.
void require_cells(const Rows& a, const Rows& b) {
  if (a.shape.cells() == 0 || b.shape.cells() == 0) {
    fail("a {} matrix cannot be multiplied by a {} matrix: one of them is empty", to_string(a.shape),
         to_string(b.shape));
  }
}

constexpr const char* threads_of_blas = "OPENBLAS_NUM_THREADS";
std::optional<std::string>& asked_of_blas() {
  static std::optional<std::string> asked;
  return asked;
}

// Before OpenBLAS's own constructor, which would start a thread for every processor.
[[gnu::constructor(101)]] void start_no_threads_of_blas() {
  if (const char* const asked = std::getenv(threads_of_blas)) asked_of_blas() = asked;
  setenv(threads_of_blas, "1", 1);
}

// Measured up to here, our own kernel takes less time than BLAS on processors with vectors of eight doubles,
// and the matrix stays in a cache.
bool is_small(Shape shape) { return shape.cells() <= most_cells_of_small; }

// The first row is that of the result.
Cells as_it_stands(const Rows& matrix, std::size_t first) {
  return {matrix.row(first).data(), matrix.shape.columns, 1};
}
Cells as_transposed(const Rows& matrix, std::size_t first) { return {matrix.cells + first, 1, matrix.shape.columns}; }

// One row alone is a matrix times a vector: the product of two matrices would copy all of the second first.
void multiply_row_by_blas(std::span<const double> row, Rows b, std::span<double> result, cxxblas::Transpose transpose) {
  cxxblas::gemv<Index>(cxxblas::RowMajor, transpose, index(b.shape.rows), index(b.shape.columns), 1.0, b.cells,
                       index(b.shape.columns), row.data(), Index{1}, 0.0, result.data(), Index{1});
}

void multiply_block_by_blas(Rows a, Rows b, RowsToMake block, cxxblas::Transpose transpose) {
  const Index columns = index(a.shape.columns), width = index(block.shape.columns);
  cxxblas::gemm<Index>(cxxblas::RowMajor, cxxblas::NoTrans, transpose, index(block.shape.rows), width, columns, 1.0,
                       a.row(block.first).data(), columns, b.cells, index(b.shape.columns), 0.0, block.cells, width);
}

void multiply_by_blas(Rows a, Rows b, RowsToMake result, cxxblas::Transpose transpose) {
  const std::unique_lock<std::mutex> turn = blas_lock();
  for (std::size_t i = result.first; i < result.end();) {
    const std::size_t end = std::min(result.end(), (i / rows_of_block + 1) * rows_of_block);
    if (end - i == 1) {
      const bool transposed = transpose == cxxblas::Trans;
      multiply_row_by_blas(a.row(i), b, result.row(i), transposed ? cxxblas::NoTrans : cxxblas::Trans);
    } else {
      multiply_block_by_blas(a, b, {result.row(i).data(), i, {end - i, result.shape.columns}}, transpose);
    }
    i = end;
  }
}

// As a column of the first matrix is a row of the result, all rows are made by one call.
void multiply_transposed_by_blas(Rows a, Rows b, RowsToMake result) {
  const std::unique_lock<std::mutex> turn = blas_lock();
  const Index width = index(result.shape.columns);
  for (std::size_t i = result.first; i < result.end();) {
    const std::size_t end = std::min(result.end(), (i / rows_of_block + 1) * rows_of_block);
    cxxblas::gemm<Index>(cxxblas::RowMajor, cxxblas::Trans, cxxblas::NoTrans, index(end - i), width,
                         index(a.shape.rows), 1.0, a.cells + i, index(a.shape.columns), b.cells, width, 0.0,
                         result.row(i).data(), width);
    i = end;
  }
}

}  // namespace

// OpenBLAS that was built for one thread gives two threads the same buffer, and both products are wrong
// without a word: there one product waits for another.
std::unique_lock<std::mutex> blas_lock() {
  thread_local const bool once [[maybe_unused]] = [] {
    if (!has_room_for_products()) throw std::bad_alloc();
    return true;
  }();
  static std::mutex mutex;
  static const bool takes_turns = openblas_get_parallel() == 0;
  return takes_turns ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

bool has_room_for_products() {
  constexpr std::size_t bytes = std::size_t{192} << 20;
  void* const room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

void restore_environment_of_blas() {
  if (asked_of_blas()) {
    setenv(threads_of_blas, asked_of_blas()->c_str(), 1);
  } else {
    unsetenv(threads_of_blas);
  }
}

void product(const Rows& a, const Rows& b, const RowsToMake& result) {
  require_cells(a, b);
  if (b.stored) return product_with_stored(a, b, result);
  if (!is_small(b.shape)) return multiply_by_blas(a, b, result, cxxblas::NoTrans);
  multiply({.a = as_it_stands(a, result.first),
            .b = as_it_stands(b, 0),
            .c = result.cells,
            .rows = result.shape.rows,
            .columns = result.shape.columns,
            .depth = a.shape.columns});
}

void product_transposed(const Rows& a, const Rows& b, const RowsToMake& result) {
  require_cells(a, b);
  if (b.stored) return product_transposed_with_stored(a, b, result);
  if (!is_small(b.shape)) return multiply_by_blas(a, b, result, cxxblas::Trans);
  multiply({.a = as_it_stands(a, result.first),
            .b = as_transposed(b, 0),
            .c = result.cells,
            .rows = result.shape.rows,
            .columns = result.shape.columns,
            .depth = a.shape.columns});
}

void product_of_transposed(const Rows& a, const Rows& b, const RowsToMake& result) {
  require_cells(a, b);
  if (!is_small({a.shape.columns, b.shape.columns})) return multiply_transposed_by_blas(a, b, result);
  multiply({.a = as_transposed(a, result.first),
            .b = as_it_stands(b, 0),
            .c = result.cells,
            .rows = result.shape.rows,
            .columns = result.shape.columns,
            .depth = a.shape.rows});
}

}  // namespace attn
