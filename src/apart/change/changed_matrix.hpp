#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/math/difference.hpp"
#include "core/rewrite/rewriting.hpp"

namespace attn {

/// A matrix of a computation, before and after something was changed.
struct ChangedMatrix {
  const Node* node;  // as it was
  const Node* now;
  Difference moved;

  double before() const { return node->cell(moved.row, moved.column); }
  double after() const { return now->cell(moved.row, moved.column); }
  /// The cell that changed most: "weights[it,animal]"
  std::string place() const;
};

/// The named matrices of a computation that are made of what was changed, or were changed, in order: also those whose
/// numbers stay the same. What is only another name is left out.
std::vector<ChangedMatrix> changed_matrices(const Graph& graph, Rewriting& again);
/// The same of some matrices alone, whatever other names they are.
std::vector<ChangedMatrix> changed_matrices(std::span<const Node* const> nodes, Rewriting& again);

/// The matrix that a computation ends in: the logits, where it has some, and else the last one. Null: none is computed.
const Node* result_of(const Graph& graph);
/// The same of each sentence, of each head or of each step: all matrices of its role that no other one of them is
/// computed from.
std::vector<const Node*> results_of(const Graph& graph);

/// The probabilities of words that it ends in. Null: it has none.
const Node* distribution_of(const Graph& graph);

/// "weights[it,animal]", as find_cell() reads it.
std::string address_of(const Cell& cell);

/// "[it,animal]", where the matrix stands beside it.
std::string place_in_brackets(const Cell& cell);

}  // namespace attn
