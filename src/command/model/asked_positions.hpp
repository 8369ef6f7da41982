#pragma once

#include "command/model/choice.hpp"

namespace attn {

/// Which side of a model the words of --text belong to.
enum class OwnSide { source, target };

/// Gives the words of a model the positions that the options ask for. Throws InputError for another number of them than
/// there are words, and for positions that the model has not learned.
void take_positions(ModelChoice& choice, OwnSide own, const Arguments& arguments);

/// How many positions a learned table needs for so many words of each side.
std::size_t positions_needed(const Arguments& arguments, OwnSide own, std::size_t source, std::size_t target);

/// The position behind the last one of some words.
std::size_t next_position(const ModelInput& words);

}  // namespace attn
