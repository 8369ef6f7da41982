#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/term/term.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// What the computation says of every number that can be the answer, and the sentence for one that cannot: a
/// weight lies between 0 and 1, an average between the numbers that it is of.
struct Bound {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool is_whole = false;
  std::string says;

  bool is_broken_by(double typed) const;
};

/// The bounds of a number that is asked for, in the order in which they are told.
std::vector<Bound> bounds_of(const SolvedQuestion& solved);

/// Whether a number is asked for that is made of sizes alone: how many there are.
bool asks_for_count(const Term& asked);
/// The same where sizes are also subtracted: a place, or how many are left.
bool counts_something(const Term& asked);

}  // namespace attn
