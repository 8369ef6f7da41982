#include "attention/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "attention/evaluation.hpp"
#include "attention/masks.hpp"
#include "attention/positions.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

bool is_of_feed_forward(std::string_view name) {
  return name.ends_with("_1") || name.ends_with("_2");
}

// What all sequences of a batch share stands outside their scopes.
Parameters parameters_of(const Problem& problem, Graph& graph) {
  Parameters parameters;
  for (const std::string name :
       {"w_q", "b_q", "w_k", "b_k", "w_v", "b_v", "w_o", "b_o", "w_1", "b_1", "w_2", "b_2"}) {
    if (is_of_feed_forward(name) && !problem.feed_forward) continue;
    const auto found = problem.matrices.find(name);
    if (found == problem.matrices.end()) continue;
    parameters.emplace(name, graph.input(called(name), found->second,
                                         axis(name[0] == 'b' ? "bias" : "features"), axis("features")));
  }
  for (const ScoringFunction& function : scoring_functions()) {
    for (const ScoreParameter& row : function.parameters) {
      const auto found = problem.matrices.find(row.name);
      if (found == problem.matrices.end() || problem.score != function.name) continue;
      parameters.emplace(row.name,
                         graph.input(called(row.name), found->second, axis("features"), axis("features")));
    }
  }
  const PositionKind& positions = kind_of_positions(problem);
  if (positions.table_shape) {
    const auto table = problem.matrices.find("position_table");
    if (table == problem.matrices.end()) {
      fail("--positions {} needs a learned table: give --position-table, or --seed N for a random one",
           positions.name);
    }
    parameters.emplace("position_table",
                       graph.input(role::position_table, table->second, axis("positions"), axis("features")));
  }
  const auto memory = problem.matrices.find("memory");
  if (memory != problem.matrices.end()) {
    Axis rows = axis("tokens", problem.key_tokens);
    require_labels("memory", rows, memory->second.shape().rows);
    parameters.emplace("memory",
                       graph.input(role::memory, memory->second, std::move(rows), axis("features")));
  }
  return parameters;
}

void check_batch(const Problem& problem) {
  const std::size_t count = problem.sequences.size();
  if (count == 1) return;
  for (const std::string_view name : {"q", "k", "v", "scores", "weights"}) {
    if (problem.matrices.contains(name)) {
      fail("{} is given for a batch of {} sentences: give a batch with --text or --x only", name, count);
    }
  }
  const std::size_t lengths = problem.valid_lengths.size();
  if (lengths > 1 && lengths != count) {
    fail("--valid-length: {} lengths are given for {} sentences: give one for each", lengths, count);
  }
}

// Layers above the first attend to what the one below found.
void check_layers(const Problem& problem) {
  if (problem.layers == 1) return;
  for (const std::string_view name : {"q", "k", "v", "scores", "weights"}) {
    if (problem.matrices.contains(name)) {
      fail("--layers {}: {} is given, and layers are computed from x: give --x or --text instead",
           problem.layers, name);
    }
  }
}

void tell_what_is_random(const Problem& problem, Graph& graph) {
  for (const Node& node : graph.nodes()) {
    const bool drawn =
        !node.operation && std::ranges::find(problem.drawn, node.leaf()) != problem.drawn.end();
    if (drawn) graph.tell_origin(node, fmt::format("is random ({})", problem.drawn_from));
  }
}

}  // namespace

std::vector<std::string> Problem::sources_of_mask(const std::vector<std::string>& key_words) const {
  std::vector<std::string> sources;
  if (mask) sources.emplace_back("--mask");
  if (causal) sources.emplace_back("--causal");
  if (!valid_lengths.empty()) sources.emplace_back("--valid-length");
  if (masks_blanks() && any(blanks_among(key_words))) sources.emplace_back("the padding");
  return sources;
}

bool Problem::is_masked() const {
  const auto has_padding = [&](const Sequence& sequence) {
    return any(blanks_among(words_of_keys(sequence)));
  };
  return masks_places() || (masks_blanks() && std::ranges::any_of(sequences, has_padding));
}

const std::vector<std::string>& Problem::words_of_keys(const Sequence& sequence) const {
  const auto fits = [&](std::string_view name, std::size_t Shape::*dimension) {
    const auto found = matrices.find(name);
    return found == matrices.end() || found->second.shape().*dimension == sequence.tokens.size();
  };
  const bool own = key_tokens.empty() && !matrices.contains("memory") && fits("k", &Shape::rows) &&
                   fits("v", &Shape::rows) && fits("scores", &Shape::columns) &&
                   fits("weights", &Shape::columns);
  return own ? sequence.tokens : key_tokens;
}

void evaluate(const Problem& problem, Graph& graph, Extent extent) {
  check_batch(problem);
  check_layers(problem);
  const Parameters parameters = parameters_of(problem, graph);
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Graph::Scope> scope;
    if (count > 1) scope.emplace(graph, scope::sentence, i + 1);
    std::vector<std::size_t> lengths = problem.valid_lengths;
    if (count > 1 && lengths.size() == count) lengths = {lengths[i]};
    evaluate_sequence(problem, parameters, {&problem.sequences[i], std::move(lengths), extent}, graph);
  }
  tell_what_is_random(problem, graph);
}

void add_alignments(Graph& graph) {
  std::vector<const Node*> weights;
  for (const Node& node : graph.nodes()) {
    if (node.is(role::weights)) weights.push_back(&node);
  }
  for (const Node* node : weights) {
    const Graph::Scope scope(graph, node->place);
    name(role::alignment, transpose(graph.value(*node)));
  }
}

}  // namespace attn
