#pragma once

#include "command/model/choice.hpp"
#include "command/model/sentence.hpp"

namespace attn {

/// What --seed says, or 1.
std::uint32_t model_seed(const Arguments& arguments);

/// Gives the model of the choice its words or vectors, on those sides that its usual kind has. Where nobody
/// says which, and the model does not know the usual sentence, it is given the first of its own words. Throws
/// InputError: words that it does not know, vectors that do not fit, options for a side that it does not
/// have.
void take_words(ModelChoice& choice, const AskedWords& asked, const ModelUse& use);

}  // namespace attn
