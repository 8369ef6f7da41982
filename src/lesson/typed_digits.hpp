#pragma once

#include <optional>
#include <string>

#include "lesson/typed_answer.hpp"

namespace attn {

// What the digits of a typed number tell: which numbers it can be, and how near it is to the correct one.

/// It is the correct answer with too few digits. Nothing: it is not.
std::optional<std::string> rounded_too_far(const SolvedQuestion& solved, const TypedAnswer& typed);

/// It is the correct answer, but for its last digits: cut off, or two digits exchanged, or near. Nothing: it
/// is not.
std::optional<std::string> about_digits(const SolvedQuestion& solved, const TypedAnswer& typed);

/// How it compares with the correct answer, in size.
std::string about_size(double answer, double typed);

/// How many decimals the correct answer needs, not to be rounded too far.
int decimals_wanted(const SolvedQuestion& solved);

/// Whether it is a number such as 0, 2 or 0.5, at which one arrives in many ways.
bool says_little(const TypedAnswer& typed);

/// Whether it is a whole number of one or two digits.
bool is_small_whole(const TypedAnswer& typed);

/// Whether a number is a typed one, rounded as that was typed, and is told by it: what was rounded away is at
/// most so much of its size, or next to nothing.
bool tells(const TypedAnswer& typed, double number, double closeness);

}  // namespace attn
