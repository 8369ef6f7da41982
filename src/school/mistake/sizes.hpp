#pragma once

#include <string>

#include "core/graph/graph.hpp"

namespace attn {

/// Whether two numbers are the same to three digits.
bool is_near(double a, double b);

/// A number with two digits, and whether another one is that to four digits, as one that a person chose: 1.5, 0.07.
double at_two_digits(double number);
bool has_two_digits(double number);

/// What a factor is of the sizes around a node, in words behind a colon: ": 1/√4, where 4 is the size of a query". All
/// sizes that it can come from are named: which one was meant, it does not say. Empty: it is of none.
std::string factor_in_words(const Node& node, double factor);

}  // namespace attn
