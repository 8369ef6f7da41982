#include "math/distance.hpp"

#include <algorithm>

#include "math/rows.hpp"
#include "support/error.hpp"

namespace attn {

Matrix squared_distances(const Matrix& a, const Matrix& b) {
  if (a.shape().columns != b.shape().columns) {
    fail("the rows of a {} and a {} matrix cannot be compared: both must have the same number of columns",
         to_string(a.shape()), to_string(b.shape()));
  }
  const auto [rows, size] = a.shape();
  const std::size_t others = b.shape().rows;
  constexpr std::size_t block = 256;  // what is read for one row of `a` stays in the cache for the next
  const Matrix columns = transposed(b);
  Matrix result({rows, others}, 0.0);
  for (std::size_t begin = 0; begin < others; begin += block) {
    const std::size_t count = std::min(block, others - begin);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::span<double> sums = row(result, i).subspan(begin, count);
      for (std::size_t c = 0; c < size; ++c) {
        add_squared_differences(sums, a(i, c), row(columns, c).subspan(begin, count));
      }
    }
  }
  return result;
}

}  // namespace attn
