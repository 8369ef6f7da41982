#pragma once

#include <functional>
#include <map>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// Which nodes the way back may use as they stand. Others are computed again for it, from those: it takes
/// less memory and more time.  (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost, section 4)
using CheckpointRule = std::function<bool(const Node&)>;
CheckpointRule checkpoint_everything();

/// The way back from a node to what it was computed from: for every node between, the sum of what flows back
/// from all that use it. What stands for a named node has its name with "d_" before the leaf:
/// `head.1.d_weights`.  (Rumelhart et al. 1986, Learning Representations by Back-propagating Errors)
class Backward {
 public:
  /// Adds the gradients of a number to the graph of `from`, given its gradient by `from`, which has the shape
  /// of `from`. Only nodes that lie behind `to` get one; without `to`, all that lie behind inputs. The graph
  /// has no gradients yet.
  Backward(const Value& from, const Value& d_from, const std::vector<const Node*>& to = {},
           CheckpointRule stands = checkpoint_everything());

  /// The gradient by a node, under any of its names; null: nothing flows back to it.
  const Node* by(const Node& node) const;

 private:
  using Flows = std::map<const Node*, std::vector<Value>>;  // by original node

  std::vector<bool> lies_behind(const std::vector<const Node*>& to) const;
  void flow_back(const Node& node, const std::vector<bool>& wanted);
  void name_gradient(const Node& node, const Value& gradient);
  Value standing(const Node& node);
  Value computed_again(const Node& node);

  Graph& graph_;
  const Node& from_;
  CheckpointRule stands_;
  Flows flows_;
  std::map<const Node*, Value> gradients_;
  std::map<const Node*, Value> again_;
};

}  // namespace attn
