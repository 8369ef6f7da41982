#pragma once

#include <string>
#include <vector>

#include "model/transformer.hpp"

namespace attn {

/// Words as they go into a side of a model: their ids in its vocabulary, which has so many rows; an empty one
/// is that of the numbers from 1. Throws InputError, with the nearest word, for one that it does not have.
ModelInput input_of(const std::vector<std::string>& words, const Vocabulary& vocabulary, std::size_t rows);

}  // namespace attn
