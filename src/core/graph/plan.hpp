#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// A matrix with more cells than this, of which every user needs only some rows at a time, is not made as a
/// whole: its rows pass by in blocks.
constexpr std::size_t most_cells_at_rest = std::size_t{1} << 19;

/// What is computed to have the numbers of some nodes, in which order, and how much memory that takes: known
/// before the first product.
struct Plan {
  struct Step {
    const Node* node;
    std::vector<const Node*> passing;  // operands, and theirs, whose rows pass by in blocks
    bool in_place = false;             // in the memory of the first operand, which is not needed any more
    std::vector<const Node*> done;     // whose memory is free afterwards
    std::uint64_t work = 0;            // of all of these, as work_of()
  };
  std::vector<Step> steps;
  std::uint64_t peak_bytes = 0;   // of all matrices of the graph at the same time
  std::uint64_t most_bytes = 0;   // the same with any number of threads
  std::uint64_t bytes_there = 0;  // of those that have their numbers already
  std::uint64_t work = 0;         // multiply-adds, and element operations in their place
  const Node* largest = nullptr;  // matrix of a step; null where there is no step
};

/// What is to be planned. Nodes are asked for by their original, never by an alias.
struct PlanRequest {
  std::vector<const Node*> targets;
  std::function<bool(const Node&)> stands;  // whether its numbers are there already
  std::function<bool(const Node&)> stays;   // whether they are kept after their last use in the plan
  std::uint64_t bytes_before = 0;           // of what stands
  std::uint64_t bytes_there = 0;            // of that, of what has its numbers already
};

Plan plan(const PlanRequest& wish);

/// What it would take to compute these nodes and keep them, the graph's inputs included. The inputs need no
/// numbers.
Plan plan(const Graph& graph, const std::vector<const Node*>& nodes);

/// All nodes; and those for which no matrix is needed that could pass by in blocks instead of standing as a
/// whole.
std::vector<const Node*> all_nodes(const Graph& graph);
std::vector<const Node*> nodes_at_rest(const Graph& graph);

/// Throws InputError, which names the matrix, where a matrix or all matrices of this process at the same time
/// are more than may be; and where a Budget does not allow them or the work.
void require_room(const Plan& plan);

/// How much work a node is, in multiply-adds.
std::uint64_t work_of(const Node& node);

/// Whether a node is kept, under any of its names.
bool is_kept(const Node& node, const Keep& keep);

/// Whether a matrix may pass by in blocks.
bool is_large(const Node& node);

/// Whether an operand is needed a few rows at a time.
bool passes_by(const Node& user, std::size_t operand);

/// These rows and those that are made together with them, so that products always have the same blocks.
RowRange whole_blocks(RowRange rows, std::size_t of_all);

/// What a matrix of this shape takes.
std::uint64_t bytes_of(Shape shape);

/// The shapes of a node's operands.
std::vector<Shape> shapes_of(const Node& node);

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
