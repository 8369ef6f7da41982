#include "data/problem/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/attention/attention.hpp"
#include "core/attention/feed_forward.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positions.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/options.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {

// --- problem

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
  for (const std::string& name : problem.drawn) drawn.insert(&called(name).role());
  for (const Node& node : graph.nodes()) {
    if (!node.op && drawn.contains(node.role)) graph.tell_random(node, problem.drawn_from);
  }
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

namespace {

bool has_only(const Matrix& matrix, double one, double other) {
  return std::ranges::all_of(cells(matrix), [&](double value) { return value == one || value == other; });
}

}  // namespace

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

void evaluate(const Problem& problem, Graph& graph, Extent extent) {
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

// --- evaluation

namespace {

// The evaluation of one sequence of a problem.
class SequenceEvaluation {
 public:
  SequenceEvaluation(const Problem& problem, const Parameters& parameters, const SequenceTask& task, Graph& graph)
      : problem_(problem),
        parameters_(parameters),
        sequence_(*task.sequence),
        number_(task.number),
        valid_lengths_(task.valid_lengths),
        key_mask_(task.key_mask),
        extent_(task.extent),
        graph_(graph) {
    queries_ = axis("queries", sequence_.tokens);
    keys_ = axis("keys", problem.words_of_keys(sequence_));
  }

  void run() {
    std::optional<Value> x;
    if (sequence_.x) x = input(role::x, *sequence_.x, axis("tokens", sequence_.tokens), axis("features"));
    if (given(role::weights)) {
      weigh_given(input(role::weights, queries_, keys_));
    } else if (given(role::scores)) {
      require_one_head("scores");
      Value scores = input(role::scores, queries_, keys_);
      const Recipe scaling = scaling_of(problem_, {.d_k = 0, .n_k = scores.shape().columns});
      Value weights = attention_weights(scores, masked(scaling, scores.shape()));
      weigh_given(weights);
    } else {
      if (x) x = with_positions(kind_of_positions(problem_), *x, places_of(x->shape().rows));
      run_layers(x);
    }
  }

 private:
  bool given(const Role& role) const { return problem_.has(role); }

  Places places_of(std::size_t words) const {
    return {.waves = {.positions = positions_of_x(problem_, number_, words), .base = problem_.base},
            .table = find(parameters_, role::position_table)};
  }

  Value input(const Role& role, const Matrix& matrix, Axis rows, Axis columns) {
    require_labels(role.leaf, rows, matrix.shape().rows);
    require_labels(role.leaf, columns, matrix.shape().columns);
    return graph_.input(role, matrix, std::move(rows), std::move(columns));
  }
  Value input(const Role& role, Axis rows, Axis columns) {
    return input(role, *problem_.find(role), std::move(rows), std::move(columns));
  }

  void require_one_head(std::string_view name) const {
    if (problem_.heads != 1) {
      fail(
          "--heads {}: the {} given are those of one head. "
          "For several, give --x with its matrices, or --q, --k and --v",
          problem_.heads, name);
    }
  }

  std::optional<Value> projected(const Role& role, const LinearRoles& by, const std::optional<Value>& from,
                                 const Axis& rows) {
    if (given(role)) return input(role, rows, axis("features"));
    if (!from) return std::nullopt;
    const std::optional<Projection> map = projection(parameters_, by);
    if (!map) return std::nullopt;
    return attn::name(role, linear(*from, *map));
  }

  // The recipe, with what the problem adds to scores of this shape and what it masks of them.
  Recipe masked(Recipe recipe, Shape shape, std::size_t head = 0) {
    recipe.fill = problem_.fill;
    if (const std::optional<Matrix> added = added_cells(problem_, shape, head)) {
      const Value bias = input(role::bias, *added, queries_, keys_);
      recipe.bias = recipe.bias ? add(bias, *recipe.bias) : bias;
    }
    if (std::vector<MaskRule> rules = mask_rules(problem_, padding(), shape, head); !rules.empty()) {
      require_labels(role::mask.leaf, queries_, shape.rows);
      require_labels(role::mask.leaf, keys_, shape.columns);
      recipe.allowed = graph_.input(role::mask, mask_by(std::move(rules)), {shape, queries_, keys_});
      const std::vector<std::string> sources = problem_.sources_of_mask(padding().words);
      if (!problem_.mask || sources.size() > 1) {
        graph_.tell_origin(recipe.allowed->node(), "follows from " + listed(sources));
      }
    }
    return recipe;
  }

  Padding padding() const { return {valid_lengths_, problem_.words_of_keys(sequence_), key_mask_}; }

  bool masks_heads() const { return problem_.mask && problem_.mask->of_heads.size() > 1; }

  // What all heads have in common, and what each has of its own.
  MultiHead multi_head(const Value& q, const Value& k) {
    MultiHead how{.recipe = recipe(q, k), .heads = problem_.all_heads()};
    if (masks_heads()) {
      how.in_head = [this, shape = Shape{q.shape().rows, k.shape().rows}](const Recipe& of_all, std::size_t head) {
        return masked(of_all, shape, head);
      };
    }
    return how;
  }

  Recipe recipe(const Value& q, const Value& k) {
    const KeySizes keys{.d_k = k.shape().columns / problem_.all_heads().of_keys, .n_k = k.shape().rows};
    Recipe recipe = recipe_of(problem_, parameters_, keys);
    recipe.apart = positions_of_attention(problem_, number_, q.shape().rows, k.shape().rows);
    if (!masks_heads()) recipe = masked(std::move(recipe), {q.shape().rows, k.shape().rows});
    if (recipe.positions->of_scaled_scores) {
      // All heads have the same.
      Value relative = recipe.positions->of_scaled_scores(q, k, *recipe.position_table, recipe.apart);
      recipe.bias = recipe.bias ? add(*recipe.bias, relative) : relative;
    }
    return recipe;
  }

  // Each layer attends to what the one below found. One layer alone has no scope.
  void run_layers(std::optional<Value> x) {
    const std::optional<Value> bottom = x;
    std::vector<Value> mixing;
    for (std::size_t i = 1; i <= problem_.layers; ++i) {
      const std::optional<Graph::Scope> scope = scope_among(graph_, scope::layer, i, problem_.layers);
      x = run_layer(x, i == problem_.layers ? extent_ : Extent::output);
      if (!x) return;
      if (const std::optional<Value> weights = latest_weights()) mixing.push_back(*weights);
    }
    const bool averages = problem_.layers > 1 && problem_.heads == 1 && !given(role::memory);
    if (averages && mixing.size() == problem_.layers) average_once(*bottom, mixing, layer_maps());
  }

  std::optional<Value> run_layer(const std::optional<Value>& x, Extent extent) {
    // Without anything to attend with, the feed-forward layer works on the words themselves.
    const bool attends =
        find(parameters_, role::w_q) || find(parameters_, role::w_k) || given(role::q) || given(role::k);
    const bool alone = problem_.feed_forward && !attends && extent == Extent::output;
    std::optional<Value> output = alone ? x : attend(x, extent);
    if (!output || !problem_.feed_forward) return output;
    return attn::name(role::feed_forward, feed_forward(*output, layer()));
  }

  std::optional<Value> attend(const std::optional<Value>& x, Extent extent) {
    const std::optional<Value> memory = find(parameters_, role::memory);
    const std::optional<Value>& source = memory ? memory : x;
    const std::optional<Value> own_values = find(parameters_, role::value_memory);
    const std::optional<Value>& source_of_values = own_values ? own_values : source;
    const std::optional<Value> q = projected(role::q, linear_layer::q, x, queries_);
    const std::optional<Value> k = projected(role::k, linear_layer::k, source, keys_);
    const bool needs_values = extent != Extent::weights;
    const std::optional<Value> v =
        needs_values ? projected(role::v, linear_layer::v, source_of_values, keys_) : std::nullopt;
    const std::optional<Projection> output_projection = projection(parameters_, linear_layer::o);
    if (!q || !k || extent == Extent::projections) return std::nullopt;

    MultiHead how = multi_head(*q, *k);
    how.output_projection = output_projection;
    if (!v) {
      weigh_nothing(*q, *k, how);
      return std::nullopt;
    }
    if (problem_.heads == 1 && !output_projection) return attn::name(role::output, attention(*q, *k, *v, how.recipe));
    return multi_head_attention(*q, *k, *v, how);
  }

  // Without values there are weights, and nothing to weigh.
  void weigh_nothing(const Value& q, const Value& k, const MultiHead& how) {
    const std::size_t heads = problem_.heads;
    for (std::size_t i = 0; i < heads; ++i) {
      const std::optional<Graph::Scope> scope = scope_among(graph_, scope::head, i + 1, heads);
      Value q_i = head_part(q, role::q, i, heads);
      Value k_i = shared_part(k, role::k, i, problem_.all_heads());
      const Recipe recipe = how.in_head ? how.in_head(how.recipe, i) : how.recipe;
      Value scores = attention_scores(q_i, k_i, recipe);
      attention_weights(scores, recipe);
    }
  }

  void weigh_given(const Value& weights) {
    require_one_head("weights");
    if (extent_ != Extent::output || !given(role::v)) return;
    Value sum = weigh(weights, input(role::v, keys_, axis("features")));
    if (const std::optional<Projection> output_projection = projection(parameters_, linear_layer::o)) {
      sum = linear(attn::name(role::concat, attn::name(role::head, sum)), *output_projection);
    }
    attn::name(role::output, sum);
  }

  std::optional<Value> latest_weights() const {
    const auto& nodes = graph_.nodes();
    const auto found =
        std::find_if(nodes.rbegin(), nodes.rend(), [](const Node& node) { return node.is(role::weights); });
    if (found == nodes.rend()) return std::nullopt;
    return Value(*found);
  }

  FeedForward layer() const {
    return feed_forward_of(parameters_, look_up(activations(), problem_.activation, "activation"));
  }

  LayerMaps layer_maps() {
    LayerMaps maps{.v = *projection(parameters_, linear_layer::v), .output = projection(parameters_, linear_layer::o)};
    if (problem_.feed_forward) maps.feed_forward = layer();
    return maps;
  }

  const Problem& problem_;
  const Parameters& parameters_;
  const Sequence& sequence_;
  std::size_t number_;
  std::vector<std::size_t> valid_lengths_;
  std::optional<Matrix> key_mask_;
  Extent extent_;
  Graph& graph_;
  Axis queries_;
  Axis keys_;
};

}  // namespace

void require_labels(std::string_view name, const Axis& axis, std::size_t size) {
  if (axis.labels && axis.labels->size() != size) {
    fail("{} has {} {} but labels for {}: give one word for each", name, size, axis.name, axis.labels->size());
  }
}

void evaluate_sequence(const Problem& problem, const Parameters& parameters, const SequenceTask& task, Graph& graph) {
  SequenceEvaluation(problem, parameters, task, graph).run();
}

// --- problem recipe

namespace {

const ScoringFunction& scoring_function(const Problem& problem) {
  return look_up(scoring_functions(), problem.score, "scoring function");
}

void require_shape(const Matrix& mask, Shape shape) {
  const Shape given = mask.shape();
  if (given.columns == shape.columns && (given.rows == shape.rows || given.rows == 1)) return;
  fail(
      "‹mask› is {} but the scores are {}: give a mask with one row per query, or one row for all queries, and one column per key",
      to_string(given), to_string(shape));
}

std::optional<Scalar> divisor_of(const Problem& problem, const KeySizes& sizes) {
  if (problem.multiplier) return std::nullopt;
  if (!problem.scale.empty()) return divisor(problem.scale, sizes);
  if (sizes.d_k == 0) return std::nullopt;
  return divisor(scoring_function(problem).scale, sizes);
}

std::optional<Scalar> scalar(const std::optional<double>& number) {
  if (!number) return std::nullopt;
  const std::string written = fmt::format("{}", std::fabs(*number));
  if (*number >= 0.0) return Scalar{*number, {written, written}, written};
  return Scalar{*number, {"(−" + written + ")", "\\left(-" + written + "\\right)"}, "−" + written};
}

}  // namespace

Recipe recipe_of(const Problem& problem, const Parameters& parameters, const KeySizes& sizes) {
  Recipe recipe = scaling_of(problem, sizes);
  recipe.function = &scoring_function(problem);
  recipe.learned = {parameters, problem.score_sigma};
  recipe.positions = &kind_of_positions(problem);
  recipe.position_table = find(parameters, role::position_table);
  recipe.waves.base = problem.base;
  return complete(std::move(recipe));
}

Recipe scaling_of(const Problem& problem, const KeySizes& sizes) {
  return {.divisor = divisor_of(problem, sizes), .factor = scalar(problem.multiplier), .cap = scalar(problem.soft_cap)};
}

const PositionKind& kind_of_positions(const Problem& problem) {
  return look_up(position_kinds(), problem.positions, "kind of positional encoding");
}

std::vector<MaskRule> mask_rules(const Problem& problem, const Padding& padding, Shape shape, std::size_t head) {
  std::vector<MaskRule> rules;
  if (problem.mask && !problem.mask->additive) {
    require_shape(problem.mask->of_head(head), shape);
    rules.push_back(rule_of(problem.mask->of_head(head)));
  }
  if (padding.of_keys) {
    if (padding.of_keys->shape().columns != shape.columns) {
      fail("‹key_mask› has {} but the scores have {}: give one column per key",
           count_of(padding.of_keys->shape().columns, "column"), shape.columns);
    }
    rules.push_back(rule_of(*padding.of_keys));
  }
  if (problem.causal) rules.push_back(causal_rule(problem.causal_offset));
  if (!padding.valid_lengths.empty()) rules.push_back(valid_length_rule(shape, padding.valid_lengths));
  const std::vector<bool> blanks = blanks_among(padding.words);
  if (problem.masks_blanks() && any(blanks)) {
    rules.push_back(padding_rule(std::make_shared<const std::vector<bool>>(blanks), shape));
  }
  return rules;
}

std::optional<std::string> remark_on_lengths(const Option& option, std::span<const std::size_t> lengths,
                                             std::size_t keys) {
  const auto found = std::ranges::find_if(lengths, [&](std::size_t length) { return length > keys; });
  if (found == lengths.end()) return std::nullopt;
  return fmt::format("{} {} is more than the number of keys, {}: it counts as all of them", option.name, *found, keys);
}

void require_permissions(std::string_view called, const MatrixFile& file) {
  const std::string place = file.where.empty() ? std::string(called) : fmt::format("{}: {}", file.where, called);
  const std::span<const double> all = cells(file.matrix);
  const auto other = std::ranges::find_if(all, [](double cell) { return cell != 0.0 && cell != 1.0; });
  if (other != all.end()) {
    const auto at = static_cast<std::size_t>(other - all.begin()), columns = file.matrix.shape().columns;
    fail(
        "{}: the cell in row {}, column {} is {}: give true or 1 for each key that may be attended to, and false or 0 for padding",
        place, at / columns + 1, at % columns + 1, *other);
  }
  if (file.kind == CellKind::real)
    fail("{}: give true or 1 (not 1.0) for each key that may be attended to, and false or 0 for padding", place);
}

void require_key_mask(const Option& option, const MatrixFile& file, std::size_t sentences) {
  require_permissions(option.name, file);
  const Matrix& mask = file.matrix;
  if (mask.shape().rows == 1 || mask.shape().rows == sentences) return;
  fail("{} has {}: give one{:|, or one for each of the # sentences}", option.name, count_of(mask.shape().rows, "row"),
       Count{sentences});
}

std::optional<Matrix> added_cells(const Problem& problem, Shape shape, std::size_t head) {
  if (!problem.mask || !problem.mask->additive) return std::nullopt;
  const Matrix& given = problem.mask->of_head(head);
  require_shape(given, shape);
  if (given.shape() == shape) return given;
  Matrix repeated(shape);
  for (std::size_t i = 0; i < shape.rows; ++i) std::ranges::copy(row(given, 0), row(repeated, i).begin());
  return repeated;
}

}  // namespace attn
