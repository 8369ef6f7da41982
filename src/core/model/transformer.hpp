#pragma once

#include "core/model/dropout.hpp"
#include "core/model/input.hpp"
#include "core/model/schema.hpp"

namespace attn {

/// How the layers of a Transformer compute.
struct LayerRecipe {
  const ModelRecipe& model;
  HeadCounts heads;
  Dropout* dropout = nullptr;  // in training; null: none
  bool is_local = false;       // the layer has the window of the model
};

/// What one attention of a layer looks at, beside its parameters.
struct AttentionInputs {
  std::optional<Value> allowed = {};  // 0 where a query may not attend       [n_q, n_k]
  std::optional<Value> bias = {};     // added to the scaled scores           [n_q or 1, n_k]
  QueryKeyPositions apart = {};       // where queries and keys stand
  std::vector<Value> relative = {};   // of each head, added to the scaled scores; empty: nothing
};

/// What is looked at: the keys and values of one attention.
struct KeysAndValues {
  Value k;  // [n, h_k·d_k]
  Value v;  // [n, h_k·d_k]
};

/// The keys and values of some words: `k` and `v`. Where all numbers of the keys are normalized together, the keys are
/// `k_norm.output`.  [n, d_model] -> [n, h_k·d_k] twice.  (OLMo Team 2024, 2 OLMo 2 Furious, section 3.2)
KeysAndValues keys_and_values_of(const Value& x, const ParameterNodes& attention, const LayerRecipe& recipe);

/// `before` and then `more`, as the cache of a decoder grows.
KeysAndValues joined(const KeysAndValues& before, const KeysAndValues& more);

/// The normalization of a scope, `norm_1.output`.  [n, d_model] -> [n, d_model].
Value normalized_within(const ScopeName& scope, const Value& x, const ParameterNodes& learned,
                        const ModelRecipe& recipe);

/// The normalization of queries or keys in the scope of its own. Throws InputError as the kind of norm does.
/// [n, d] -> [n, d].
Value normalized_in(const ScopeKind& scope, const Value& x, const Value& gamma, const ModelRecipe& recipe);

/// A bound of scores or of logits, as formulas have it.
Scalar bound_of(double number);

/// Self-attention and feed-forward, each with residual connection and normalization: `self_attention.output`,
/// `sum_1`, `norm_1.output`, `feed_forward.output`, `sum_2`, `norm_2.output`.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value encoder_layer(const Value& x, const ParameterNodes& layer, const LayerRecipe& recipe,
                    const AttentionInputs& looking);

/// What a decoder layer remembers of earlier words, and of what was encoded.
struct DecoderCache {
  std::optional<KeysAndValues> self;
  std::optional<KeysAndValues> cross;
};

/// What the words of a decoder look at: earlier and present ones, and what was encoded.
struct DecoderAttentionInputs {
  AttentionInputs self, cross;
  AttentionInputs local = {};  // in place of `self`, in layers with a window
};

/// Masked self-attention, attention to `encoded` where the layer has it, and feed-forward. Keys and values of
/// earlier words are taken from `remembered`, and those of x are added to it.
/// [n, d_model] -> [n, d_model].
/// (Vaswani et al. 2017, section 3.1; Zhang et al., Dive into Deep Learning, 11.7)
Value decoder_layer(const Value& x, const ParameterNodes& layer, const LayerRecipe& recipe,
                    const DecoderAttentionInputs& looking, const std::optional<Value>& encoded,
                    DecoderCache& remembered);

/// A Transformer: its recipe, its sizes and its parameters.
struct Transformer {
  std::string title = {};
  std::string summary = {};
  std::vector<std::string> about = {};
  const ModelKind* kind = nullptr;
  ModelRecipe recipe = {};
  TransformerSizes sizes = {};
  ModelParameters parameters = {};
  Vocabulary source_vocabulary = {};  // as many words as there are embeddings
  Vocabulary target_vocabulary = {};

