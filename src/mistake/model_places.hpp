#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace attn {

/// A place in a layer of a model, as people name it: "layers.0.attn_weights", "encoder.layers.1.self_attn.q",
/// "h.0.ln_1".
struct PlaceInModel {
  const ScopeKind* side = nullptr;         // null: not said
  std::size_t layer = 0;                   // as it is written: some count from 0
  const ScopeKind* part = nullptr;         // null: not said
  std::optional<std::size_t> number = {};  // of a norm
  std::string leaf = {};                   // what is left, as a plain name; empty: the part's output
};

/// Nothing where a name says no layer.
std::optional<PlaceInModel> place_in_model(std::string_view name);

/// Whether a node lies there. `first` is the number of the first layer, as the names count.
bool lies_at(const Node& node, const PlaceInModel& place, std::size_t first);

}  // namespace attn
