#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/model/residual_stream.hpp"
#include "page/block/page.hpp"

namespace attn {

/// The words with the largest probabilities, at most so many: "b 73.1 %, a 26.9 %". Where more have the same one than
/// can be named, they are counted: "6 words with 16.7 % each". Those that would be shown as 0.0 % are left out; where
/// even the largest would be, they have more digits.
std::string most_probable_words(std::span<const double> probabilities, const Axis& words, std::size_t most);

/// Which words each layer would name, a line for each; with the place of `word` among them.
void add_logit_lens(Page& page, const ResidualStream& stream, const Node& distribution, std::optional<std::size_t> word,
                    std::size_t most);

/// What each part of the model adds to the logit of a word.
void add_attribution(Page& page, const ResidualStream& stream, const Attribution& attribution, std::size_t word);

}  // namespace attn
