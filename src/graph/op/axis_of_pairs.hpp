#pragma once

#include "graph/operation.hpp"

namespace attn {

/// The rows of a matrix that has `size` numbers for every query and key: pair (i, j) of n_k keys is row
/// i·n_k + j. Labelled "query, key" where either has words. Throws InputError, before there are labels, when
/// the matrix would be larger than a matrix may be.
Axis axis_of_pairs(const Frame& queries, const Frame& keys, std::size_t size);

}  // namespace attn
