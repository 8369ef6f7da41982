#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "school/mistake/remade.hpp"

namespace attn {

/// One of two mistakes that are made together.
struct HalfOfPair {
  const Mistake* mistake;
  std::string amount;  // of one with a number, in words; empty: it has none
  Change change;
};

/// Two mistakes that are made together.
struct MistakePair {
  HalfOfPair first, second;
};

/// The pairs of mistakes that together give all that differs from a place on and leave all that is right before it,
/// the likeliest first. Two that can be made at the same node are no pair. How many are tried is bounded by what it
/// takes to compute them: of large computations only the likeliest are.
std::vector<MistakePair> find_pairs(const SearchGround& ground, std::size_t place);

}  // namespace attn
