#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/input.hpp"
#include "core/model/recurrent.hpp"
#include "core/model/schema.hpp"

namespace attn {

/// A recurrent encoder-decoder: how it computes, which words it knows, and what it has learned.
struct EncoderDecoder {
  const Recurrence* cell = nullptr;
  const AlignmentVariant* variant = nullptr;
  Vocabulary source_words;                 // <end> is among them
  Vocabulary target_words;                 // <start> and <end> are among them
  std::vector<std::string> features = {};  // names of the numbers of a state; may be empty
  std::size_t source_size = 0;             // numbers in the embedding of a source word
  std::size_t target_size = 0;             // and of a target word
  std::size_t state_size = 0;              // numbers in a state of the encoder and of the decoder
  ModelParameters parameters = {};         // encoder.e, encoder.w_xh … decoder.b_o
};

/// A matrix that an encoder-decoder must have. That of a scoring function may have another shape, which is
/// then told in words.
struct ExpectedMatrix {
  const ScopeKind& part;  // the encoder or the decoder
  const Role& role;
  Frame frame;
  Initialization beginning = Initialization::map;
  std::string_view shape_in_words = {};
  std::string name = Name({part}, role).text();
};

/// All matrices that an encoder-decoder of this cell, variant, vocabularies and sizes must have, in order.
std::vector<ExpectedMatrix> expected_matrices(const EncoderDecoder& model);

/// The words of a sentence as ids, counted from 1.
using Ids = std::vector<std::size_t>;

/// The ids of words. Throws InputError with the nearest word; `whose` is "source" or "target".
Ids ids_of(const std::vector<std::string>& words, const Vocabulary& vocabulary, std::string_view whose);

/// A recurrent encoder-decoder in a graph, at work on a sentence, or on several of equal length, each as if
/// it were alone.
class RunningEncoderDecoder {
 public:
  /// Reads the source: `encoder.1.h` …, all of them as `h`, and `decoder.0.state`. Where there is padding, no
  /// output attends to it, and the last state is that of the last word. The graph has no open scope, and the
  /// model outlives this.
  RunningEncoderDecoder(const EncoderDecoder& model, const ModelInput& source, Graph& graph);

  /// What the encoder has read at the end of each sentence.  [sentences, state_size]
  const Value& last_state() const { return last_state_; }
  /// The next output after these words, one of each sentence: `decoder.1.query` … `decoder.1.logits`.
  /// -> [sentences, target words].
  Value step(const Ids& previous, Axis output);
  /// `decoder.1.distribution` of the logits of the last step, in its scope.
  Value distribution(const Value& logits);

  /// Put others in place of the words that were read, and of those that step t (from 1) was given. What is
  /// computed again is theirs. Where there is padding now, there was some before.
  void exchange_source(const ModelInput& source);
  void exchange_previous(std::size_t t, const Ids& previous);

 private:
  std::vector<Value> encode(const ModelInput& source);
  Value last_of(const ModelInput& source);
  Value first_state();

  const EncoderDecoder& model_;
  Graph& graph_;
  std::size_t sentences_;
  LiveWords source_words_;
  LiveWords last_words_;  // the places of the last words among all; without padding none
  std::vector<LiveWords> previous_words_;
  std::map<const ScopeKind*, Parameters> learned_;  // by part
  std::vector<Value> states_;
  Value last_state_;
  Value state_;
  DecoderStep::Parts parts_;
  const NamedScope* place_ = nullptr;  // of the last step
};

/// Teacher forcing: every step of the decoder is given the right word before it. `encoder.1.h` …, all of them
/// as `h`; `decoder.0.state`, and for every word of the target `decoder.1.query` … `decoder.1.distribution`;
/// the weights of all steps as `alignment` [outputs, inputs], except for the variant none.  (Bahdanau et al.
/// 2014; Zhang et al., Dive into Deep Learning, 11.4; Stenzel 2023, Transformer Pt. 1)
void add_computation(const EncoderDecoder& model, const Ids& source, const Ids& target, Graph& graph);

/// The distributions of all steps under teacher forcing, without a graph.  [outputs, target words].
Matrix distributions(const EncoderDecoder& model, const Ids& source, const Ids& target);

/// What the encoder has read at the end of a sentence: its last state.  [1, state_size].
Matrix last_state(const EncoderDecoder& model, const Ids& source);

/// Greedy decoding: every step takes the most probable word and is given it in the next one, until <end> or
/// until `most` words.
Ids translate(const EncoderDecoder& model, const Ids& source, std::size_t most);

/// A sentence and its correct translation, both closed by <end>.
struct ReferenceTranslation {
  Ids source, target;
};

/// What a model wrote in place of a correct translation.
struct WrongTranslation {
  const ReferenceTranslation* sentence = nullptr;  // null: nothing is wrong
  Ids written = {};
};

/// How well encoder-decoders translate the sentences of one length.
struct LengthScore {
  std::size_t words = 0;  // of a source, without <end>
  std::size_t sentences = 0;
  std::vector<std::size_t> correct;           // for each model, translations that are correct as a whole
  std::vector<WrongTranslation> first_wrong;  // for each model
  std::vector<double> right_words;            // for each model, the average share of words that stand where they should
};

/// Greedy translations of all sentences by all models, compared with the correct ones, by length.
std::vector<LengthScore> scores_by_length(const std::vector<EncoderDecoder>& models,
                                          const std::vector<ReferenceTranslation>& known);

/// The first of the shortest sentences that a model, counted from 0, translates wrongly.
WrongTranslation shortest_wrong(const std::vector<LengthScore>& scores, std::size_t model);

/// A greedy translation, which may be a little longer than the correct one.
Ids translation_beside(const EncoderDecoder& model, const ReferenceTranslation& known);

/// How near the encoder's last states of two sentences of this length with different translations come: the
/// least, over all pairs, of the largest difference of a number. Infinity where there is no such pair.
double nearest_last_states(const EncoderDecoder& model, const std::vector<ReferenceTranslation>& known,
                           std::size_t words);

/// What every output still depends on: each source word in turn is replaced by another one.
struct SourceInfluence {
  Ids replacements;  // for each source word, the other word whose embedding is nearest
  Matrix moved;      // how far an output's distribution moves: ½ Σ|p − p'|, 0 to 1  [outputs, inputs]
};

/// Measures it under teacher forcing. The vocabulary has at least two words besides <end>, or the word stays.
SourceInfluence source_influence(const EncoderDecoder& model, const Ids& source, const Ids& target);

}  // namespace attn
