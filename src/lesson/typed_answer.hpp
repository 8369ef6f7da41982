#pragma once

#include <optional>
#include <string_view>

#include "lesson/answer.hpp"

namespace attn {

/// An answer as somebody typed it.
struct TypedAnswer {
  Quantity quantity;
  std::optional<int> decimals = {};  // of a number that is written out: 2 of "0.88", and also of "88 %"
};

/// Reads an answer to a question in any usual writing; nothing where it is not of the kind that is asked for.
/// Throws InputError where a number can be read in two ways.
std::optional<TypedAnswer> read_answer(std::string_view typed, const SolvedQuestion& solved);

/// How many numbers a list or a shape has, such as "(2, 0.5)" or "2x4"; 0: it is something else.
std::size_t count_of_numbers(std::string_view typed);

/// How far a number may lie from a typed one that is this number, rounded as it was typed.
double precision_of(const TypedAnswer& typed);

}  // namespace attn
