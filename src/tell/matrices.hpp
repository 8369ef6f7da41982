#pragma once

#include "graph/trace.hpp"
#include "page/page.hpp"

namespace attn {

/// Adds matrices of a trace, computed or read from a file, as --only shows those of a computation: their
/// formulas and tables; those of a model, which have long names, under a heading for each scope, which names
/// then leave out. Masked cells, shading and row sums follow from what a matrix is, and from the scores in
/// the trace.
void add_matrices(Page& page, const Trace& trace, const std::vector<Traced>& shown);

}  // namespace attn
