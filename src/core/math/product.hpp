#pragma once

#include <mutex>

#include "core/math/matrix.hpp"

namespace attn {

/// A product by BLAS is made in blocks of so many rows, counted from the first row of the whole matrix, and
/// each block by one call: the same rows then have the same bits whether all of them are made at once, or a
/// block at a time on any number of threads.
constexpr std::size_t rows_of_block = 256;

/// The matrix product: as an expression of arrays it would hold m·n·k products at once.  [m, k] [k, n] -> [m,
/// n].  `result` holds the rows that are to be made, and begins where a block does. A second matrix of up to
/// 2^16 cells is multiplied by our own kernel (small_product.hpp), with the same bits on every processor; a
/// larger one by BLAS. One whose numbers are stored is widened where it is multiplied (stored_product.hpp). Throws
/// InputError where there is nothing to add up: k is 0.
void product(const Rows& a, const Rows& b, const RowsToMake& result);

/// The product with the second matrix transposed: the dot product of every row of `a` with every row of `b`.
/// [m, k] [n, k] -> [m, n].  As product().
void product_transposed(const Rows& a, const Rows& b, const RowsToMake& result);

/// The product with the first matrix transposed: the dot product of every column of `a` with every column of
/// `b`.  [k, m] [k, n] -> [m, n].  As product(), but that what has up to 2^16 cells is the whole result.
void product_of_transposed(const Rows& a, const Rows& b, const RowsToMake& result);

/// Held while BLAS is called. Throws std::bad_alloc where it has no room in this thread.
std::unique_lock<std::mutex> blas_lock();

/// Whether there is room for the 128 MiB of addresses that OpenBLAS takes at its first product of a thread,
/// and newer releases also before main. Where it does not get them, it asks again for ever.
bool has_room_for_products();

/// OpenBLAS reads in its environment, before main, how many threads it may start, and is told that there are
/// none: what runs side by side is ours to say. Gives the environment back as it was; called at the beginning
/// of main.
void restore_environment_of_blas();

}  // namespace attn
