#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "command/solve.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/positions.hpp"
#include "core/attention/watches.hpp"
#include "core/math/functions.hpp"
#include "core/math/random.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/draw.hpp"
#include "data/problem/model_file.hpp"
#include "data/problem/options.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// --- compare masks

namespace {

constexpr double published_fill = -1e6;  // Zhang et al., Dive into Deep Learning, 11.3.2.1
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The last head or sentence that has a mask: of a batch it is usually the most padded one.
const Node& masked_node(const Graph& graph) {
  const Node* found = nullptr;
  bool adds = false;
  for (const Node& node : graph.nodes()) {
    if (node.op && node.op == &op::mask) found = &node;
    adds = adds || node.is(role::bias);
  }
  if (!found && adds) {
    fail(
        "attn compare-masks needs a mask of 1 and 0, and the numbers of this one are added to the scores: give --mask with 0 for each masked key and 1 for the others, or --causal");
  }
  if (!found) {
    fail("attn compare-masks needs a mask: give --mask, --causal or --valid-length, or --example padding");
  }
  if (std::ranges::find(cells(found->operands[1]->matrix()), 0.0) == cells(found->operands[1]->matrix()).end())
    fail("attn compare-masks needs a mask that masks a key, and this one masks none: give another one");
  return *found;
}

// How much weight masked keys have, at most in one row.
double leaked(const Matrix& weights, const Matrix& allowed) {
  double most = 0.0;
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < weights.shape().columns; ++j) sum += allowed(i, j) == 0.0 ? weights(i, j) : 0.0;
    most = std::max(most, sum);
  }
  return most;
}

bool has_query_without_keys(const Matrix& allowed) {
  for (std::size_t i = 0; i < allowed.shape().rows; ++i) {
    if (std::ranges::all_of(row(allowed, i), [](double cell) { return cell == 0.0; })) return true;
  }
  return false;
}

// What lowers every score that is not masked to below the mask value.
double lowered_below(const Matrix& scores, const Matrix& allowed, double fill) {
  double highest = 0.0;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j < scores.shape().columns; ++j) {
      if (allowed(i, j) != 0.0) highest = std::max(highest, scores(i, j));
    }
  }
  double lowered = 2.0 * fill;
  while (highest + lowered >= fill) lowered *= 2.0;
  return lowered;
}

class Comparison {
 public:
  Comparison(Page& page, Graph& graph, const Node& masked)
      : page_(page), graph_(graph), scores_(Value(*masked.operands[0])), allowed_(Value(*masked.operands[1])) {}

  void add() {
    const Node& right = before();
    finite_fills(right);
    afterwards(right, weights_filled());
  }

 private:
  void show(const std::vector<const Node*>& nodes) {
    add_results(page_, nodes);
    page_.trace.add(nodes);
  }

  const Node& before() {
    const Graph::Scope scope(graph_, {scope::other, "before"});
    page_.head(2, "The scores, before the softmax");
    page_.say(
        text("Masked scores are replaced by −∞. The exponential of −∞ is 0, so masked keys get no weight. "
             "The other weights of a row sum to one, if there are any."));
    const Value masked = name(role::masked, mask(scores_, allowed_, minus_infinity));
    const Value weights = name(role::weights, softmax(masked));
    show({&masked.node(), &weights.node()});
    return weights.node();
  }

