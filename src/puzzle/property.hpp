#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// How two quantities are compared.
struct Relation {
  std::array<std::string_view, 2> signs;  // "≥", ">="
  std::string_view words;                 // "at least"
  bool (*holds)(double value, double bound, double tolerance);
  bool is_equality = false;  // only this one also compares words and shapes, and may have a tolerance
};

/// The places that a variable stands for: `i = 2..n_q`. Both ends are expressions.
struct PlaceRange {
  std::string variable, first, last;
};

/// What the numbers of a computation are to have: `weights[i,i-1] >= 0.9 for i = 2..n_q`. It compares two
/// quantities (quantity/quantity.hpp), once for all places of its ranges.
struct Property {
  std::string text;  // as its author wrote it
  std::string left, right;
  const Relation* relation = nullptr;
  double tolerance = 0.0;  // of an equality between numbers
  std::vector<PlaceRange> ranges;
};

/// Reads `LEFT SIGN RIGHT [± TOLERANCE] [for i = FIRST..LAST, …]`. The signs are ≥ >= ≤ <= > < =, and the
/// tolerance of an equality is 0.01 where none is given. Throws InputError.
Property read_property(std::string_view text);

}  // namespace attn
