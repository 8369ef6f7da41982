#pragma once

#include "page/page.hpp"

namespace attn {

/// The numbers that a drawing spans, and where a number lies between them.
class ValueRange {
 public:
  explicit ValueRange(Spacing spacing = Spacing::even) : spacing_(spacing) {}

  /// Whether the number has a place: it is finite and, on a logarithmic axis, positive.
  bool holds(double value) const;
  /// Takes a number in; one without a place is passed over.
  void include(double value);
  bool is_empty() const { return least_ > most_; }
  bool is_constant() const { return least_ == most_; }

  /// Where a number lies, from 0 to 1; ½ where all are the same.
  double share(double value) const;
  /// The number at a share; 0 where it is next to nothing beside the others.
  double at(double share) const;

 private:
  double place(double value) const;

  Spacing spacing_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

}  // namespace attn
