#pragma once

#include <cstdlib>

namespace attn {

/// Whether a test draws all of its random problems: the environment has ATTN_ALL_SEEDS. An ordinary run draws
/// the first few of the same ones.
inline bool draws_all() {
  const char* const all = std::getenv("ATTN_ALL_SEEDS");
  return all && *all;
}

/// A few of them, or all.
template <class Count>
Count drawn(Count few, Count all) {
  return draws_all() ? all : few;
}

}  // namespace attn
