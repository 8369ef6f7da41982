#pragma once

#include <vector>

#include "model/encoder_decoder.hpp"

namespace attn {

/// A sentence and its correct translation, both closed by <end>.
struct KnownTranslation {
  Ids source, target;
};

/// What a model wrote in place of a correct translation.
struct WrongTranslation {
  const KnownTranslation* sentence = nullptr;  // null: nothing is wrong
  Ids written = {};
};

/// How well encoder-decoders translate the sentences of one length.
struct LengthScore {
  std::size_t words = 0;  // of a source, without <end>
  std::size_t sentences = 0;
  std::vector<std::size_t> correct;           // for each model, translations that are correct as a whole
  std::vector<WrongTranslation> first_wrong;  // for each model
  std::vector<double> right_words;  // for each model, the average share of words that stand where they should
};

/// Greedy translations of all sentences by all models, compared with the correct ones, by length.
std::vector<LengthScore> by_length(const std::vector<EncoderDecoder>& models,
                                   const std::vector<KnownTranslation>& known);

/// The first of the shortest sentences that a model, counted from 0, translates wrongly.
WrongTranslation shortest_wrong(const std::vector<LengthScore>& scores, std::size_t model);

/// A greedy translation, which may be a little longer than the correct one.
Ids translation_beside(const EncoderDecoder& model, const KnownTranslation& known);

/// How near the encoder's last states of two sentences of this length with different translations come: the
/// least, over all pairs, of the largest difference of a number. Infinity where there is no such pair.
double nearest_last_states(const EncoderDecoder& model, const std::vector<KnownTranslation>& known,
                           std::size_t words);

}  // namespace attn
