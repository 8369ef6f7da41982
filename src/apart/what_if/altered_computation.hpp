#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// A computation with changes, which need not be made as the roles of its nodes say: hung on the answer of --what-if.
/// It is made of the one before, whose numbers it has where nothing changes.
struct AlteredComputation {
  std::shared_ptr<const Graph> before, now;
  std::vector<const Node*>
      named;           // in order: of each name the node that it now has, or the one before where it is that
  std::string random;  // what is random in it, in a sentence; empty: nothing
};

}  // namespace attn
