#pragma once

#include "math/matrix.hpp"

namespace attn {

/// The squared distance of every row of `a` from every row of `b`, from the differences themselves: squared
/// out, ‖a‖² − 2a·b + ‖b‖² loses its digits where rows are long and near each other.
/// The definition holds all m·n·d differences at once; this loop holds none.
/// [m, d] [n, d] -> [m, n].  `result` holds the rows that are to be made.
void squared_distances(Rows a, Rows b, RowsToMake result);

}  // namespace attn
