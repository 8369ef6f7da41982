#include "graph/op/broadcast.hpp"

#include "graph/graph.hpp"

namespace attn {

Broadcast Broadcast::beside(const Node& x, const Node& y) {
  const Shape whole = x.frame.shape, part = y.frame.shape;
  const bool rows_fit = part.rows == whole.rows || part.rows == 1;
  const bool columns_fit = part.columns == whole.columns || part.columns == 1;
  if (!rows_fit || !columns_fit) {
    fail(
        "{} is {} but {} is {}: it must have the same shape, or be one row of {} or one column of {} numbers",
        x.title(), to_string(whole), y.title(), to_string(part), whole.columns, whole.rows);
  }
  return {part};
}

}  // namespace attn
