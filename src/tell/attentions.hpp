#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace attn {

/// One attention of a computation: the weights of its heads, queries as rows and keys as columns.
struct Attention {
  const NamedScope* place;  // around the heads; null: no scope
  std::vector<const Node*> heads;
};

/// The nodes that are the weights of an attention, and match the pattern where there is one. Those of a
/// recurrent decoder, which has a query at each step, are one matrix for all steps. Throws InputError where
/// there are none.
std::vector<const Node*> attention_weights(const Graph& graph, const std::optional<std::string>& pattern);

/// The same weights, by attention.
std::vector<Attention> attentions_of(const Graph& graph, const std::optional<std::string>& pattern);

/// "head 2", or of an attention without heads its name: "weights".
std::string head_title(const Node& weights);

/// The scores behind weights, whose cells are −∞ where a key is masked; null where nothing says.
std::shared_ptr<const Matrix> masks_behind(const Node& weights);

/// Whether row i and column i are the same word or position: not in cross-attention.
bool is_of_same_words(const Node& weights);

}  // namespace attn
