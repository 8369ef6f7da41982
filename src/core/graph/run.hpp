#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/graph/plan.hpp"

namespace attn {

/// Sees the numbers of a run while they are made, whether they are kept or not.
class Watch {
 public:
  virtual ~Watch() = default;
  /// The run comes to a node.
  virtual void begins(const Node&) {}
  /// Some rows of a node were made. Rows of one node may come in any order and from several threads.
  virtual void made(const Node&, Rows) {}
  /// All that was asked for is there. May throw InputError.
  virtual void ends() {}
};

/// The numbers of a graph: only what is asked for is computed, in an order that is planned beforehand, and
/// what is not needed any more is freed. The bits do not depend on what is kept nor on the number of threads.
class Run {
 public:
  Run(const Graph& graph, Keep keep) : graph_(graph), keep_(std::move(keep)) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Rounds each result to float32 from now on, as programs do that compute in single precision. Products with
  /// stored numbers are made in it.
  void round_to_single() { is_single_ = true; }
  bool is_single() const { return is_single_; }

  void add(std::shared_ptr<Watch> watch) { watches_.push_back(std::move(watch)); }
  /// The watch of this kind, or null.
  template <class Kind>
  Kind* find() const {
    for (const std::shared_ptr<Watch>& watch : watches_) {
      if (Kind* const kind = dynamic_cast<Kind*>(watch.get())) return kind;
    }
    return nullptr;
  }

  /// Computes what is kept; or these nodes, and keeps them. Throws InputError where they would not fit into
  /// memory, before anything is computed; and as operations do.
  void compute();
  void compute(const std::vector<const Node*>& nodes);

  /// What it takes to compute these nodes from the inputs alone, whatever is there already: to be repeated.
  Plan plan_to_repeat(const std::vector<const Node*>& nodes);
  /// Computes what was planned once more, from inputs whose numbers may have changed; the last results are
  /// let go. Throws likewise.
  void repeat(const Plan& plan);

  /// The numbers of one node, which are kept from then on. Throws likewise.
  std::shared_ptr<const Matrix> at(const Node& node);
  /// One of them, or a row: of a large matrix only the block of rows is computed that it lies in.
  double cell(const Node& node, std::size_t row, std::size_t column);
  std::vector<double> row(const Node& node, std::size_t i);

  /// Some rows of an input, in this memory where they have to be made. From any thread.
  Rows rows_of_input(const Node& input, RowRange rows, Matrix& memory) const;

  /// Whether the numbers are there.
  bool holds(const Node& node) const;

  /// How many matrices all runs of this process have computed a second time, because they were let go too
  /// early.
  static std::uint64_t computed_twice();

 private:
  struct Numbers {
    std::shared_ptr<Matrix> cells;
    bool were_made = false;
    bool were_asked_for = false;
  };
  struct Block {
    const Node* node;
    Matrix cells;
    std::size_t first;
  };

  const Numbers* numbers_of(const Node& node) const;
  Numbers& numbers(const Node& node);
  Rows whole(const Node& node) const;
  Rows operand_of(const Node& node, std::size_t i) const;
  std::uint64_t bytes_at_rest();
  Plan planned(const std::vector<const Node*>& targets);
  void let_go(const Node& node);
  void carry_out(const Plan& plan);
  void take_step(const Plan::Step& step);
  void begin(const Node& node);
  void make(const Node& node, RowsToMake rows, bool in_place) const;
  void compute(const Node& node, RowsToMake rows, bool in_place) const;
  std::vector<const Node*> changes_before(const Node& node) const;
  void tell_watches(const Node& node, Rows rows) const;
  void prepare(const Node& node);
  const Block& block_with(const Node& node, std::size_t row);

  const Graph& graph_;
  Keep keep_;
  std::vector<std::shared_ptr<Watch>> watches_;
  std::vector<Numbers> numbers_;  // by the nodes' places
  std::deque<Block> blocks_;      // the latest ones
  std::uint64_t bytes_ = 0;       // of all numbers that are there, of the inputs among the first nodes
  std::size_t inputs_counted_ = 0;
  bool is_single_ = false;
};

}  // namespace attn
