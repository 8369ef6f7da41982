#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace attn {

/// The residual stream of one word, from the vector that goes in to what the output layer reads, of a model that stands
/// in a graph. All that the functions below add stands in the scope `lens`.
struct ResidualStream {
  const Node* logits = nullptr;
  const Node* summed = nullptr;           // they, or what a soft cap makes them of: products with the output layer
  std::size_t row = 0;                    // of the word
  std::vector<const Node*> after = {};    // what goes in, and what comes out of each layer   [n, d_model]
  bool is_normalized_at_end = false;      // once more, behind the last layer
  bool layers_normalize = false;          // what they have added to
  bool additions_are_normalized = false;  // what an attention gives, before it is added
};

/// Throws InputError where there is no output layer, or it does not read what comes out of the last layer.
ResidualStream residual_stream(const Node& logits, std::size_t row);

/// The words that each layer would name: the final normalization, where there is one, and the output layer on `stream`,
/// a row for what goes in and for each layer: `logits`, `distribution`.  -> [N + 1, vocabulary].
/// (nostalgebraist 2020)
Value logit_lens(const ResidualStream& stream);

/// Who added a row of `parts` to the residual stream.
struct ResidualContribution {
  enum class Kind { vector, head, bias, feed_forward, norm, output, rest };

  Kind kind = Kind::rest;
  std::string name;            // "2.head.3"
  std::size_t layer = 0;       // 0: none
  std::size_t head = 0;        // from 1; 0: none
  bool crosses = false;        // the attention is that to another sentence
  const Node* from = nullptr;  // the matrix whose row it is; of a head, its output
};

/// What each head, each feed-forward layer and the vector that goes in add to the logit of one word: their rows are
/// `parts`, and `contributions` the dot products with `direction`, the word's row of the output layer as the final
/// normalization passes it on. That divides the whole row by one number, which is taken as it is; so these are the
/// terms of a sum that is the logit, before a soft cap: `logit`. Where each layer normalizes, only what the last
/// sub-layer adds is a term of its own, and what went before it is another one.  (Elhage et al. 2021, A Mathematical
/// Framework for Transformer Circuits)
struct Attribution {
  Value contributions;                          // [additions, 1]
  Value logit;                                  // [1, 1]
  std::vector<ResidualContribution> additions;  // of each row
};
Attribution logit_attribution(const ResidualStream& stream, std::size_t word);

}  // namespace attn
