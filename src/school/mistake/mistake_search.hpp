#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/support/error.hpp"
#include "school/mistake/comparison.hpp"
#include "school/mistake/mistake.hpp"

namespace attn {

/// Where something can be made otherwise in a computation: for each node whether it can be made there, found once.
class NodesWhere {
 public:
  NodesWhere(const Graph& graph, const std::function<bool(const Node& node)>& where);
  /// Some of them.
  NodesWhere only(const Graph& graph, const std::function<bool(const Node& node)>& some) const {
    return {graph, [&](const Node& node) { return has(node) && some(node); }};
  }

  /// The first of them; null: there is none.
  const Node* first() const { return first_; }
  bool has(const Node& node) const { return node.index < at_->size() && (*at_)[node.index]; }
  bool overlap(const NodesWhere& other) const;
  /// These and others.
  NodesWhere with(const Graph& graph, const NodesWhere& others) const {
    return {graph, [&](const Node& node) { return has(node) || others.has(node); }};
  }

 private:
  std::shared_ptr<const std::vector<bool>> at_;
  std::vector<std::size_t> indices_;
  const Node* first_ = nullptr;
};

/// A mistake that can be made in a computation, in one of the ways in which people make it.
struct PlacedMistake {
  const Mistake* mistake;
  NodesWhere places;
  Mistake::Instead instead = mistake->instead;

  bool is_variant() const { return instead != mistake->instead; }
  Change change() const {
    return {[at = places](const Node& node) { return at.has(node); }, instead};
  }
};
/// Behind each mistake are its variants.
std::vector<PlacedMistake> placed_mistakes(const Graph& graph);

/// A node whose numbers are those that somebody else has.
Change numbers_of(const Node& original, const Matrix& theirs);

/// The matrices that were compared, as they are with some changes.
class RecomputedMatrices {
 public:
  RecomputedMatrices(const Graph& graph, std::span<const ComparedMatrix> compared, std::vector<Change> changes)
      : again_(graph, std::move(changes)), compared_(compared) {}
  /// The same with some changes more, which change nothing before a node. What stands before it is shared.
  RecomputedMatrices(RecomputedMatrices& before, const std::vector<Change>& more, std::size_t first);

  /// Not where it cannot be computed.
  bool changes(std::size_t i);
  /// Null where it cannot be computed.
  std::shared_ptr<const Matrix> at(std::size_t i);
  bool explains(std::size_t i);
  /// Whether what it changes before a matrix is as in the file.
  bool keeps_those_before(std::size_t place);

 private:
  Rewriting again_;
  std::span<const ComparedMatrix> compared_;
};

/// What some changes explain.
struct ExplanatoryPower {
  std::size_t count = 0;    // of the matrices that differ
  bool keeps_right = true;  // leaves what is right behind them

  auto operator<=>(const ExplanatoryPower&) const = default;
};

/// How much the cells of a matrix speak for an explanation: those that it moves by more than two numbers of somebody
/// may be apart. Cells that say the same count once, and of a row that sums to 1 all but one.
struct CellEvidence {
  std::size_t independent = 0;
  double digits = 0.0;  // powers of ten to one that they do not agree by chance
};
CellEvidence cell_evidence(const ComparedMatrix& matrix, const Matrix& without, const Matrix& with);

/// How many of the matrices that differ have the numbers that the changes give, up to the first that has not; none
/// where the one at the place is not among them.
ExplanatoryPower explanatory_power(RecomputedMatrices& remade, std::span<const ComparedMatrix> compared,
                                   std::size_t place);

/// Where a mistake is looked for: what was compared, which mistakes can be made, and what is taken for granted.
struct SearchGround {
  const Graph& graph;
  std::span<const ComparedMatrix> compared;
  const std::vector<PlacedMistake>& possible;
  const std::vector<Change>& granted;

  std::vector<Change> with(std::initializer_list<Change> more) const;
  /// Those that can change a matrix, which is computed from the first place where they can be made, or behind it.
  std::vector<const PlacedMistake*> possible_for(std::size_t place) const;
  /// The matrices from a place on that differ.
  std::size_t that_differ(std::size_t from) const;
};

/// What it takes to compute again all nodes from each place on that a last one is made of, in about nanoseconds; behind
/// the last one it is 0.
std::vector<std::uint64_t> work_up_to(const Node& last);
/// What it takes to compute a node once more from the inputs.
std::uint64_t work_for(const Node& node);

/// What an action makes; nothing where a mistake cannot be made in this computation.
template <class Action>
auto where_possible(const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace attn
