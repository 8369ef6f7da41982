#include "data/problem/problem.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/attention/attention.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace {

// What all sequences of a batch share stands outside their scopes.
Parameters shared_parameters(const Problem& problem, Graph& graph) {
  Parameters parameters;
  const auto add = [&](const Role& role, std::string_view rows) {
    const Matrix* const matrix = problem.find(role);
    if (matrix) parameters.emplace(&role, graph.input(role, *matrix, axis(std::string(rows)), axis("features")));
  };
  const auto add_layers = [&](std::initializer_list<LinearRoles> layers) {
    for (const LinearRoles& layer : layers) {
      add(layer.w, "features");
      add(layer.b, "bias");
    }
  };
  add_layers({linear_layer::q, linear_layer::k, linear_layer::v, linear_layer::o});
  if (problem.feed_forward) add_layers({linear_layer::gate, linear_layer::inner, linear_layer::outer});
  for (const ScoringFunction& function : scoring_functions()) {
    if (problem.score != function.name) continue;
    for (const ScoreParameter& row : function.parameters) add(row.role, "features");
    for (const ScoreParameter& row : function.biases) add(row.role, "bias");
  }
  const PositionKind& positions = kind_of_positions(problem);
  if (positions.table_shape) {
    const Matrix* const table = problem.find(role::position_table);
    if (!table) {
      fail("--positions {} needs a learned table: give --position-table, or --seed N for a random one", positions.name);
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
      fail("{} is given for a batch of {} sentences: give a batch with --text or --x only", role->leaf, count);
    }
  }
  const std::size_t lengths = problem.valid_lengths.size();
  if (lengths > 1 && lengths != count) {
    fail("--valid-length: {} lengths are given for {} sentences: give one for each", lengths, count);
  }
}

// Layers above the first attend to what the one below found.
void require_same_width(const Problem& problem) {
  if (problem.layers == 1) return;
  for (const Role* role : matrices_of_one) {
    if (problem.has(*role)) {
      fail("--layers {}: {} is given, and layers are computed from x: give --x or --text instead", problem.layers,
           role->leaf);
    }
  }
}

// The keys that a sentence may attend to.
std::optional<Matrix> key_mask_of(const Problem& problem, std::size_t sentence) {
  const std::optional<Matrix>& all = problem.key_mask;
  if (!all || all->shape().rows == 1) return all;
  Matrix one({1, all->shape().columns});
  std::ranges::copy(row(*all, sentence), cells(one).begin());
  return one;
}

void tell_what_is_random(const Problem& problem, Graph& graph) {
  std::set<const Role*> drawn;
  for (const std::string& name : problem.drawn) drawn.insert(&name_from_text(name).role());
  for (const Node& node : graph.nodes()) {
    if (!node.op && drawn.contains(node.role)) graph.tell_random(node, problem.drawn_from);
  }
}

bool has_only(const Matrix& matrix, double one, double other) {
  return std::ranges::all_of(cells(matrix), [&](double value) { return value == one || value == other; });
}

}  // namespace

const Matrix* Problem::find(const Role& role) const {
  const auto found = matrices.find(&role);
  return found == matrices.end() ? nullptr : &found->second;
}

const DrawnFrom* Calculation::drawing_of(const Node& input) const {
  if (!input.given) return nullptr;
  const DrawnFrom* const of_problem = problem ? problem->drawings.of(*input.given) : nullptr;
  return of_problem ? of_problem : drawings.of(*input.given);
}

std::size_t Problem::heads_of(const Role& role) const {
  constexpr std::array shared = {&role::k, &role::v, &role::w_k, &role::w_v};
  const HeadCounts all = all_heads();
  return std::ranges::find(shared, &role) == shared.end() ? all.of_queries : all.of_keys;
}

std::vector<std::string> Problem::sources_of_mask(const std::vector<std::string>& key_words) const {
  std::vector<std::string> sources;
  if (mask) sources.emplace_back(option::mask.name);
  if (key_mask) sources.emplace_back(option::key_mask.name);
  if (causal) sources.emplace_back(option::causal.name);
  if (!valid_lengths.empty()) sources.emplace_back(option::valid_length.name);
  if (masks_blanks() && any(blanks_among(key_words))) sources.emplace_back("the padding");
  return sources;
}

bool Problem::is_masked() const {
  const auto has_padding = [&](const Sequence& sequence) { return any(blanks_among(words_of_keys(sequence))); };
  return masks_places() || (masks_blanks() && std::ranges::any_of(sequences, has_padding));
}

MaskReading reading_of_mask(const MatrixFile& file) {
  const bool permits = has_only(file.matrix, 0.0, 1.0);
  const double largest = *std::ranges::max_element(cells(file.matrix));
  if (file.kind == CellKind::boolean)
    return {false,
            {&assumed::mask, "true lets a query attend to a key",
             "where true should mask, as in PyTorch's nn.MultiheadAttention, give the opposite mask"}};
  if (permits && file.kind == CellKind::whole)
    return {false, {&assumed::mask, "1 lets a query attend to a key", "where 1 should mask, give the opposite mask"}};
  if (permits && largest == 1.0) {
    return {true,
            {&assumed::mask, "the mask is of floats, so its zeros and ones are added to the scores",
             "to permit with 1 and mask with 0, give booleans or whole numbers", true}};
  }
  if (file.kind == CellKind::real) return {true, {&assumed::mask, "its numbers are added to the scores"}};
  if (largest > 1.0 && has_only(file.matrix, 0.0, largest)) {
    fail(
        "{}the mask has only the whole numbers 0 and {}: to permit and to mask, give true and false, or 1 and 0; to add these numbers to the scores, give them as floats",
        file.where.empty() ? "" : file.where + ": ", largest);
  }
  return {true,
          {&assumed::mask, "the mask has other whole numbers than 0 and 1, so they are added to the scores",
           "to permit and to mask, give true and false; to add them without this warning, give floats", true}};
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

void add_computation(const Problem& problem, Graph& graph, Extent extent) {
  check_batch(problem);
  require_same_width(problem);
  const Parameters parameters = shared_parameters(problem, graph);
  const std::size_t count = problem.sequences.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Graph::Scope> scope = scope_among(graph, scope::sentence, i + 1, count);
    std::vector<std::size_t> lengths = problem.valid_lengths;
    if (count > 1 && lengths.size() == count) lengths = {lengths[i]};
    evaluate_sequence(problem, parameters,
                      {&problem.sequences[i], i, std::move(lengths), key_mask_of(problem, i), extent}, graph);
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