  // What leaks, for fills that are higher and higher, and for the usual one under low scores.
  void finite_fills(const Node& right) {
    page_.head(2, "A number in place of −∞");
    const double fills[] = {published_fill, -10.0, -5.0, -2.0, -1.0, 0.0};
    const bool allows_any = std::ranges::any_of(cells(allowed_.matrix()), [](double cell) { return cell != 0.0; });
    Matrix numbers({std::size(fills) + (allows_any ? 1 : 0), 2});
    std::vector<std::string> labels;
    const auto measure = [&](std::size_t place, const Value& scores, double fill) {
      const Value weights = softmax(mask(scores, allowed_, fill));
      numbers(place, 0) = leaked(weights.matrix(), allowed_.matrix());
      numbers(place, 1) = largest_difference(weights.matrix(), right.matrix());
    };
    for (std::size_t i = 0; i < std::size(fills); ++i) {
      measure(i, scores_, fills[i]);
      labels.push_back(fmt::format("{}", fills[i]));
    }
    std::string told =
        "A finite mask value works if it is far below every score. "
        "If it is near the scores, masked keys get some weight: the mask leaks. "
        "The leaked weight is the largest total weight of masked keys in one row.";
    if (has_query_without_keys(allowed_.matrix()))
      told += " A row whose keys are all masked is set to −∞ instead, so nothing leaks there.";
    if (allows_any) {
      const double lowered = lowered_below(scores_.matrix(), allowed_.matrix(), published_fill);
      const Value low =
          graph_.input(role::lowered_scores, shifted(scores_.matrix(), lowered), axis("queries"), axis("keys"));
      measure(std::size(fills), low, published_fill);
      labels.push_back(std::string("lowered scores"));
      told += fmt::format(
          " In the last line all scores are lowered by {}. "
          "In exact arithmetic that changes no weight, but now the mask value {} is above all scores that are not masked.",
          written_digits(-lowered, 7), published_fill);
    }
    page_.say(std::move(told));
    page_.say(quantities("mask value", axis("fills", std::move(labels)), {"leaked weight", "largest error"},
                         std::move(numbers)));
  }

  const Node& weights_filled() {
    const Graph::Scope scope(graph_, {scope::other, "of_weights"});
    page_.head(2, "The weights instead of the scores");
    page_.say(
        text(fmt::format("Dive into Deep Learning (11.3) replaces the masked weights by {}, not the masked scores. "
                         "A row with such a number is not a row of weights (filled). "
                         "If masked weights are set to 0 instead (left), the rest of the row need not sum to one.",
                         published_fill)));
    const Value all = name(role::unmasked, softmax(scores_));
    const Value filled = name(role::filled, replace(all, allowed_, published_fill));
    const Value left = name(role::left, multiply(all, allowed_));
    show({&all.node(), &filled.node(), &left.node()});
    Matrix sums({left.shape().rows, 2});
    for (std::size_t i = 0; i < left.shape().rows; ++i) {
      const auto sum = [&](const Value& value) {
        const std::span<const double> cells = row(value.matrix(), i);
        return std::accumulate(cells.begin(), cells.end(), 0.0);
      };
      sums(i, 0) = sum(filled);
      sums(i, 1) = sum(left);
    }
    page_.say(quantities("sum of the row", left.node().frame.rows, {"filled", "left"}, std::move(sums)));
    return left.node();
  }

  void afterwards(const Node& right, const Node& left) {
    const Graph::Scope scope(graph_, {scope::other, "after"});
    page_.head(2, "After the softmax, then divided by the row's sum");
    const Value weights = name(role::weights, normalize(Value(left)));
    show({&weights.node()});
    const double difference = largest_difference(weights.matrix(), right.matrix());
    page_.say(text(
        fmt::format("In exact arithmetic this gives the same weights as masking the scores. "
                    "The largest difference here is {}. It is large only where masked keys have nearly all the weight.",
                    written_difference(difference))));
  }

  static Matrix shifted(Matrix matrix, double by) {
    for (double& cell : cells(matrix)) cell += by;
    return matrix;
  }

  Page& page_;
  Graph& graph_;
  Value scores_;
  Value allowed_;
};

}  // namespace

Answer run_compare_masks(const Command&, const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  const std::shared_ptr<Graph> graph = watched_graph();
  evaluate(*problem, *graph, Extent::weights);
  compute(*graph);
  const Node& masked = masked_node(*graph);
  const Solved solved{problem, graph};
  Page page = solved.page(masked.operands);
  page.head(1, "Ways to mask");
  std::string which;
  if (!masked.scope().empty()) which = fmt::format(" These are those of {}.", masked.scope_name());
  page.say(text("The scores and the mask: 0 marks a masked score." + which));
  page.say(SideBySide{{table_of(*masked.operands[0]), table_of(*masked.operands[1])}});
  Comparison(page, *graph, masked).add();
  return solved.answer(std::move(page), problem->remarks);
}

