#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/term/term.hpp"

namespace attn {

/// A term and, where it alone does not say it, a sentence on why it is so.
struct Explanation {
  Term term;
  std::string reason = {};
};

/// How one cell of the result of an operation is made of its operands, as the operation's row says it.
Explanation explain(const Node& node, std::size_t row, std::size_t column);

/// Cells of one operand that lie beside each other.
struct CellsOfOperand {
  const Node* node = nullptr;
  std::size_t row = 0, rows = 1;
  std::size_t column = 0, columns = 1;
};
using TakeCells = std::function<void(const CellsOfOperand& cells)>;

/// The cells that the term of explain() is made of, without making it: those that a sum runs over are taken at once.
void each_part(const Node& node, std::size_t row, std::size_t column, const TakeCells& take);

/// How a cell came about, of nodes with names: what stands behind one without takes its place. A cell of an
/// input is the number that was given.
Explanation explain(const Cell& cell);

/// A cell, and the tree of its terms, whose cells are told by symbols: without the graph.
struct DerivationStep {
  std::shared_ptr<const Symbol> matrix;
  std::size_t row = 0;
  std::size_t column = 0;
  double value = 0.0;
  std::size_t depth = 0;  // how many steps it lies behind the cell that was asked for
  Term term = {};
  std::string reason = {};       // where the terms alone do not say it: a sentence on why it is so
  std::string told_reason = {};  // the same with names as the symbols have them
};

using TakeDerivationStep = std::function<void(const DerivationStep& step)>;

/// Tells how a cell came about and, up to `depth` steps behind it, how its terms did; every cell once.
/// Names are told from `scope` on. One step after another, because thousands would not fit into memory.
void derive(const Cell& cell, std::size_t depth, std::string_view scope, const TakeDerivationStep& take);

}  // namespace attn
