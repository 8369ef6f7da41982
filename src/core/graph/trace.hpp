#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/name.hpp"
#include "core/graph/operation.hpp"

namespace attn {

class Graph;

/// A matrix of a computation with all that is told about it, apart from the graph that it comes from.
struct Traced {
  std::string name;
  const Role* role = &role::other;
  const Family* family = &family::forward;
  std::string operation = "input";         // the name of its operation
  std::vector<std::string> operands = {};  // the named matrices in its formula, in that order
  Formula formula;                         // "scores = q ⋅ kᵀ"; of an input its name
  Frame frame;
  Cost cost = {};                                        // of all operations in its formula
  std::function<std::shared_ptr<const Matrix>()> cells;  // its numbers, some of which are computed only now
};

/// Some matrices of one or several computations, in order: what the machine formats write. What is told about
/// a node is worked out when it is asked for, which text never does.
class Trace {
 public:
  Trace() = default;
  explicit Trace(std::vector<Traced> matrices) : matrices_(std::move(matrices)) {}
  Trace(const std::vector<const Node*>& nodes) { add(nodes); }

  /// A named node. Its graph is kept as long as the trace, if it is shared; otherwise it has to stay.
  void add(const Node& node);
  void add(const std::vector<const Node*>& nodes);

  bool empty() const { return size() == 0; }
  std::size_t size() const { return matrices_.size() + nodes_.size(); }
  const std::vector<Traced>& matrices() const;
  /// The matrix of that name, or null.
  const Traced* find(std::string_view name) const;
  /// The matrices whose names match, as --only chooses them. Throws InputError where a pattern matches
  /// nothing.
  std::vector<Traced> matching(std::string_view pattern) const;

 private:
  struct Waiting {
    const Node* node;
    std::shared_ptr<const Graph> graph;
  };
  mutable std::vector<Traced> matrices_;
  mutable std::vector<Waiting> nodes_;                              // that come behind them
  mutable std::map<std::string, std::size_t, std::less<>> places_;  // by name
  mutable std::size_t placed_ = 0;                                  // how many of them are known
};

/// A cell, and the tree of its terms, whose cells are told by symbols: without the graph.
struct Derived {
  std::shared_ptr<const Symbol> matrix;
  std::size_t row = 0;
  std::size_t column = 0;
  double value = 0.0;
  std::size_t depth = 0;  // how many steps it lies behind the cell that was asked for
  Expression expression = {};
  std::string reason = {};       // where the terms alone do not say it: a sentence on why it is so
  std::string told_reason = {};  // the same with names as the symbols have them
};

using TakeDerived = std::function<void(const Derived& step)>;

/// Tells how a cell came about and, up to `depth` steps behind it, how its terms did; every cell once.
/// Names are told from `scope` on. One step after another, because thousands would not fit into memory.
void derive(const Cell& cell, std::size_t depth, std::string_view scope, const TakeDerived& take);

}  // namespace attn
