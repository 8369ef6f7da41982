#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/math/precision.hpp"

namespace attn {

/// What is known of a type of numbers. How far two of them may be apart that should be the same is a part of the
/// largest number of their matrix: they were computed in many steps, each of which rounds. PyTorch's
/// torch.testing.assert_close has similar parts.
struct NumberType {
  Precision precision;
  std::string_view name;
  double part;         // of the largest number
  double least;        // what this is of 1
  double noise;        // what a short computation loses, in parts of the largest number: decimals below it say nothing
  int bits;            // of a number, with the one that is not stored
  int least_exponent;  // below which there are fewer

  /// How far its numbers are apart there.
  double step_at(double x) const;
};
/// Of `written` it is float64's.
const NumberType& number_type(Precision precision);

/// A number as a type holds it: the nearest that has its bits, infinite where it is too large. `written` holds what
/// float64 does.
double rounded_to(Precision type, double x);

/// Which numbers count as the same. By default only those that are; NaN is the same as NaN.
class Rounding {
 public:
  Rounding() = default;
  /// Numbers that differ by no more than a part of the larger of them, or of `least` where both are smaller.
  static Rounding to_part(double part, double least = 1.0);
  /// Numbers of a type: they are compared by the largest number of their matrix, or by `largest` if that is smaller.
  static Rounding of_type(Precision type, double largest = std::numeric_limits<double>::infinity());
  /// Numbers that were computed in a type and may be apart by so much.
  static Rounding of_computation(Precision type, double apart);
  /// The first of two numbers was rounded to so many decimals, and has no more digits than these. The largest number
  /// is `largest`.
  static Rounding to_decimals(int decimals, std::optional<int> digits = std::nullopt,
                              double largest = std::numeric_limits<double>::infinity());
  /// The same where both numbers were rounded: they may be a whole unit of the last decimal apart.
  Rounding of_both() const;

  /// How far two numbers may be apart, in a matrix whose largest number is `largest`. It is never more than told()
  /// says.
  double most_apart(double one, double other, double largest) const;
  /// Whether they count as the same.
  bool same(double one, double other, double largest = 0.0) const;
  /// "to 4 decimals", "to 6 decimals and at most 5 significant digits", "as float32"
  std::string told() const;
  /// The largest number that counts; infinite where it is not known.
  double largest() const { return largest_; }
  /// Whether the largest number of a matrix says how far two numbers may be apart.
  bool goes_by_largest() const { return type_.has_value(); }
  /// The decimals at which it compares; nothing where it does not.
  std::optional<int> decimals() const { return decimals_; }
  /// Lets numbers be further apart by as much, because they were computed from inputs that were rounded to as many
  /// decimals.
  void allow_more(double by, int decimals_of_inputs);
  /// Whether it lets them.
  bool has_more() const { return more_ > 0.0; }
  /// The last decimal or digit of such a number; only where it compares at decimals.
  double unit_of(double number) const;

 private:
  std::optional<Precision> type_;
  std::optional<int> decimals_, digits_;  // the most that a number is written with
  double part_ = 0.0, least_ = 1.0;       // where there is neither a type nor decimals
  std::optional<double> computed_apart_;  // that numbers may be which were computed in the type
  double units_ = 0.5;                    // of the last decimal, that two numbers may be apart
  double largest_ = std::numeric_limits<double>::infinity();
  double more_ = 0.0;  // what rounded inputs leave open
  int decimals_of_inputs_ = 0;
};

}  // namespace attn
