#pragma once

#include "command/command.hpp"

namespace attn {

/// The sentences that come with a recurrent encoder-decoder, translated with each variant that its file has
/// matrices for: the share of correct translations, by length. Throws InputError: there are none.
Outcome translations_by_length(const Arguments& arguments);

}  // namespace attn
