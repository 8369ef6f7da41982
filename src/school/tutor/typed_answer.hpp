#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "school/tutor/question.hpp"

namespace attn {

/// An answer as somebody typed it.
struct TypedAnswer {
  Quantity quantity;
  std::optional<int> decimals = {};  // of a number that is written out: 2 of "0.88", and also of "88 %"
};

/// Reads an answer to a question in any usual writing; nothing where it is not of the kind that is asked for.
/// Throws InputError where a number can be read in two ways.
std::optional<TypedAnswer> read_answer(std::string_view typed, const SolvedQuestion& solved);

/// A sentence that is said only where it holds.
using MaybeSentence = std::optional<std::string>;

/// Whether a number is whole, and small enough for its digits to say so.
bool is_whole(double number);

/// How many numbers a list or a shape has, such as "(2, 0.5)" or "2x4"; 0: it is something else.
std::size_t count_of_numbers(std::string_view typed);

/// How far a number may lie from a typed one that is this number, rounded as it was typed.
double precision_of(const TypedAnswer& typed);

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
