#include <fmt/format.h>

#include <algorithm>

#include "command/computed_problem.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/draw.hpp"
#include "data/problem/problem_options.hpp"
#include "page/tell/describe.hpp"

namespace attn {

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
  const OptionValues options = requested_options(arguments);
  const Problem given = build_problem(options);
  if (given.heads != 1 || given.sequences.size() != 1) {
    fail("attn compare-scores works on one head and one sentence: give --heads 1 and one --text or --x");
  }
  auto problem = std::make_shared<Problem>(given);
  const std::shared_ptr<Graph> graph = watched_graph();
  const ComputedProblem solved{problem, graph};
  Page page = solved.page({});
  page.head(1, "Scoring functions");
  page.say(
      text("The same queries and keys with every scoring function. "
           "Matrices that a function learns are random if they are not given (--seed)."));
  const std::vector<std::string> with_bias = functions_with_bias(options, given);
  if (!with_bias.empty()) {
    page.say(fmt::format("score_b is the bias of {}. No other function has one here.", list_in_words(with_bias)));
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
    add_computation(*problem, *graph, Extent::weights);
    q = graph->find({{{scope::other, function.name}}, role::q});
    k = graph->find({{{scope::other, function.name}}, role::k});
    if (!q || !k) fail("attn compare-scores needs queries and keys: give --q and --k, or --x with --wq and --wk");
  }
  compute_watched(*graph);
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
