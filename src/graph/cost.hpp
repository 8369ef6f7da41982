#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// What nodes took, counted from their operations and shapes. An alias shares the cells of another node and
/// takes nothing; an input is not computed.
struct Work {
  Cost cost = {};
  std::uint64_t bytes = 0;       // of the results' cells, were all of them kept
  std::uint64_t sequential = 0;  // operations that wait for each other, one after another
};

/// What a node's own operation costs; nothing for an input.
Cost cost_of(const Node& node);

/// The whole graph.
Work work_of(const Graph& graph);

/// The bytes of what was given: the inputs and parameters.
std::uint64_t bytes_of_inputs(const Graph& graph);

/// All uses of one operation, by its name in the table of operations; `sequential` stays 0.
struct OperationWork {
  std::string_view operation;
  std::size_t times = 0;
  Work work;
};

/// The operations in the order of their first use, without aliases. Their sums are the whole graph.
std::vector<OperationWork> work_by_operation(const Graph& graph);

/// A named result and what it took, with the nodes without a name that were computed for it. `sequential`
/// counts from the inputs on: how many operations come one after another until it is there.
struct NamedWork {
  const Node* node;
  Work work;
};

/// All named results in the order of the computation, without aliases. Their sums are the whole graph, but
/// for unnamed nodes that no named one uses.
std::vector<NamedWork> work_by_name(const Graph& graph);

}  // namespace attn
