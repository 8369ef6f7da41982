#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "core/math/random.hpp"
#include "core/model/transformer.hpp"

namespace attn {

/// How the next word is chosen from its distribution. Without a generator it is the most probable one.
struct Sampling {
  double temperature = 1.0;  // the logits are divided by it
  std::size_t top_k = 0;     // only so many words; 0: all
  double top_p = 1.0;        // only the most probable words that together have this much
  std::optional<Generator> generator = {};

  /// Whether some words are left out.
  bool limits() const { return top_k != 0 || top_p < 1.0; }
  /// Whether the model's own distribution is what is chosen from.
  bool is_plain() const { return temperature == 1.0 && !limits(); }
};

/// Whether keys and values of earlier words are remembered, or all words go in again at every step.
enum class Cache { kept, none };

/// One step of generation, for the ledger.
struct GenerationStep {
  std::vector<std::size_t> went_in;    // ids
  std::size_t remembered = 0;          // words whose keys and values came from the cache
  std::uint64_t multiply_adds = 0;     // of this step
  const Node* distribution = nullptr;  // [1, vocabulary], what the word was chosen from
  std::size_t chosen = 0;              // id
};

/// What a model is asked to write.
struct GenerationTask {
  ModelInput prompt;                   // what the decoder is given first
  std::size_t steps = 1;               // at most
  std::vector<std::size_t> ends = {};  // the ids that end it
  Cache cache = Cache::kept;
  /// Is told of the steps so far after each word; empty: nobody is.
  std::function<void(const std::vector<GenerationStep>& steps)> tell = {};

  bool ends_with(std::size_t id) const { return std::ranges::find(ends, id) != ends.end(); }
};

/// A prompt and what was written behind it, by ids from 1.
ModelInput with_words(ModelInput prompt, const std::vector<std::size_t>& written, const Vocabulary& vocabulary);

/// Lets a model write one word after another, each in the scope `step.1` …; what was encoded goes into every
/// step. (Vaswani et al. 2017, section 3: auto-regressive.) Throws InputError when the model has no output
/// layer.
std::vector<GenerationStep> generate(RunningTransformer& model, Graph& graph, const GenerationTask& task,
                                     const std::optional<Value>& encoded, Sampling sampling);

/// A text that beam search keeps: what was written after the prompt.
struct Beam {
  std::vector<std::size_t> words = {};  // ids
  double log_probability = 0.0;         // the sum of the logarithms of the words' probabilities
  bool has_ended = false;
};

/// One step of beam search: the most probable texts, which all texts of the step before and their next words
/// give, the most probable first.
struct BeamStep {
  std::vector<Beam> kept;
  std::uint64_t multiply_adds = 0;              // of this step
  std::vector<const Node*> distributions = {};  // [1, vocabulary], of each text that went on
};

/// Lets a model write several texts side by side: of all texts with one more word, the `beams` most probable
/// are kept. A text that has ended stays among them, and takes no more words. The search ends with the steps,
/// or when the most probable text has ended: a text only becomes less probable with each word. Texts that go
/// on are computed in the scopes `step.1.1`, `step.1.2` …, without a cache.
/// (Graves 2012, Sequence Transduction with Recurrent Neural Networks, section 2.4; Sutskever et al. 2014,
/// Sequence to Sequence Learning with Neural Networks, section 3.2; no normalization by length)
/// Throws InputError when the model has no output layer.
std::vector<BeamStep> beam_search(RunningTransformer& model, Graph& graph, const GenerationTask& task,
                                  const std::optional<Value>& encoded, std::size_t beams);

}  // namespace attn
