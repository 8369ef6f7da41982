#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace attn {

/// Where the cells of a matrix stand: from one row to the next, and from one column to the next, there are so
/// many doubles, and one of both is 1.
struct Cells {
  const double* first;
  std::size_t row, column;
};

/// Some rows of a matrix product, c_ij = Σ_k a_ik b_kj.
struct SmallProduct {
  Cells a, b;
  double* c;  // row after row
  std::size_t rows, columns, depth;
};

/// One way to make it, and whether this processor has the instructions. Every cell is added up in the same
/// order by all of them, without fused operations, whatever the other cells: sums over 128 terms, first to
/// last, and then over these sums. So all of them give the same bits.
struct SmallProductKernel {
  std::string_view instructions;
  bool (*is_here)();
  void (*multiply)(const SmallProduct& product);
};

/// From the fastest one to that of every processor.
std::span<const SmallProductKernel> small_product_kernels();

/// By the first kernel whose instructions this processor has.
void multiply(const SmallProduct& product);

}  // namespace attn