// --- compare positions

namespace {

constexpr std::size_t usual_n = 16, usual_d = 8, distance_limit = 4;
constexpr std::uint32_t seed = 1;

struct Sizes {
  std::size_t n, d;
  double base;
};

// n words that are all the same, or other words: whatever differs between their scores comes from positions.
Matrix same_words(Sizes sizes) {
  const Matrix one = random_kinds().front().make(seed)->embeddings({1, sizes.d});
  Matrix x({sizes.n, sizes.d});
  for (std::size_t i = 0; i < sizes.n; ++i) std::ranges::copy(row(one, 0), row(x, i).begin());
  return x;
}

Matrix learned_table(const PositionKind& kind, Sizes sizes) {
  const Shape shape =
      kind.table_shape({.n = sizes.n, .d_model = sizes.d, .d_k = sizes.d, .max_distance = distance_limit});
  return random_kinds().front().make(seed)->embeddings(shape);
}

// The scores of n equal words with random queries and keys, as they go into the softmax.
Matrix scores_of(const PositionKind& kind, Sizes sizes, const std::optional<Matrix>& table) {
  OptionValues options;
  options.put(option::x, MatrixFile{.matrix = same_words(sizes)});
  options.put(option::positions, std::string(kind.name));
  options.put(option::base, sizes.base);
  options.put(option::d_k, sizes.d);
  options.put(option::seed, std::size_t{seed});
  if (table) options.put(option::position_table, MatrixFile{.matrix = *table});
  const Problem problem = build(options);
  Graph graph(keep_nothing());
  evaluate(problem, graph, Extent::weights);
  return Value(graph.at(role::masked)).matrix();
}

// The largest difference of a score and the one so many rows and columns behind it.
double largest_step(const Matrix& scores, std::size_t rows, std::size_t columns) {
  double largest = 0.0;
  for (std::size_t i = 0; i + rows < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j + columns < scores.shape().columns; ++j)
      largest = std::max(largest, std::fabs(scores(i + rows, j + columns) - scores(i, j)));
  }
  return largest;
}

double largest_exchange(const Matrix& scores) {
  double largest = 0.0;
  for (std::size_t i = 0; i < scores.shape().rows; ++i) {
    for (std::size_t j = 0; j < i; ++j) largest = std::max(largest, std::fabs(scores(i, j) - scores(j, i)));
  }
  return largest;
}

bool has_waves_in_columns(const PositionKind& kind) { return kind.has_waves && kind.of_embeddings; }

bool has_table(const Transformer& model) { return model.recipe.positions->table_shape != nullptr; }

class PositionComparison {
 public:
  PositionComparison(QuantityPage& page, Sizes sizes) : page_(page), sizes_(sizes) {}

  void add() {
    page_.head(1, "Kinds of positions compared");
    page_.say(
        fmt::format("All kinds with n = {} positions and vectors of size d = {}. "
                    "Learned tables, queries and keys are random (seed {}), not trained. "
                    "Relative kinds count distances above {} as {}.{}",
                    sizes_.n, sizes_.d, seed, distance_limit, distance_limit,
                    pointer_to_trained("transformer", has_table, " --only '*_positions.table'")));
    add_learned();
    add_scores();
    add_periods();
    add_pros_and_cons();
  }

