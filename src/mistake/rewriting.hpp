#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "mistake/mistake.hpp"

namespace attn {

/// What to make in the place of a node; nothing: leave it as it is. That of a Mistake, of several, or of
/// numbers that somebody else has.
using Instead = std::function<std::optional<Value>(const Node& node, Rewriting& again)>;

/// A computation once more, in a graph of its own, as somebody computes it who makes a mistake. Only what the
/// mistake changes is computed again; everything else has the numbers of the original, which outlives this.
class Rewriting {
 public:
  Rewriting(const Graph& original, Instead instead);
  Rewriting(const Graph& original, const Mistake& mistake) : Rewriting(original, mistake.instead) {}

  /// What a node of the original now is. Throws InputError where the mistake cannot be made.
  Value of(const Node& original);
  /// What a node would be if the mistake left it as it is: its operation on its operands as they now are.
  Value unchanged(const Node& original);
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
  std::optional<Value> made_otherwise(const Node& node);
  void settle_alone(const Node& node);
  void name_as(const Node& original, const Value& value);
  Value taken_over(const Node& original);

  Instead instead_;
  std::shared_ptr<Graph> graph_;
  std::vector<State> states_;                // by the nodes' places in the original
  std::vector<std::optional<Value>> nodes_;  // likewise
};

}  // namespace attn
