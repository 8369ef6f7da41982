#pragma once

#include <cstddef>
#include <cstdint>
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

/// The generator of a seed and a name: `init_by_array` of Matsumoto and Nishimura, with the seed and then each byte of
/// the name in UTF-8 as its key. numpy.random.RandomState([seed, *name.encode()]) is in the same state.
Generator generator_of(std::uint32_t seed, std::string_view name);

/// A random matrix that is asked for. Rows that have labels, such as words, are each drawn by its own label; otherwise
/// columns that have some are.
struct RandomMatrix {
  std::string_view name;  // in full, such as encoder.1.self_attention.w_q: nothing else is drawn for this name
  Shape shape;
  std::span<const std::string> row_labels = {}, column_labels = {};  // as many as there are, or none
};

/// How the numbers of a matrix were drawn, row after row: each is from + (to − from)⋅u, with the next u of uniform().
/// Where there are labels, each row or column has the generator of `name[label]`, and otherwise all have one.
struct DrawnFrom {
  std::uint32_t seed = 0;
  std::string name = {};   // whose generator it is; empty: that of the seed alone
  std::size_t before = 0;  // how many numbers were drawn from this generator before
  double from = 0.0, to = 1.0;
  std::vector<std::string> labels = {};  // of what was drawn
  bool by_column = false;                // the labels are those of columns
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

/// What decides the numbers of a matrix beside the seed.
enum class DrawnBy {
  name,  // its own, whatever else is drawn
  order  // what was drawn before: all numbers come from one generator
};

/// Between which numbers a matrix lies.
struct Spread {
  double from, to;
};

/// A generator by name.
struct RandomKind {
  std::string_view name;
  std::string_view summary;
  DrawnBy drawn_by;
  Spread (*of_vectors)(Shape shape);
  Spread (*of_maps)(Shape shape);
};

/// Unit-variance vectors and Glorot-uniform parameters.
Spread unit_variance(Shape shape);
Spread glorot(Shape shape);
Spread from_zero_to_one(Shape shape);

namespace random_kind {
inline constexpr RandomKind by_name{"attn",
                                    "from the seed and each name: vectors of variance 1, Glorot-uniform parameters",
                                    DrawnBy::name, unit_variance, glorot};
inline constexpr RandomKind numpy{"numpy", "NumPy's legacy generator: numpy.random.seed(SEED), then numpy.random.rand",
                                  DrawnBy::order, from_zero_to_one, from_zero_to_one};
/// What trainings begin with, and nothing else: models are stored that were trained from these numbers, and what is
/// said of a hundred seeds was measured with them. Of these models `attn train` must make the same bits.
inline constexpr RandomKind first_parameters{"", "", DrawnBy::order, unit_variance, glorot};
}  // namespace random_kind

/// Those that a reader can choose: attn, and numpy, bit for bit that of NumPy.
std::span<const RandomKind> random_kinds();

/// Where random matrices come from. The same seed means the same numbers on every machine: only
/// operations that are rounded alike everywhere (add, multiply, square root) lie between the generator's
/// bits and the cell.
class RandomSource {
 public:
  RandomSource(const RandomKind& kind, std::uint32_t seed) : kind_(kind), seed_(seed), in_order_(seed) {}
  /// Vectors, such as those of words, one per row.  [n, d]
  Matrix vectors(const RandomMatrix& asked) { return draw(asked, kind_.of_vectors(asked.shape)); }
  /// A linear map.  [in, out]
  Matrix parameter(const RandomMatrix& asked) { return draw(asked, kind_.of_maps(asked.shape)); }
  /// All that was drawn so far.
  const DrawnMatrices& drawings() const { return drawings_; }

 private:
  Matrix draw(const RandomMatrix& asked, Spread spread);

  RandomKind kind_;
  std::uint32_t seed_;
  Generator in_order_;
  std::size_t count_ = 0;  // of numbers in order
  DrawnMatrices drawings_;
};

}  // namespace attn