 private:
  void add_learned() {
    page_.head(2, "Learned numbers, and positions beyond n");
    page_.say(fmt::format(
        "The learned numbers of each kind, for n = {} and for n = {} positions. "
        "The column \"beyond\" is 1 if the scores of {} positions can be computed with what was learned for {}, and 0 if not.",
        sizes_.n, 2 * sizes_.n, 2 * sizes_.n, sizes_.n));
    const Sizes twice{2 * sizes_.n, sizes_.d, sizes_.base};
    QuantityRows rows;
    std::string refusal;
    for (const PositionKind& kind : position_kinds()) {
      const auto count = [&](Sizes sizes) {
        return kind.table_shape ? static_cast<double>(learned_table(kind, sizes).size()) : 0.0;
      };
      rows.push_back({std::string(kind.name), {count(sizes_), count(twice), 1.0}});
      try {
        scores_of(kind, twice, table_of(kind));
      } catch (const InputError&) {
        rows.back().second.back() = 0.0;
        const std::size_t known = table_of(kind)->shape().rows;
        refusal = fmt::format("The table of {} has a row for each of {} positions, and none for position {}.",
                              kind.name, known, known + 1);
      }
    }
    page_.table("learned", {fmt::format("n = {}", sizes_.n), fmt::format("n = {}", twice.n), "beyond"}, rows);
    if (!refusal.empty()) page_.say(refusal);
    page_.say("That numbers exist beyond n does not mean that a model works there that was trained on n positions.");
  }

  void add_scores() {
    page_.head(2, "What the scores of equal words depend on");
    page_.say(
        "The same word stands at all positions, with one random query and key matrix. "
        "So only the positions can make scores differ. Each column has the largest difference:");
    page_.say(
        Listing{{"column", "between"},
                {{"key", "neighboring keys of one query; 0: positions have no effect"},
                 {"same distance", "pairs of the same distance and direction; 0: only the distance counts"},
                 {"direction", "a pair and the pair with query and key exchanged; 0: ahead and back are the same"}}});
    QuantityRows rows;
    for (const PositionKind& kind : position_kinds()) {
      const Matrix scores = scores_of(kind, sizes_, table_of(kind));
      rows.push_back(
          {std::string(kind.name), {largest_step(scores, 0, 1), largest_step(scores, 1, 1), largest_exchange(scores)}});
    }
    page_.table("scores", {"key", "same distance", "direction"}, rows);
    page_.say(
        "A vector that is added to a word is multiplied with the word too: its scores depend on the position itself, not only on the distance. "
        "Kinds that rotate queries and keys, or that add to the scores, depend on the distance alone if the words are the same.");
  }

  // A pair of columns is a hand of a clock, and this is when it is back where it was.
  void add_periods() {
    page_.head(2, "Periods of the sinusoids");
    const PositionKind& kind = *std::ranges::find_if(position_kinds(), has_waves_in_columns);
    Graph graph(keep_nothing());
    const Value x = graph.input(role::x, Matrix({2 * sizes_.n, sizes_.d}, 0.0), axis("positions"), axis("features"));
    const Matrix positions = kind.of_embeddings(x, {.waves = {.base = sizes_.base}}).matrix();
    page_.say(fmt::format(
        "Each pair of columns repeats after its period. "
        "\"seen\" is the share of the period that {} positions pass through. "
        "\"nearest\" compares position {} with the first {} positions: it is the distance from its pair of numbers to the nearest of theirs.",
        sizes_.n, 2 * sizes_.n, sizes_.n));
    QuantityRows rows;
    for (std::size_t j = 0; j < sizes_.d / 2; ++j) {
      const double period =
          2.0 * std::numbers::pi *
          elementary::power(sizes_.base, 2.0 * static_cast<double>(j) / static_cast<double>(sizes_.d));
      const double seen = std::min(1.0, static_cast<double>(sizes_.n - 1) / period);
      rows.push_back({fmt::format("columns {}, {}", 2 * j + 1, 2 * j + 2), {period, seen, nearest(positions, 2 * j)}});
    }
    page_.table("periods", {"period", "seen", "nearest"}, rows);
    page_.say(
        "A pair whose \"seen\" is 1 has passed through its whole period. "
        "Beyond n it only comes near values that it had before, and by itself it hardly tells a position from the one about a period later. "
        "A pair whose \"seen\" is below 1 goes on to values that no position up to n has.");
  }

