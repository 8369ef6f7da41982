#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

class Rewriting;

/// A node in whose place something else is made, out of nodes as they now are.
struct RewriteSite {
  const Node& node;
  Rewriting& rewriting;
  std::optional<std::size_t> change = {};  // which of the changes is asked; nothing: none

  Value operator[](std::size_t operand) const;  // an operand
  std::vector<Value> operands() const;          // all of them
  Value of(const Node& other) const;            // any other node
  Value beside(const Role& role) const;         // the one of this role beside it
  Value itself() const;                         // the node as the changes behind this one leave it
  /// The operation of a node, this one or another, on other operands.
  Value redo(const Node& step, const std::vector<Value>& on) const;
  /// An input like the node, with other numbers.
  Value like(Matrix matrix) const;
};

/// What is made otherwise in a computation, and where: a mistake, a part left out, other numbers.
struct Change {
  std::function<bool(const Node& node)> where;
  std::function<std::optional<Value>(RewriteSite at)> instead;
};

/// A computation once more, in a graph of its own, with changes: as somebody computes it who makes a mistake, or
/// several. Only what they change is computed again; everything else has the numbers of the original, which outlives
/// this. Where several can be made at a node, the first of them makes it, of what those behind it make if it asks for
/// the node itself: so numbers are rounded that others compute.
class Rewriting {
 public:
  Rewriting(const Graph& original, std::vector<Change> changes);
  Rewriting(const Graph& original, Change change);
  /// The same with some changes more, which change nothing before the node `first`, whose number this is. What stands
  /// before it is shared, as is the new graph, in which what is made with it has no names.
  Rewriting(Rewriting& before, const std::vector<Change>& more, std::size_t first);

  /// What a node of the original now is. Throws InputError where the mistake cannot be made.
  Value of(const Node& original);
  /// What a node would be if the mistake left it as it is: its operation on its operands as they now are.
  Value unchanged(const Node& original);
  /// What it is as the changes behind one of them leave it.
  Value left_by_changes_behind(const Node& original, std::size_t change);
  /// An input with the place, the name and the labels of `original`, and with other numbers: a mask, a
  /// parameter.
  Value input_like(const Node& original, Matrix matrix);
  /// Whether a node is changed, in its cells or in how it is computed.
  bool changes(const Node& original);

  /// The new graph: what was asked for, and what that is made of.
  Graph& graph() { return *graph_; }

 private:
  enum class State { unknown, being_settled, unchanged, changed };

  void settle(const Node& last);
  std::optional<Value> made_by_a_change(const Node& node, std::size_t from = 0);
  std::optional<Value> made_otherwise(const Node& node);
  void settle_alone(const Node& node);
  void name_as(const Node& original, const Value& value);
  Value taken_over(const Node& original);
  Value input_of(const Node& original);

  std::vector<Change> changes_;
  std::shared_ptr<Graph> graph_;
  std::vector<State> states_;                                 // by the nodes' places in the original
  std::vector<std::optional<Value>> nodes_;                   // likewise
  std::shared_ptr<std::vector<std::optional<Value>>> taken_;  // likewise, as they are in the original
  bool shares_graph_ = false;                                 // with others, so that what it makes has no names
};

/// Some nodes of a computation, in a graph of their own. Whatever else they are made of is an input there, with its
/// numbers. The original outlives it.
std::shared_ptr<Graph> part_of(const Graph& original, const std::vector<const Node*>& nodes);

/// The operation of a node in another graph, on other operands, which may have other shapes than its own.
/// Throws InputError where they do not fit together, or the operation is bound to the shapes that it was made
/// for.
Value operation_on(const Node& original, const std::vector<Value>& operands, Graph& graph);

}  // namespace attn
