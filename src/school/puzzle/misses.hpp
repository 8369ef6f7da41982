#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/term/term.hpp"
#include "school/puzzle/puzzle.hpp"

namespace attn {

/// What a property compares at one of its places.
struct Comparison {
  Term left, right;
};

/// All that it compares, in order. Throws InputError as misses_of() does.
std::vector<Comparison> comparisons_of(const Property& property, const Graph& graph);

/// A place at which a property does not hold.
struct Miss {
  std::string says;   // what the number is, and what it should be
  std::string about;  // the row or the number that it tells of: `weights[2]`
};

/// Where a property does not hold, in order; empty: it holds everywhere. Throws InputError: what it compares
/// is not in the computation, its ranges have no place there, or more than 10,000.
std::vector<Miss> misses_of(const Property& property, const Graph& graph);

/// Whether it holds at all its places, and has one. Throws InputError likewise.
bool holds(const Property& property, const Graph& graph);

}  // namespace attn
