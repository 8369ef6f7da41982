#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/files/cells.hpp"

namespace attn {

/// A number as a type holds it: the nearest that has its bits, infinite where it is too large. `written`
/// holds what float64 does.
double rounded_to(Precision type, double x);
/// "float16"
std::string_view name_of(Precision type);

/// How exactly somebody else's numbers can be compared: at the digits that a file writes, or at the type of
/// its numbers, or at the decimals that they were rounded to before they were stored in it.
class Rounding {
 public:
  Rounding() = default;
  /// Numbers of 32 bits that were stored in more are told by their bits. Written ones that are all whole are
  /// compared as float64.
  Rounding(const Matrix& theirs, Precision precision);

  /// How far a number may be from the right one, in a matrix whose largest number is `largest`.
  double most_apart(double right, double largest) const;
  /// Whether a number is the right one but for its rounding, in a matrix whose largest number is `largest`.
  bool same(double theirs, double right, double largest) const;
  /// "to 4 decimals", "as float32"
  std::string told() const;

 private:
  Precision precision_ = Precision::float64;
  int decimals_ = -1, digits_ = -1;  // the most that a number is written with; below 0: all that it has
};

/// Where a matrix differs from the right one.
struct Difference {
  bool has_other_shape = false;
  std::size_t cells = 0;                   // that differ
  std::vector<std::size_t> rows, columns;  // that have some
  double largest = 0.0;                    // difference; infinite where one of two numbers is not finite
  std::size_t row = 0, column = 0;         // of that

  bool agrees() const { return !has_other_shape && cells == 0; }
};
Difference difference(const Matrix& theirs, const Matrix& right, const Rounding& rounding);

/// A matrix of somebody else, and the one of the computation that it is compared with.
struct Compared {
  std::string name;  // that it has in its file
  const Node* node;
  std::shared_ptr<const Matrix> theirs;
  Rounding rounding;
  Difference difference;  // from that of the node
};

}  // namespace attn
