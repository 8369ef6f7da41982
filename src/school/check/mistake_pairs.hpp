#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "school/mistake/mistake_search.hpp"

namespace attn {

/// One of two mistakes that are made together.
struct HalfOfPair {
  const Mistake* mistake;
  std::string amount;  // what its row leaves open, in words; empty: nothing
  std::vector<Change> changes;
};

/// Two mistakes that are made together.
struct MistakePair {
  HalfOfPair first, second;
};

/// The pairs of mistakes that together give all that differs from a place on and leave all that is right before it,
/// the likeliest first. Two that can be made at the same node are no pair. How many are tried is bounded by the work
/// that is left, which is what it takes to compute them: of large computations only the likeliest are.
std::vector<MistakePair> find_pairs(const SearchGround& ground, std::size_t place, std::uint64_t& work_left);

}  // namespace attn
