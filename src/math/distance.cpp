#include "math/distance.hpp"

#include <algorithm>

#include "math/rows.hpp"

namespace attn {

void squared_distances(Rows a, Rows b, RowsToMake result) {
  const std::size_t size = b.shape.columns, others = b.shape.rows;
  constexpr std::size_t block = 256;  // what is read for one row of `a` stays in the cache for the next
  Matrix columns({size, others});
  transpose_into(b, rows_to_make(columns));
  std::ranges::fill(result.all(), 0.0);
  for (std::size_t begin = 0; begin < others; begin += block) {
    const std::size_t count = std::min(block, others - begin);
    for (std::size_t i = result.first; i < result.end(); ++i) {
      const std::span<double> sums = result.row(i).subspan(begin, count);
      for (std::size_t c = 0; c < size; ++c) {
        add_squared_differences(sums, a(i, c), row(columns, c).subspan(begin, count));
      }
    }
  }
}

}  // namespace attn
