#pragma once

#include "graph/operation.hpp"

namespace attn {

/// The rows of a matrix that has one for every query and key: pair (i, j) of n_k keys is row i·n_k + j.
/// Labelled "query, key" where either has words.
Axis axis_of_pairs(const Axis& queries, const Axis& keys, Shape query_shape, Shape key_shape);

}  // namespace attn
