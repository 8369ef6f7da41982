#pragma once

#include "puzzle/misses.hpp"
#include "quantity/functions.hpp"
#include "quantity/working.hpp"

namespace attn {

/// What is said of a number that should be another one: of a weight, what its query attends to instead.
Miss miss_of_number(const Property& property, const Working& is, double value, double bound);

/// The same of a word or a shape.
Miss miss_of_words(const Working& is, const Quantity& value, const Quantity& should_be);

/// The same of a row in which two words are tied where one is asked for.
Miss miss_of_tie(const TieError& tie);

}  // namespace attn
