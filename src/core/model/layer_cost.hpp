#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/attention/score.hpp"
#include "core/graph/plan.hpp"
#include "core/model/layers.hpp"

namespace attn {

/// `x`, n rows of d numbers, and a layer's matrices, to compute and to count on: which numbers they hold
/// does not matter to a cost.
Value layer_input(Graph& graph, LayerSizes sizes);
Layer make_layer(Graph& graph, const LayerKind& kind, LayerSizes sizes, std::size_t place = 1);

/// One layer, built position by position and counted.
Work layer_work(const LayerKind& kind, LayerSizes sizes);

/// Multi-head self-attention on n embeddings of size d_model with all four projections, counted without being
/// computed. Throws InputError when d_model is not divisible by the number of heads.
Work heads_work(std::size_t heads, std::size_t n, std::size_t d_model);

/// n queries and keys of d numbers, and a scoring function's matrices.
struct ScoreInputs {
  Value q, k;
  ScoreParameters parameters;
};
ScoreInputs score_inputs(Graph& graph, const ScoringFunction& function, std::size_t n, std::size_t d);

/// Their scores, divided by the function's own scale.  -> [n, n]
Value scaled_scores(const ScoringFunction& function, const ScoreInputs& inputs);

/// The same, counted.
Work scores_work(const ScoringFunction& function, std::size_t n, std::size_t d);

/// A place in a stack of layers, both counted from 0: layer 0 is the input.
struct StackPlace {
  std::size_t layer = 0, position = 0;
  auto operator<=>(const StackPlace&) const = default;
};
struct StackLink {
  StackPlace from, to;
  auto operator<=>(const StackLink&) const = default;
};

/// Which places of a stack each place is computed from, without another place between: found in what was
/// built.
std::vector<StackLink> stack_links(const LayerKind& kind, std::size_t n, std::size_t k, std::size_t layers);

/// Where the first and the last input first meet in a stack of layers: at a position that depends on both.
struct Meeting {
  std::size_t layers = 0;                    // of the stack
  std::size_t length = 0;                    // positions on the longer of the two shortest ways
  std::vector<std::string> from_first = {};  // "x_1", "layer.1.h_2", "layer.2.h_3"
  std::vector<std::string> from_last = {};
  std::vector<StackPlace> way_from_first = {}, way_from_last = {};  // the same as places
};

/// Stacks layers until x_1 and x_n meet, and searches the dependencies of what was built; nothing when
/// `most_layers` are not enough. The vectors have one number each: what depends on what is the same.
std::optional<Meeting> search_meeting(const LayerKind& kind, std::size_t n, std::size_t k, std::size_t most_layers);

/// The largest n up to `most` at which one layer of `kind` takes fewer multiply-adds than one of `other`; 0
/// when it does at no n. Both grow with n, and their ratio does too.
std::size_t cheaper_up_to(const LayerKind& kind, const LayerKind& other, LayerSizes sizes, std::size_t most);

}  // namespace attn
