#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lesson/typed_answer.hpp"
#include "quantity/working.hpp"

namespace attn {

/// A typed number is made of numbers of the question and of the last steps: "This is 14 + 12." Nothing: it is
/// not.
std::optional<std::string> combined(const SolvedQuestion& solved, const Working& steps,
                                    const TypedAnswer& typed);

/// The numbers that a text has, with commas between thousands, and as words up to ten.
std::vector<double> numbers_in(std::string_view text);

/// A number with a minus sign, as sentences have it.
std::string told_number(double number);

}  // namespace attn
