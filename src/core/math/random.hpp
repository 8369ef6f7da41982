#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "core/math/matrix.hpp"

namespace attn {

/// Where random matrices come from. The same seed means the same numbers on every machine: only
/// operations that are rounded alike everywhere (add, multiply, square root) lie between the generator's
/// bits and the cell.
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

/// std::mt19937 in words of 32 bits, which processors work on several at a time; the library's own words
/// have 64.
using Generator = std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7,
                                               0x9d2c5680, 15, 0xefc60000, 18, 1812433253>;

/// The next number in [0, 1) with 53 random bits, as NumPy's RandomState.rand draws it.
double uniform(Generator& generator);

}  // namespace attn
