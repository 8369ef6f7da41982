#include "problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "attention/masks.hpp"
#include "attention/positions.hpp"
#include "problem/evaluation.hpp"
#include "problem/options.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

// What all sequences of a batch share stands outside their scopes.
Parameters parameters_of(const Problem& problem, Graph& graph) {
  Parameters parameters;
  const auto add = [&](const Role& role, std::string_view rows) {
    const Matrix* const matrix = problem.find(role);
    if (matrix)
      parameters.emplace(&role, graph.input(role, *matrix, axis(std::string(rows)), axis("features")));
  };
  const auto add_layers = [&](std::initializer_list<LinearRoles> layers) {
    for (const LinearRoles& layer : layers) {
      add(layer.w, "features");
      add(layer.b, "bias");
    }
  };
  add_layers({linear_layer::q, linear_layer::k, linear_layer::v, linear_layer::o});
  if (problem.feed_forward) add_layers({linear_layer::inner, linear_layer::outer});
  for (const ScoringFunction& function : scoring_functions()) {
    if (problem.score != function.name) continue;
    for (const ScoreParameter& row : function.parameters) add(row.role, "features");
    for (const ScoreParameter& row : function.biases) add(row.role, "bias");
  }
  const PositionKind& positions = kind_of_positions(problem);
  if (positions.table_shape) {
    const Matrix* const table = problem.find(role::position_table);
    if (!table) {
      fail("--positions {} needs a learned table: give --position-table, or --seed N for a random one",
           positions.name);
    }
    parameters.emplace(&role::position_table,
                       graph.input(role::position_table, *table, axis("positions"), axis("features")));
  }
  for (const Role* role : {&role::memory, &role::value_memory}) {
    const Matrix* const source = problem.find(*role);
    if (!source) continue;
    Axis rows = axis("tokens", problem.key_tokens);
    require_labels(role->leaf, rows, source->shape().rows);
    parameters.emplace(role, graph.input(*role, *source, std::move(rows), axis("features")));
  }
  return parameters;
}

// What is given for one sentence, one layer and their heads.
constexpr std::array matrices_of_one = {&role::q, &role::k, &role::v, &role::scores, &role::weights};

void check_batch(const Problem& problem) {
  const std::size_t count = problem.sequences.size();
  if (count == 1) return;
  for (const Role* role : matrices_of_one) {
    if (problem.has(*role)) {
      fail("{} is given for a batch of {} sentences: give a batch with --text or --x only", role->leaf,
           count);
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
  for (const Role* role : matrices_of_one) {
    if (problem.has(*role)) {
      fail("--layers {}: {} is given, and layers are computed from x: give --x or --text instead",
           problem.layers, role->leaf);
    }
  }
}

void tell_what_is_random(const Problem& problem, Graph& graph) {
  std::set<const Role*> drawn;
  for (const std::string& name : problem.drawn) drawn.insert(&called(name).role());
  for (const Node& node : graph.nodes()) {
    if (!node.operation && drawn.contains(node.role))
      graph.tell_origin(node, fmt::format("is random ({})", problem.drawn_from));
  }
}

}  // namespace

const Matrix* Problem::find(const Role& role) const {
  const auto found = matrices.find(&role);
  return found == matrices.end() ? nullptr : &found->second;
}

std::vector<std::string> Problem::sources_of_mask(const std::vector<std::string>& key_words) const {
  std::vector<std::string> sources;
  if (mask) sources.emplace_back(option::mask.name);
  if (causal) sources.emplace_back(option::causal.name);
  if (!valid_lengths.empty()) sources.emplace_back(option::valid_length.name);
  if (masks_blanks() && any(blanks_among(key_words))) sources.emplace_back("the padding");
  return sources;
}

bool Problem::is_masked() const {
  const auto has_padding = [&](const Sequence& sequence) {
    return any(blanks_among(words_of_keys(sequence)));
  };
  return masks_places() || (masks_blanks() && std::ranges::any_of(sequences, has_padding));
}

bool GivenMask::has_only_zeros_and_ones() const {
  return std::ranges::all_of(cells(matrix), [](double value) { return value == 0.0 || value == 1.0; });
}

const std::vector<std::string>& Problem::words_of_keys(const Sequence& sequence) const {
  const auto fits = [&](const Role& role, std::size_t Shape::*dimension) {
    const Matrix* const matrix = find(role);
    return !matrix || matrix->shape().*dimension == sequence.tokens.size();
  };
  const bool own = key_tokens.empty() && !has(role::memory) && fits(role::k, &Shape::rows) &&
                   fits(role::v, &Shape::rows) && fits(role::scores, &Shape::columns) &&
                   fits(role::weights, &Shape::columns);
  return own ? sequence.tokens : key_tokens;
}

void evaluate(const Problem& problem, Graph& graph, Extent extent) {
  check_batch(problem);
  check_layers(problem);
  const Parameters parameters = parameters_of(problem, graph);
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Graph::Scope> scope = scope_among(graph, scope::sentence, i + 1, count);
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
    name(role::alignment, transpose(Value(*node)));
  }
}

}  // namespace attn
