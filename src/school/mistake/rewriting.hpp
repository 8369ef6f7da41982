#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

class Rewriting;

/// A mistake that people make in a computation: another computation, which differs in some nodes. It is known
/// by what nodes are, and so it can be made wherever there are such nodes.
struct Mistake {
  /// Whether it is an error, or what others do by agreement.
  enum class Kind { error, convention };

  std::string_view name;  // "softmax-over-queries"
  Kind kind;
  std::string_view summary;  // in a phrase: "softmax over the queries instead of the keys"
  std::string_view says;     // what was done and what to do instead; of a convention, who does it so
  /// What it makes in the place of a node, out of nodes as they now are; nothing: it leaves the node as it
  /// is. Throws InputError where that cannot be computed.
  std::optional<Value> (*instead)(const Node& node, Rewriting& again);
};

/// All of them, those on one subject together. A new one is a row in the table of its subject.
std::span<const Mistake> mistakes();

// The subjects, in the files of_*.cpp.
std::span<const Mistake> mistakes_of_scores();
std::span<const Mistake> mistakes_of_softmax();
std::span<const Mistake> mistakes_of_values();
std::span<const Mistake> mistakes_of_heads();
std::span<const Mistake> mistakes_of_masks();
std::span<const Mistake> mistakes_of_sides();
std::span<const Mistake> mistakes_of_norms();
std::span<const Mistake> mistakes_of_residuals();
std::span<const Mistake> mistakes_of_embeddings();
std::span<const Mistake> mistakes_of_positions();
std::span<const Mistake> mistakes_of_rotary_positions();
std::span<const Mistake> mistakes_of_feed_forward();
std::span<const Mistake> mistakes_of_maps();
std::span<const Mistake> mistakes_of_recurrence();
std::span<const Mistake> mistakes_of_losses();
std::span<const Mistake> mistakes_of_gradients();
std::span<const Mistake> mistakes_of_kernels();

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

/// The operation of a node in another graph, on other operands, which may have other shapes than its own.
/// Throws InputError where they do not fit together, or the operation is bound to the shapes that it was made
/// for.
Value operation_on(const Node& original, const std::vector<Value>& operands, Graph& graph);

}  // namespace attn