  void add_pros_and_cons() {
    page_.head(2, "Pros and cons");
    Listing listing{{"kind", "pros", "cons"}, {}, true};
    for (const PositionKind& kind : position_kinds())
      listing.rows.push_back({std::string(kind.name), std::string(kind.pros), std::string(kind.cons)});
    page_.say(std::move(listing));
    page_.say(
        "Dependency-based positions, which are not computed here, count the distance of two words in the tree of the "
        "sentence's syntax instead of in the sentence.");
  }

  double nearest(const Matrix& positions, std::size_t column) const {
    double least = std::numeric_limits<double>::infinity();
    const std::size_t last = positions.shape().rows - 1;
    for (std::size_t i = 0; i < sizes_.n; ++i) {
      least = std::min(least, std::hypot(positions(last, column) - positions(i, column),
                                         positions(last, column + 1) - positions(i, column + 1)));
    }
    return least;
  }

  std::optional<Matrix> table_of(const PositionKind& kind) const {
    if (!kind.table_shape) return std::nullopt;
    return learned_table(kind, sizes_);
  }

  QuantityPage& page_;
  Sizes sizes_;
};

}  // namespace

Answer run_compare_positions(const Command&, const Arguments& arguments) {
  const Sizes sizes{arguments.count(option::n).value_or(usual_n), arguments.count(option::d).value_or(usual_d),
                    arguments.number(option::base).value_or(Waves::usual_base)};
  if (sizes.n < 2) fail("--n {}: kinds are compared by pairs of positions, so give 2 or more", sizes.n);
  if (sizes.d % 2 == 1) fail("--d {}: sines and cosines are pairs of numbers, so give an even one", sizes.d);
  QuantityPage page;
  PositionComparison(page, sizes).add();
  return std::move(page).answer({});
}

// --- compare scores

namespace {

// One function's scores and weights, beside each other.
void add_function(Page& page, const Graph& graph, const ScoringFunction& function) {
  const Node &scores = graph.at({{{scope::other, function.name}}, role::scores}),
             &weights = graph.at({{{scope::other, function.name}}, role::weights});
  page.head(2, fmt::format("{}: {}", function.name, function.summary));
  page.say(formula_block(scores));
  page.say(formula_block(weights));
  page.say(SideBySide{{table_of(scores), table_of(weights)}});
  page.trace.add(scores);
  page.trace.add(weights);
}

bool has_key_of_zeros(const Matrix& k) {
  for (std::size_t i = 0; i < k.shape().rows; ++i) {
    if (std::ranges::all_of(row(k, i), [](double value) { return value == 0.0; })) return true;
  }
  return false;
}

void add_identities(Page& page, const Problem& problem, const Matrix& q, const Matrix& k) {
  Listing listing{{"identity", "largest difference", "when it holds"}, {}};
  const auto add = [&](std::string what, double difference, std::string where) {
    listing.rows.push_back({std::move(what), written_difference(difference), std::move(where)});
  };
  if (q.shape().columns == k.shape().columns) {
    add("Gaussian and dot, these keys", gaussian_against_dot(q, k), "if all keys have the same length");
    add("Gaussian and dot, keys scaled to length 1", gaussian_against_dot(q, of_equal_length(k)),
        "always: ½‖q‖² and ½‖k‖² cancel");
  }
  add("additive, hidden layer on [q; k]",
      additive_against_hidden_layer(q, k, *problem.find(role::score_wq), *problem.find(role::score_wk),
                                    *problem.find(role::score_wv)),
      "always");
  page.head(2, "What is equal");
  std::string zeros;
  if (q.shape().columns == k.shape().columns && has_key_of_zeros(k))
    zeros =
        " A key of zeros has no direction: where keys are scaled to length 1 for these rows, it is replaced by the unit vector (1, 0, …).";
  page.say(
      text("Some pairs give equal results in exact arithmetic. "
           "For each pair: the largest difference here, and when the two are equal. "
           "The Gaussian rows compare weights, the additive row compares scores." +
           zeros));
  page.say(std::move(listing));
}

// The functions that have the given bias: the chosen one, if it can, or else those that its shape fits.
std::vector<std::string> functions_with_bias(const OptionValues& options, Problem problem) {
  const Matrix* const bias = problem.find(role::score_b);
  if (!bias) return {};
  const ScoringFunction& chosen = *find_row(scoring_functions(), problem.score);
  if (!chosen.biases.empty()) return {std::string(chosen.name)};
  std::vector<std::string> names;
  std::string shapes;
  for (const ScoringFunction& function : scoring_functions()) {
    if (function.biases.empty()) continue;
    problem.score = function.name;
    draw_score_parameters(options, problem);
    // An additive score is as wide as its hidden layer, whatever the size of a key.
    const Matrix* const hidden = problem.find(role::score_wq);
    const std::size_t width = hidden ? hidden->shape().columns : 1;
    const Shape shape = function.biases.front().shape(width, width);
    if (bias->shape() == shape) names.emplace_back(function.name);
    shapes += fmt::format("{}{} for {}", shapes.empty() ? "" : " or ", to_string(shape), function.name);
  }
  if (!problem.has(role::score_wq)) return {};  // without queries and keys, which are asked for first
  if (names.empty()) fail("score_b is {}: it must be {}", to_string(bias->shape()), shapes);
  return names;
}

}  // namespace

