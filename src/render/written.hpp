#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/expression.hpp"
#include "graph/graph.hpp"

namespace attn {

/// A piece of mathematics as text, and whether every number in it is exact as written.
struct Written {
  std::string text;
  bool exact = true;
};

/// Fewer decimals would show sums and products of other numbers than those that are computed with.
constexpr int least_precision = 2;

/// How expressions are written. A notation is the table of signs of one language: plain text or LaTeX.
struct Notation {
  bool latex = false;
  int precision = 4;              // decimals of numbers; trailing zeros are dropped
  std::size_t most_terms = 0;     // longer sums are shortened in the middle; 0: never
  std::size_t terms_in_line = 0;  // of a sum that is broken into lines; 0: never broken
  std::string_view scope = {};    // that names leave out
};

/// A number on its own: "0.8808", "-2", "−∞".
Written written_number(double value, const Notation& notation);

/// A cell by name: "head.1.scores[1,2]".
std::string written_cell(const Cell& cell, const Notation& notation);

/// The steps from a cell to its number, to be joined by "=" or, where a number was rounded, "≈":
/// with the cells by name; with their numbers; then with one level of terms after another worked out.
std::vector<Written> written_steps(const Expression& expression, const Notation& notation);

}  // namespace attn
