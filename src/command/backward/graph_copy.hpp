#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/graph/run.hpp"

namespace attn {

/// The same operations on the same inputs in a graph of their own, which keeps nothing: what is tried on it
/// leaves the first one as it is. Its nodes have no names. The first graph has to stay.
struct GraphCopy {
  std::shared_ptr<Graph> graph;
  std::map<const Node*, const Node*> of;         // by original node of the first graph
  std::map<const Node*, const Node*> originals;  // the other way round
};

/// All of a graph up to this node.
GraphCopy copy_up_to(const Node& last);

/// What is computed from one matrix of a graph, as its numbers change; all else stands as it is. It is no Rewriting:
/// one plan is run thousands of times, and never rounded to float32, in which a difference quotient says nothing.
class PerturbedRun {
 public:
  /// `result` is what is computed, and `watched` are nodes between whose first operands are looked at, too.
  PerturbedRun(const Node& of, const Node& result, const std::function<bool(const Node&)>& watched);

  Shape shape() const { return numbers_->shape(); }
  /// The number of a cell, and another one in its place.
  double at(std::size_t row, std::size_t column) const { return std::as_const(*numbers_)(row, column); }
  void put(std::size_t row, std::size_t column, double number) { (*numbers_)(row, column) = number; }
  /// Computes the result with the numbers as they are now. Throws InputError where an operation is not defined for
  /// them.
  void compute() { graph_->run().repeat(plan_); }
  std::uint64_t work() const { return plan_.work; }
  const Matrix& result() const { return result_->matrix(); }
  const std::vector<const Node*>& watched() const { return watched_; }

 private:
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Matrix> numbers_;
  std::vector<const Node*> watched_;
  const Node* result_ = nullptr;
  Plan plan_;
};

}  // namespace attn
