#pragma once

#include <cstddef>
#include <vector>

#include "command/command.hpp"
#include "command/model/choice.hpp"
#include "core/model/generation.hpp"

namespace attn {

/// Lets a page for browsers compute with the words that were given and those that were written, as far as the model
/// takes them, all going in at once: a causal model expects after each of them what it expected when it wrote. Adds the
/// walk through them to the answer's page. Throws InputError: more numbers than such a page holds.
void show_all_words(Answer& answer, ModelChoice choice, const GenerationTask& task, std::vector<std::size_t> written);

}  // namespace attn
