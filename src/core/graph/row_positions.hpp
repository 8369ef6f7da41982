#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace attn {

/// Where the rows of a matrix, or its columns, stand in a text: one after another from a first position on, or as a
/// list says. Positions count from 0.
class RowPositions {
 public:
  RowPositions(std::size_t first = 0) : first_(first) {}
  explicit RowPositions(std::vector<std::size_t> list);

  std::size_t operator[](std::size_t row) const { return list_ ? (*list_)[row] : first_ + row; }
  /// Whether each position is the one before and one more.
  bool follow_each_other() const { return !list_; }
  std::size_t first() const { return (*this)[0]; }
  /// How many there are; 0: any number that follow each other.
  std::size_t count() const { return list_ ? list_->size() : count_; }
  /// The same for so many rows. Throws std::logic_error where a list has another number.
  RowPositions of_rows(std::size_t count) const;
  /// All of them; for a number of rows that is known.
  std::vector<double> all() const;
  /// Each so many positions later.
  RowPositions later(std::size_t by) const;
  /// Those of so many rows from one on.
  RowPositions part(std::size_t first, std::size_t count) const;
  std::size_t smallest() const;
  /// The largest of so many rows.
  std::size_t largest(std::size_t rows) const;

  friend bool operator==(const RowPositions& a, const RowPositions& b);

 private:
  std::size_t first_ = 0, count_ = 0;
  std::shared_ptr<const std::vector<std::size_t>> list_;  // null: they follow each other
};

/// Those of so many rows, and then of so many more.
RowPositions joined(const RowPositions& positions, std::size_t count, const RowPositions& more, std::size_t more_count);

/// How far one position is from another: along the text, with the sign of where the other one is; or along the edges of
/// a tree of words, such as one of dependencies.
class Distance {
 public:
  Distance() = default;
  /// A tree with the parent of each word, from 1, and 0 for the root. Throws InputError unless there is one root, and
  /// all other words are below it.
  explicit Distance(std::vector<std::size_t> parents);

  std::ptrdiff_t between(std::size_t from, std::size_t to) const;
  /// Those from one word of a tree to each of its words, in one pass.
  std::vector<std::ptrdiff_t> edges_from(std::size_t word) const;
  /// Whether it counts the edges of a tree; then it has no sign.
  bool is_in_tree() const { return tree_ != nullptr; }
  /// How many words the tree has.
  std::size_t words() const { return tree_ ? tree_->parents.size() : 0; }
  /// The parent of each word; empty where there is no tree.
  std::vector<double> parents() const;

  friend bool operator==(const Distance& a, const Distance& b);

 private:
  struct Tree {
    std::vector<std::size_t> parents, depths;  // of each word
  };
  std::shared_ptr<const Tree> tree_;  // null: along the text
};

}  // namespace attn
