#include "core/graph/row_positions.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/support/error.hpp"
#include "core/support/number.hpp"

namespace attn {

RowPositions::RowPositions(std::vector<std::size_t> list) {
  const auto breaks = [](std::size_t a, std::size_t b) { return b != a + 1; };
  if (std::ranges::adjacent_find(list, breaks) == list.end()) {
    count_ = list.size();
    first_ = list.empty() ? 0 : list.front();
  } else {
    list_ = std::make_shared<const std::vector<std::size_t>>(std::move(list));
  }
}

RowPositions RowPositions::of_rows(std::size_t count) const {
  if (this->count() != 0 && this->count() != count)
    throw std::logic_error("there are positions for another number of rows");
  RowPositions copy = *this;
  copy.count_ = count;
  return copy;
}

std::vector<double> RowPositions::all() const {
  std::vector<double> positions;
  for (std::size_t i = 0; i < count(); ++i) positions.push_back(static_cast<double>((*this)[i]));
  return positions;
}

RowPositions RowPositions::later(std::size_t by) const {
  RowPositions copy = *this;
  copy.first_ += by;
  if (!list_) return copy;
  std::vector<std::size_t> list = *list_;
  for (std::size_t& position : list) position += by;
  copy.list_ = std::make_shared<const std::vector<std::size_t>>(std::move(list));
  return copy;
}

RowPositions RowPositions::part(std::size_t first, std::size_t count) const {
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back((*this)[first + i]);
  return RowPositions(std::move(some));
}

std::size_t RowPositions::smallest() const { return list_ ? *std::ranges::min_element(*list_) : first_; }

std::size_t RowPositions::largest(std::size_t rows) const {
  if (list_) return *std::ranges::max_element(*list_);
  return first_ + std::max<std::size_t>(rows, 1) - 1;
}

bool operator==(const RowPositions& a, const RowPositions& b) {
  if (!a.list_ || !b.list_) return !a.list_ && !b.list_ && a.first_ == b.first_ && a.count_ == b.count_;
  return *a.list_ == *b.list_;
}

RowPositions joined(const RowPositions& positions, std::size_t count, const RowPositions& more,
                    std::size_t more_count) {
  if (count == 0) return more;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(positions[i]);
  for (std::size_t i = 0; i < more_count; ++i) all.push_back(more[i]);
  return RowPositions(std::move(all));
}

// --- trees

namespace {

// The edges from each word up to the root. A word that leads to none after as many steps as there are words is part of
// a cycle, or below one.
std::vector<std::size_t> depths_in(const std::vector<std::size_t>& parents) {
  constexpr std::size_t unknown = static_cast<std::size_t>(-1);
  std::vector<std::size_t> depths(parents.size(), unknown), way;
  for (std::size_t word = 0; word < parents.size(); ++word) {
    std::size_t at = word;
    for (way.clear(); depths[at] == unknown; at = parents[at] - 1) {
      if (parents[at] == 0) {
        depths[at] = 0;
        break;
      }
      way.push_back(at);
      if (way.size() > parents.size()) {
        fail(
            "the words above word {} lead to no root, because they form a cycle: give each word its parent, and 0 for the root",
            word + 1);
      }
    }
    for (std::size_t depth = depths[at]; !way.empty(); way.pop_back()) depths[way.back()] = ++depth;
  }
  return depths;
}

}  // namespace

Distance::Distance(std::vector<std::size_t> parents) {
  std::size_t root = 0;
  for (std::size_t word = 1; word <= parents.size(); ++word) {
    const std::size_t parent = parents[word - 1];
    if (parent > parents.size()) {
      fail("the parent of word {} is word {}, and there are {}: give the number of a word, or 0 for the root", word,
           parent, count_of(parents.size(), "word"));
    }
    if (parent != 0) continue;
    if (root != 0) {
      fail("words {} and {} both have the parent 0, and a dependency tree has one root: give one of them a parent",
           root, word);
    }
    root = word;
  }
  std::vector<std::size_t> depths = depths_in(parents);
  tree_ = std::make_shared<const Tree>(Tree{std::move(parents), std::move(depths)});
}

std::ptrdiff_t Distance::between(std::size_t from, std::size_t to) const {
  if (!tree_) return static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
  std::ptrdiff_t edges = 0;
  for (; from != to; ++edges) {
    std::size_t& deeper = tree_->depths[from] < tree_->depths[to] ? to : from;
    deeper = tree_->parents[deeper] - 1;
  }
  return edges;
}

std::vector<std::ptrdiff_t> Distance::edges_from(std::size_t word) const {
  constexpr std::ptrdiff_t unknown = -1;
  const std::vector<std::size_t>& parents = tree_->parents;
  std::vector<std::ptrdiff_t> edges(parents.size(), unknown);
  for (edges[word] = 0; parents[word] != 0; word = parents[word] - 1) edges[parents[word] - 1] = edges[word] + 1;
  std::vector<std::size_t> way;
  for (std::size_t other = 0; other < parents.size(); ++other) {
    std::size_t at = other;
    for (; edges[at] == unknown; at = parents[at] - 1) way.push_back(at);
    for (std::ptrdiff_t count = edges[at]; !way.empty(); way.pop_back()) edges[way.back()] = ++count;
  }
  return edges;
}

std::vector<double> Distance::parents() const {
  if (!tree_) return {};
  return {tree_->parents.begin(), tree_->parents.end()};
}

bool operator==(const Distance& a, const Distance& b) { return a.parents() == b.parents(); }

}  // namespace attn
