#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "math/matrix.hpp"

namespace attn {

/// Where random matrices come from. The same seed means the same numbers on every machine: only
/// exact operations (add, multiply, square root) lie between the generator's bits and the cell.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Vectors of words, one per row.  [n, d]
  virtual Matrix embeddings(Shape shape) = 0;
  /// A linear map.  [in, out]
  virtual Matrix parameter(Shape shape) = 0;
};

/// A generator by name: `make` takes the seed.
struct RandomKind {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<RandomSource> (*make)(std::uint32_t seed);
};

/// attn: unit-variance embeddings and Glorot-uniform parameters. numpy: NumPy's legacy `rand`, bit for bit.
std::span<const RandomKind> random_kinds();

/// The next number in [0, 1) with 53 random bits, as NumPy's RandomState.rand draws it.
double uniform(std::mt19937& generator);

}  // namespace attn
