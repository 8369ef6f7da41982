#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"
#include "core/graph/name.hpp"

namespace attn {

/// A place in a layer of a model, as people name it: "layers.0.attn_weights", "encoder.layers.1.self_attn.q",
/// "h.0.ln_1", "norm1".
struct PlaceInModel {
  const ScopeKind* side = nullptr;         // null: not said
  std::optional<std::size_t> layer = {};   // as it is written: some count from 0
  const ScopeKind* part = nullptr;         // null: not said
  std::optional<std::size_t> number = {};  // of a norm
  std::string leaf = {};                   // what is left, as a plain name; empty: the part's output
};

/// Nothing where a name says neither a layer nor a part of one.
std::optional<PlaceInModel> place_in_model(std::string_view name);

/// The place of one of the matrices that models return for each layer, as "attentions.1" and "hidden_states.1", in
/// which the number counts layers, whatever else it may count in other names. Weights count them from 0; hidden states
/// begin with the embeddings, and those of the first layer are 1. So do the residual streams of TransformerLens, as
/// "blocks.0.hook_resid_post". Nothing: the name is none of these.
std::optional<PlaceInModel> place_in_series(std::string_view name);

/// Whether a name is that of all of them in one array, "attentions" and "hidden_states": weights, or states.
enum class SeriesOfLayers { none, weights, states };
SeriesOfLayers series_named(std::string_view name);

/// Whether a node lies there. `first` is the number of the first layer, as the names count; a place without a layer
/// is in any.
bool lies_at(const Node& node, const PlaceInModel& place, std::size_t first);

}  // namespace attn
