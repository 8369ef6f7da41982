#include "graph/op/ids.hpp"

#include <cmath>

#include "support/error.hpp"

namespace attn {

std::size_t place_of_id(const Matrix& ids, std::size_t row) {
  return static_cast<std::size_t>(ids(row, 0)) - 1;
}

void require_ids(const Value& ids, const Node& table) {
  const auto rows = static_cast<double>(table.frame.shape.rows);
  for (std::size_t i = 0; i < ids.shape().rows; ++i) {
    const double id = ids.matrix()(i, 0);
    if (id >= 1.0 && id <= rows && id == std::floor(id)) continue;
    fail("{}[{},1] is {}: {} has rows 1 to {}", ids.node().title(), i + 1, id, table.title(), rows);
  }
}

}  // namespace attn
