#pragma once

#include "model/encoder_decoder.hpp"

namespace attn {

/// What every output still depends on: each source word in turn is replaced by another one.
struct Influence {
  Ids replacements;  // for each source word, the other word whose embedding is nearest
  Matrix moved;      // how far an output's distribution moves: ½ Σ|p − p'|, 0 to 1  [outputs, inputs]
};

/// Measures it under teacher forcing. The vocabulary has at least two words besides <end>, or the word stays.
Influence influence(const EncoderDecoder& model, const Ids& source, const Ids& target);

}  // namespace attn