Answer run_compare_scores(const Command&, const Arguments& arguments) {
  const OptionValues options = requested(arguments);
  const Problem given = build(options);
  if (given.heads != 1 || given.sequences.size() != 1) {
    fail("attn compare-scores works on one head and one sentence: give --heads 1 and one --text or --x");
  }
  auto problem = std::make_shared<Problem>(given);
  const std::shared_ptr<Graph> graph = watched_graph();
  const Solved solved{problem, graph};
  Page page = solved.page({});
  page.head(1, "Scoring functions");
  page.say(
      text("The same queries and keys with every scoring function. "
           "Matrices that a function learns are random if they are not given (--seed)."));
  const std::vector<std::string> with_bias = functions_with_bias(options, given);
  if (!with_bias.empty()) {
    page.say(fmt::format("score_b is the bias of {}. No other function has one here.", listed(with_bias)));
  }
  const Node *q = nullptr, *k = nullptr;
  for (const ScoringFunction& function : scoring_functions()) {
    problem->score = function.name;
    problem->scale.clear();
    problem->matrices.erase(&role::score_b);
    if (std::ranges::find(with_bias, function.name) != with_bias.end())
      problem->matrices.emplace(&role::score_b, *given.find(role::score_b));
    draw_score_parameters(options, *problem);
    const Graph::Scope scope(*graph, {scope::other, function.name});
    evaluate(*problem, *graph, Extent::weights);
    q = graph->find({{{scope::other, function.name}}, role::q});
    k = graph->find({{{scope::other, function.name}}, role::k});
    if (!q || !k) fail("attn compare-scores needs queries and keys: give --q and --k, or --x with --wq and --wk");
  }
  compute(*graph);
  for (const ScoringFunction& function : scoring_functions()) add_function(page, *graph, function);
  add_identities(page, *problem, q->matrix(), k->matrix());
  problem->score = given.score;
  problem->scale = given.scale;
  if (const Matrix* const bias = given.find(role::score_b)) problem->matrices.insert_or_assign(&role::score_b, *bias);
  // All scoring functions have had their turn: what one of them leaves idle, another one uses.
  std::vector<std::string> remarks = solved.warnings();
  std::erase_if(remarks, [](const std::string& remark) { return remark.starts_with("--score"); });
  if (arguments.has(option::score) && !given.has(role::score_b)) {
    remarks.push_back(
        fmt::format("{} changes nothing in attn compare-scores without {}: it compares all scoring functions",
                    option::score.name, option::score_b.name));
  }
  return solved.answer(std::move(page), std::move(remarks));
}

}  // namespace attn
