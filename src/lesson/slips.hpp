#pragma once

#include <vector>

#include "lesson/diagnosis.hpp"
#include "quantity/working.hpp"

namespace attn {

/// A slip in writing the number: its sign, per cent, the decimal point, the rest instead of the part.
std::vector<Recognised> slips_of_writing(double answer, bool is_share);

/// Slips in the last steps: a number from which it is worked out, taken for the end; a term or a factor left
/// out, a fraction upside down, a function not taken. They are made with the numbers of the computation, and
/// with those that the question gives, which may be rounded.
std::vector<Recognised> slips_in(const Working& asked, const std::vector<double>& given);

/// A number that is related to the correct one: its square, its reciprocal.
std::vector<Recognised> related_numbers(double answer);

}  // namespace attn
