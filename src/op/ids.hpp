#pragma once

#include <cmath>

#include "graph/graph.hpp"
#include "support/error.hpp"

namespace attn {

/// The place that an id stands for, from 0; ids count from 1.
inline std::size_t place_of(double id) {
  return static_cast<std::size_t>(id) - 1;
}

/// Reads ids of words, which are the rows or the columns of a matrix, and refuses the first that is none of
/// them.
class IdsOf {
 public:
  IdsOf(const Node& ids, const Node& words, std::string_view are, std::size_t count)
      : ids_(ids), words_(words), are_(are), count_(count) {}

  std::size_t place(Rows ids, std::size_t row) const {
    const double id = ids(row, 0);
    if (!(id >= 1.0 && id <= static_cast<double>(count_) && id == std::floor(id))) {
      fail("{}[{},1] is {}: {} has {} 1 to {}", ids_.title(), row + 1, id, words_.title(), are_, count_);
    }
    return place_of(id);
  }

  /// How many words there are.
  std::size_t count() const { return count_; }

 private:
  const Node &ids_, &words_;  // live in the same graph
  std::string_view are_;      // "rows"
  std::size_t count_;
};

}  // namespace attn
