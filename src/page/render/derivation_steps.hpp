#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/block/page.hpp"

namespace attn {

/// Fewer decimals would show sums and products of other numbers than those that are computed with.
constexpr int least_precision = 2;

/// How mathematics is written: in the signs of plain text or of LaTeX.
struct Notation {
  bool latex = false;
  int precision = 4;              // decimals of numbers; trailing zeros are dropped
  std::size_t terms_in_line = 0;  // of a sum that is broken into lines; 0: never broken
};

/// A sum of more terms than this is shortened: to so many of them, the largest by magnitude.
constexpr std::size_t longest_sum = 32, terms_of_long_sum = 8;

/// A cell whose long sums show their largest terms, in the order in which they stand, and behind them what all others
/// add up to. The reason says how many these are; `full` shortens nothing.
DerivationStep with_short_sums(const DerivationStep& derived, bool full);

/// A number on its own: "0.8808", "-2", "−∞".
std::string written_number(double value, const Notation& notation);

/// The cell that a step is about: "head.1.scores[1,2]".
std::string written_subject(const DerivationStep& derived, const Notation& notation);

/// One of the terms that a cell is equal to.
struct WrittenStep {
  bool is_rounded = false;  // some number of it is not exact as written: "≈ 0.6667"
  std::string text;

  std::string_view sign() const { return is_rounded ? "≈" : "="; }
};

/// The steps from a cell to its number: with the cells by name; with their numbers; then with one level of
/// terms after another worked out.
std::vector<WrittenStep> steps_of(const DerivationStep& derived, const Notation& notation);

/// The steps of a cell as what stands in an environment `aligned` of LaTeX: each in a line, their signs below
/// each other.
std::string aligned_steps(const DerivationStep& derived, int precision);

/// Shapes as they stand beside a formula: "[2×4] [4×3] → [2×3]".
std::string written_shapes(const FormulaBlock& block);

}  // namespace attn
