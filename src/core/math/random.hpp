#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/math/matrix.hpp"

namespace attn {

/// std::mt19937 in words of 32 bits, which processors work on several at a time; the library's own words
/// have 64.
using Generator = std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7,
                                               0x9d2c5680, 15, 0xefc60000, 18, 1812433253>;

/// The next number in [0, 1) with 53 random bits, as NumPy's RandomState.rand draws it.
double uniform(Generator& generator);

/// How the numbers of a matrix were drawn, row after row: each is from + (to − from)⋅u, with the next u of uniform().
struct DrawnFrom {
  std::uint32_t seed = 0;
  std::size_t before = 0;  // how many numbers were drawn from this seed before
  double from = 0.0, to = 1.0;
  std::vector<std::size_t> rows = {};  // which of the rows that were drawn each row is, from 1; 0: it has zeros; empty:
                                       // the rows are as they were drawn
};

/// Some matrices that were drawn, each with how. A copy of one has its cells until one of both is changed, and so is
/// known as drawn, too.
class DrawnMatrices {
 public:
  void add(const Matrix& matrix, DrawnFrom how) { all_.emplace_back(matrix, std::move(how)); }
  void add(const DrawnMatrices& others) { all_.insert(all_.end(), others.all_.begin(), others.all_.end()); }
  /// How its cells were drawn; null: they were not, or are others by now.
  const DrawnFrom* of(const Matrix& matrix) const;

 private:
  std::vector<std::pair<Matrix, DrawnFrom>> all_;
};

/// Where random matrices come from. The same seed means the same numbers on every machine: only
/// operations that are rounded alike everywhere (add, multiply, square root) lie between the generator's
/// bits and the cell.
class RandomSource {
 public:
  explicit RandomSource(std::uint32_t seed) : seed_(seed), generator_(seed) {}
  virtual ~RandomSource() = default;
  /// Vectors of words, one per row.  [n, d]
  virtual Matrix embeddings(Shape shape) = 0;
  /// A linear map.  [in, out]
  virtual Matrix parameter(Shape shape) = 0;
  /// All that was drawn so far.
  const DrawnMatrices& drawings() const { return drawings_; }

 protected:
  Matrix draw(Shape shape, double from, double to);

 private:
  std::uint32_t seed_;
  Generator generator_;
  std::size_t count_ = 0;  // of numbers
  DrawnMatrices drawings_;
};

/// A generator by name: `make` takes the seed.
struct RandomKind {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<RandomSource> (*make)(std::uint32_t seed);
};

/// attn: unit-variance embeddings and Glorot-uniform parameters. numpy: NumPy's legacy `rand`, bit for bit.
std::span<const RandomKind> random_kinds();

}  // namespace attn
