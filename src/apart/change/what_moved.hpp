#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/rewrite/rewriting.hpp"

namespace attn {

/// How two matrices of one shape differ.
struct CellsMoved {
  std::size_t cells = 0;            // whose numbers are not the same
  double largest = 0.0;             // change of one; infinite where one of two numbers is not finite
  double change = 0.0;              // the same as it is told: NaN where one of the two is NaN
  std::size_t row = 0, column = 0;  // of that

  bool is_unchanged() const { return cells == 0; }
  /// Whether rounding alone makes so much.
  bool is_small() const;
};
/// Two numbers are the same that differ by no more than `tolerance` times the larger of them and 1.
CellsMoved cells_moved(const Matrix& before, const Matrix& now, double tolerance = 0.0);
/// The same of some cells alone.
CellsMoved cells_moved(const Matrix& before, const Matrix& now, std::span<const Cell> of);

/// A matrix of a computation, before and after something was changed.
struct MatrixMoved {
  const Node* node;  // as it was
  const Node* now;
  CellsMoved moved;

  double before() const { return node->cell(moved.row, moved.column); }
  double after() const { return now->cell(moved.row, moved.column); }
  /// The cell that changed most: "weights[it,animal]"
  std::string place() const;
};

/// The named matrices of a computation that are made of what was changed, or were changed, in order: also those whose
/// numbers stay the same. What is only another name is left out.
std::vector<MatrixMoved> what_moved(const Graph& graph, Rewriting& again);
/// The same of some matrices alone, whatever other names they are.
std::vector<MatrixMoved> what_moved(std::span<const Node* const> nodes, Rewriting& again);

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
