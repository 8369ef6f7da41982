#pragma once

#include "core/math/matrix.hpp"

namespace attn {

/// product() and product_transposed() with a second matrix whose numbers are stored. It is never widened as a whole.
/// One row alone is multiplied while numbers are widened, by our own kernel: every cell by itself, in the same order
/// on every processor. Several rows are multiplied by BLAS, in blocks as in product(), each by panels of the stored
/// matrix that fit into a cache; panels are the same whatever the rows are. So a row has the same bits however many
/// threads share the columns. In single precision, several rows are multiplied as float32, and stored float32 numbers
/// where they lie.
void product_with_stored(const Rows& a, const Rows& b, const RowsToMake& result);
void product_transposed_with_stored(const Rows& a, const Rows& b, const RowsToMake& result);

}  // namespace attn
