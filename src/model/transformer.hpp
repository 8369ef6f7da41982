#pragma once

#include "model/transformer_layers.hpp"
#include "model/vocabulary.hpp"

namespace attn {

/// A Transformer: its recipe, its sizes and its parameters.
struct Transformer {
  std::string title;
  std::string summary;
  std::vector<std::string> about;
  const ModelKind* kind = nullptr;
  ModelRecipe recipe;
  TransformerSizes sizes;
  ModelParameters parameters;
  Vocabulary source_vocabulary;  // empty: words are numbers from 1
  Vocabulary target_vocabulary;

  /// Its own: what a decoder looks at may have been encoded elsewhere.
  bool has_encoder() const { return kind->encodes && sizes.encoder_layers > 0; }
  /// How many words may go in where so many positions were learned; nothing: any number.
  std::optional<std::size_t> most_words(std::size_t places) const;
};

/// The parameters that a model has, in the order of the computation; as long as it has none, those that it is
/// to have.
std::vector<ParameterRow> parameters_of(const Transformer& model);

/// What the queries of some words may attend to, as it was given.
struct WordMask {
  std::optional<Matrix> allowed = {};           // 1 and 0 for may and may not   [n_q or 1, n_k]
  std::optional<Matrix> bias = {};              // added to the scaled scores    [n_q or 1, n_k]
  std::vector<std::size_t> valid_lengths = {};  // of the keys: one, or one for each query; empty: all

  bool any() const { return allowed || bias || !valid_lengths.empty(); }
};

/// What a mask of a running model follows from: "the causal order and the padding".
std::string mask_source(const Node& mask);

/// Words as they go into a model: their ids, or their vectors.
struct ModelInput {
  std::vector<std::string> tokens = {};  // labels; empty: none
  std::vector<std::size_t> ids = {};     // from 1
  std::optional<Matrix> x = {};          // [n, d_model], in place of ids
  std::vector<bool> blank = {};          // one for each word: true where it stands for no word
  WordMask mask = {};                    // for the attention to the words themselves
  WordMask memory_mask = {};             // for that to what was encoded

  std::size_t size() const { return x ? x->shape().rows : ids.size(); }
  bool has_blanks() const;
};

/// A Transformer in a graph, ready to be run on words.
class RunningTransformer {
 public:
  /// Its parameters become inputs of the graph, or placeholders in one that never evaluates. The graph has no
  /// open scope, and the model outlives it.
  RunningTransformer(const Transformer& model, Graph& graph);

  /// The encoder: `source.x` … `encoder.N.norm_2.output`, and `encoder.output`.  -> [n, d_model].
  /// (Vaswani et al. 2017, section 3: (x_1 … x_n) → z)
  Value encode(const ModelInput& source);

  /// The decoder on words that follow those it was given before, whose keys and values it remembers:
  /// `target.x` … `decoder.output`. `encoded` is nothing for a model that has no encoder.  -> [n, d_model].
  Value decode(const ModelInput& target, const std::optional<Value>& encoded);

  /// The output layer, or the transposed embedding: `logits`, a row for each word, whose softmax is the
  /// distribution of the next one.
  /// [n, d_model] -> [n, vocabulary].
  Value logits(const Value& decoded);

  /// How many words the decoder remembers.
  std::size_t remembered() const { return words_before_; }
  /// Forgets them; what was encoded stays.
  void forget();

  bool has_output() const;

 private:
  struct Side;
  static const Side source_side, target_side;
  Value vectors_of(const Side& side, const ModelInput& words);
  Value finish(const ScopeKind& side, const Value& x);
  DecoderLooking decoder_looking(const ModelInput& target, const std::optional<Value>& encoded) const;

  const Transformer& model_;
  Graph& graph_;
  Learned learned_;
  LayerRecipe recipe_;
  std::vector<DecoderMemory> memories_;
  std::size_t words_before_ = 0;
  std::vector<bool> blank_before_;  // of the words before
  std::vector<std::string> tokens_before_;
  ModelInput source_;
};

}  // namespace attn
