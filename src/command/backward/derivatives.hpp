#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/backward/reach.hpp"
#include "command/computed_problem.hpp"

namespace attn {

/// One number, or a whole row.
using CellSelection = std::vector<Cell>;

/// One cell with the words of its row and column, where its address has numbers for them.
std::string selection_in_words(const CellSelection& asked);

/// The words that go in: their vectors; or where there are none, what is given in their place.
std::vector<const Node*> words_going_in(const Graph& graph, const Node& result);

/// Throws InputError where the way back is run too often.
void require_ways(std::uint64_t ways, std::uint64_t work);

constexpr double rounding_of_derivative = 1e-12;  // of the largest derivative: less is what rounding leaves of 0
constexpr double rounding_of_ties = 1e-9;         // of the larger number: two that are nearer count as equal

double length_of(std::span<const double> numbers);
double largest_derivative(const Matrix& derivatives);
/// The derivative by one number, or the length of the gradient by a row.
double derivative_by(const Matrix& gradient, const CellSelection& by);

/// What of a matrix a number influences, or is influenced by.
struct DependenceCounts {
  const Node* node;
  std::size_t depend = 0, masked = 0, apart = 0, flat = 0;
  double largest = 0.0;
  Cell where = {};
  std::size_t as_large = 0;  // others that are as large, but for rounding
};

/// How each number of a matrix has to do with one number: its derivative, and what the explanations say.
struct ReachableCells {
  const CellSet& with_masks;
  const CellSet& without_masks;
};

DependenceCounts dependence_counts(const Node& node, const Matrix* derivatives, const ReachableCells& relation,
                                   double rounding);

/// Adds a line for each matrix.
void add_counts(QuantityPage& page, const std::vector<DependenceCounts>& all);

}  // namespace attn