  /// Its own: what a decoder looks at may have been encoded elsewhere.
  bool has_encoder() const { return kind->encodes && sizes.encoder_layers > 0; }
  /// How many words may go in where so many positions were learned; nothing: any number.
  std::optional<std::size_t> most_words(std::size_t places) const;
  /// Whether the words of an encoder are patches of an image, given as vectors behind a class token of its own.
  bool has_class_token() const;
};

/// The parameters that a model has, in the order of the computation; as long as it has none, those that it is
/// to have.
std::vector<ParameterRow> parameters_of(const Transformer& model);

/// What a mask of a running model follows from: "the causal order and the padding".
std::string mask_source(const Node& mask);

/// Whether a mask of such a model leaves out keys that stand before the window: that of the local layers, or of all
/// layers where all are local.
bool has_window(const Node& mask, const ModelRecipe& recipe);

/// A Transformer in a graph, ready to be run on words. One sentence is a batch of one: several are computed
/// side by side, each as if it were alone.
class RunningTransformer {
 public:
  /// Its parameters become inputs of the graph, or placeholders in one that never evaluates. The graph has no
  /// open scope, and the model outlives it; so does the dropout of what each sub-layer gives and of the vectors
  /// with their positions, where there is one.
  RunningTransformer(const Transformer& model, Graph& graph, Dropout* dropout = nullptr);

  /// The encoder: `source.x` … `encoder.N.norm_2.output`, and `encoder.output`.  -> [n, d_model].
  /// (Vaswani et al. 2017, section 3: (x_1 … x_n) → z)
  Value encode(const ModelInput& source);

  /// The decoder on words that follow those it was given before, whose keys and values it remembers:
  /// `target.x` … `decoder.output`. `encoded` is nothing for a model that has no encoder.  -> [n, d_model].
  Value decode(const ModelInput& target, const std::optional<Value>& encoded);

  /// The output layer, or the transposed embedding: `logits`, a row for each word, whose softmax is the
  /// distribution of the next one; without a decoder, of the one that comes out for it.
  /// [n, d_model] -> [n, vocabulary].
  Value logits(const Value& last);

  /// How many words of a sentence the decoder remembers.
  std::size_t remembered() const { return words_before_; }
  /// Forgets them; what was encoded stays.
  void forget();

  bool has_output() const;

  /// Put other words in place of those that were encoded, or decoded last: as many, in as many sentences.
  /// What is computed again is theirs. Where there is padding now, there was some before.
  void exchange_source(const ModelInput& words) { source_words_.exchange(words); }
  void exchange_target(const ModelInput& words);

 private:
  struct Side;
  static const Side source_side, target_side;
  Value vectors_of(const Side& side, const ModelInput& words, const LiveWords& live, const RowPositions& positions);
  Value embedded(const Side& side, const ModelInput& words, const LiveWords& live);
  Value patches_of(const Side& side, const ModelInput& words);
  std::vector<Value> relative_of(const ScopeKind& side, const Frame& scores, const QueryKeyPositions& apart) const;
  Value transformed(const Value& last) const;
  Value uncapped_logits(const Value& last) const;
  Value finish(const ScopeKind& side, const Value& x);
  Name tied_embedding() const;
  bool any_local(bool is_local) const;
  DecoderAttentionInputs decoder_looking(const ModelInput& target, const QueryKeyPositions& apart,
                                         const std::optional<Value>& encoded) const;

  const Transformer& model_;
  Graph& graph_;
  ParameterNodes learned_;
  LayerRecipe recipe_;
  std::vector<DecoderCache> memories_;
  std::size_t words_before_ = 0;    // of each sentence
  std::vector<bool> blank_before_;  // of the words before, of sentence after sentence
  std::vector<std::string> tokens_before_;
  RowPositions positions_before_;
  ModelInput source_;
  LiveWords source_words_, target_words_;
  std::shared_ptr<std::vector<bool>> target_blanks_;  // of all that the words decoded last may attend to
};

}  // namespace attn
