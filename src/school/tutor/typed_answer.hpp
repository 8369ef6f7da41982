#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "school/tutor/judge.hpp"
#include "school/tutor/question.hpp"

namespace attn {

/// An answer as somebody typed it.
struct TypedAnswer {
  Quantity quantity;
  std::optional<int> decimals = {};     // of a number that is written out: 2 of "0.88", and also of "88 %"
  bool is_per_cent = false;             // whether it was typed with the sign
  std::vector<std::string> words = {};  // those of the row that is asked about in a longer answer
};

/// Reads an answer to a question in any usual writing; nothing where it is not of the kind that is asked for.
/// Throws InputError where a number can be read in two ways.
std::optional<TypedAnswer> read_answer(std::string_view typed, const SolvedQuestion& solved);

/// Whether a number is whole, and small enough for its digits to say so.
bool is_whole(double number);

/// The numbers of a list or a shape, such as "(2, 0.5)" or "2x4"; none: it is something else.
std::vector<double> numbers_typed(std::string_view typed);

/// How far a number may lie from a typed one that is this number, rounded as it was typed.
double precision_of(const TypedAnswer& typed);

// What the digits of a typed number tell: which numbers it can be, and how near it is to the correct one.

/// Whether it is rounded too far, cut off, near, and how it compares with the correct one in size.
Evidence evidence_of_digits(const SolvedQuestion& solved, const TypedAnswer& typed);

/// How many decimals the correct answer needs, not to be rounded too far.
int decimals_wanted(const SolvedQuestion& solved);

/// Whether a number is a typed one, rounded as that was typed, and is told by it: what was rounded away is at
/// most so much of its size, or next to nothing.
bool tells(const TypedAnswer& typed, double number, double closeness);

}  // namespace attn
