#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "school/check/findings.hpp"
#include "school/mistake/mistake_search.hpp"

namespace attn {

/// Looks from the first matrix that differs on for what gives its numbers, with what was found before taken for
/// granted: one mistake, one with a convention, a number that is solved for, a variant, two mistakes. `work`: how much
/// it may take to go further than single mistakes, in about nanoseconds, and as much again to follow several of them.
Findings search_findings(const Graph& graph, std::span<const ComparedMatrix> compared,
                         const std::vector<PlacedMistake>& possible, std::uint64_t work);

/// What single mistakes explain, and no more.
Findings search_single_mistakes(const Graph& graph, std::span<const ComparedMatrix> compared,
                                const std::vector<PlacedMistake>& possible);

/// Whether a mistake changes some of these numbers, which are right, to others that look the same.
bool gives_the_same(const Graph& graph, std::span<const ComparedMatrix> compared, const PlacedMistake& mistake);

}  // namespace attn
