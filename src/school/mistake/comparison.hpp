#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.hpp"
#include "data/files/cells.hpp"
#include "data/files/matrix_file.hpp"

namespace attn {

/// A number as a type holds it: the nearest that has its bits, infinite where it is too large. `written`
/// holds what float64 does.
double rounded_to(Precision type, double x);
/// "float16"
std::string_view name_of(Precision type);

/// How exactly somebody else's numbers can be compared: at the decimals that a text has, or at the type of the
/// numbers, or at the decimals that they were rounded to before they were stored in it.
class Rounding {
 public:
  Rounding() = default;
  /// `largest` is the largest of the right numbers: decimals that are finer than what the type of theirs loses of
  /// such numbers do not count. Of JSON whose numbers are 0.0 and 1.0 alone, the decimals are those beside it in its
  /// file, as decimals_in() says; below 0: it does not say.
  Rounding(const MatrixFile& theirs, double largest, int decimals_beside = -1);
  /// Numbers of 32 bits that were stored in more are told by their bits. What is written without a point is
  /// compared as float64. Digits count only where a text has them ("%e"), or where numbers that were cut at so many
  /// digits ("%g") leave out decimals that rounding at decimals would not. Without a notation, the decimals are those
  /// of the shortest decimals that read back as these numbers.
  Rounding(const Matrix& theirs, Precision precision, double largest,
           const std::optional<NumberNotation>& notation = std::nullopt);

  /// How far one of their numbers may be from the right one, in a matrix whose largest number is `largest`: half a
  /// unit of its last decimal or digit, or a part of the largest. It is never more than told() says.
  double most_apart(double theirs, double largest) const;
  /// Whether a number is the right one but for its rounding, in a matrix whose largest number is `largest`.
  bool same(double theirs, double right, double largest) const;
  /// "to 4 decimals", "to 6 decimals and at most 5 significant digits", "as float32"
  std::string told() const;
  /// The largest of the right numbers; infinite where it is not known.
  double largest() const { return largest_; }
  /// The decimals at which it compares; nothing where it compares as the type.
  std::optional<int> decimals() const { return decimals_ < 0 ? std::nullopt : std::optional(decimals_); }
  /// Lets numbers be further apart by as much, because they were computed from inputs that were rounded to as many
  /// decimals.
  void allow_more(double by, int decimals_of_inputs);

 private:
  double unit_of(double theirs) const;

  Precision precision_ = Precision::float64;
  double largest_ = std::numeric_limits<double>::infinity();
  int decimals_ = -1;  // the most that a number is written with; below 0: compared as the type
  int digits_ = -1;    // likewise; below 0: they do not count
  double more_ = 0.0;  // what rounded inputs leave open
  int decimals_of_inputs_ = 0;
};

/// The most decimals that a number in JSON has, where zeros at the end are left out; below 0: too few numbers have any,
/// or one has so many that they were not rounded.
int decimals_in(std::span<const MatrixFile> files);

/// The largest absolute value of its finite numbers.
double largest_of(const Matrix& matrix);

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
/// Whether it differs nowhere, which is known at the first cell that does.
bool agree(const Matrix& theirs, const Matrix& right, const Rounding& rounding);

/// A large negative number, or one of several, that stands in somebody's scores where the right ones are −∞: by
/// agreement, because its weight is 0. Nothing: there is none.
std::optional<double> mask_value(const Node& node, const Matrix& theirs, const Matrix& right);
/// Whether they differ in that alone.
bool differs_in_mask_value(const Node& node, const Matrix& theirs, const Matrix& right, const Rounding& rounding);

/// A matrix of somebody else, and the one of the computation that it is compared with.
struct Compared {
  std::string name;  // that it has in its file
  const Node* node;
  std::shared_ptr<const Matrix> theirs;
  Rounding rounding;
  Difference difference;  // from that of the node
};

}  // namespace attn
