#pragma once

#include "command/model/choice.hpp"
#include "model/generation.hpp"

namespace attn {

/// What the options of attn generate ask a model to write, with a remark in the choice where learned
/// positions end before that. Throws InputError: no words to go on from, no place left, more than memory
/// would hold.
GenerationTask generation_task(ModelChoice& choice, const Arguments& arguments);

/// How the words are chosen. Throws InputError for numbers that make no sense.
Sampling sampling_of(const Arguments& arguments);

/// How many words go through the model when they all go in again at every one of so many steps.
std::size_t words_without_cache(const GenerationTask& task, std::size_t steps);

}  // namespace attn
