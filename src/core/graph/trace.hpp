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
struct TracedMatrix {
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
/// a node is worked out when it is asked for, which text never does. Every page holds one: what copies and destroys
/// it is in trace.cpp, so that no other file generates it.
class Trace {
 public:
  Trace();
  explicit Trace(std::vector<TracedMatrix> matrices);
  Trace(const std::vector<const Node*>& nodes);
  Trace(const Trace& other);
  Trace(Trace&& other) noexcept;
  Trace& operator=(const Trace& other);
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  /// A named node. Its graph is kept as long as the trace, if it is shared; otherwise it has to stay.
  void add(const Node& node);
  void add(const std::vector<const Node*>& nodes);

  bool empty() const { return size() == 0; }
  std::size_t size() const { return matrices_.size() + nodes_.size(); }
  const std::vector<TracedMatrix>& matrices() const;
  /// The matrix of that name, or null.
  const TracedMatrix* find(std::string_view name) const;
  /// The matrices whose names match, as --only chooses them. Throws InputError where a pattern matches
  /// nothing.
  std::vector<TracedMatrix> matching(std::string_view pattern) const;

 private:
  struct Waiting {
    const Node* node;
    std::shared_ptr<const Graph> graph;
  };
  mutable std::vector<TracedMatrix> matrices_;
  mutable std::vector<Waiting> nodes_;                              // that come behind them
  mutable std::map<std::string, std::size_t, std::less<>> places_;  // by name
  mutable std::size_t placed_ = 0;                                  // how many of them are known
};

}  // namespace attn
