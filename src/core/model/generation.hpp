#pragma once

#include <optional>

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
  ModelInput prompt;      // what the decoder is given first
  std::size_t steps = 1;  // at most
  std::size_t end = 0;    // the id that ends it; 0: none
  Cache cache = Cache::kept;
};

/// Lets a model write one word after another, each in the scope `step.1` …; what was encoded goes into every
/// step. (Vaswani et al. 2017, section 3: auto-regressive.) Throws InputError when the model has no output
/// layer.
std::vector<GenerationStep> generate(RunningTransformer& model, Graph& graph, const GenerationTask& task,
                                     const std::optional<Value>& encoded, Sampling sampling);

}  // namespace attn
