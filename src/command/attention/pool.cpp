#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "command/computed_problem.hpp"
#include "core/attention/pooling.hpp"
#include "core/attention/watches.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t grid_points = 129;

// The scores of every query, as the poolings take them: scaled, before any mask.
const Node& scores_to_pool(const Graph& graph) {
  const Node* scaled = graph.find(role::scaled);
  if (!scaled) {
    fail(
        "attn pool works on the scores of one head, one layer and one sentence: give --q, --k and --v, or --scores and --v, or --weights");
  }
  return scaled->original();
}

Flow flow_of(const Graph& graph) {
  Flow flow;
  if (graph.at(role::scores).op) {
    flow.boxes = {{"queries", "q"}, {"keys", "k"}};
    flow.boxes.push_back({"scoring function", "scores", {0, 1}});
  } else {
    flow.boxes = {{"given", "scores"}};
  }
  const std::size_t scores = flow.boxes.size() - 1;
  if (!graph.find(role::v)) {
    flow.boxes.push_back({"normalize", "weights", {scores}});
    return flow;
  }
  flow.boxes.push_back({"values", "v"});
  flow.boxes.push_back({"normalize", "weights", {scores}});
  flow.boxes.push_back({"weighted sum", "weights ⋅ v", {scores + 1, scores + 2}});
  return flow;
}

std::string capitalized(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

// The weights and the output of one pooling, within its scope.
std::vector<const Node*> pooled(Graph& graph, const Pooling& pooling) {
  const Graph::Scope scope(graph, {scope::other, pooling.name});
  const Value weights = name(role::weights, pooling.weights(Value(scores_to_pool(graph))));
  std::vector<const Node*> nodes = {&weights.node()};
  if (const Node* v = graph.find(role::v)) {
    nodes.push_back(&name(role::output, weighted_sum(weights, Value(*v))).node());
  }
  return nodes;
}

void add_pooling(Page& page, const Graph& graph, const Pooling& pooling, const std::vector<const Node*>& nodes) {
  page.head(2, capitalized(fmt::format("{}: {}", pooling.called, pooling.summary)));
  add_results(page, nodes);
  page.say(regimes_of_rows(*nodes.front()));
  if (pooling.remarks) {
    for (std::string& remark : pooling.remarks(scores_to_pool(graph))) page.say(std::move(remark));
  }
  page.trace.add(nodes);
}

std::vector<double> column(const Matrix& matrix) { return {cells(matrix).begin(), cells(matrix).end()}; }

Matrix grid_over(const Matrix& keys) {
  const auto [least, most] = std::ranges::minmax(cells(keys));
  const double margin = 0.1 * (most - least);
  Matrix grid({grid_points, 1});
  for (std::size_t i = 0; i < grid_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(grid_points - 1);
    grid(i, 0) = least - margin + share * (most - least + 2.0 * margin);
  }
  return grid;
}

// What a scoring function has learned, as it stands in the graph.
Parameters learned(const Problem& problem, Graph& graph) {
  Parameters parameters;
  const ScoringFunction& function = *find_row(scoring_functions(), problem.score);
  for (const auto& rows : {function.parameters, function.biases}) {
    for (const ScoreParameter& row : rows) {
      if (const Node* node = graph.find(row.role)) parameters.emplace(&row.role, Value(*node));
    }
  }
  return parameters;
}

// One-dimensional keys and values are points, and pooling draws a curve through them. The points of a curve
// have no places among words, so there is none where positions take part in the scores.
void add_curve(Page& page, const Problem& problem, Graph& graph) {
  const Node *k = graph.find(role::k), *v = graph.find(role::v);
  if (!k || !v || k->frame.shape.columns != 1 || v->frame.shape.columns != 1) return;
  if (graph.find(role::relative)) return;
  const std::span<const double> points = cells(k->matrix());
  if (std::ranges::adjacent_find(points, std::not_equal_to()) == points.end()) return;  // a point is no line
  const Value keys = Value(*k), values = Value(*v);
  const Parameters parameters = learned(problem, graph);
  const Graph::Scope scope(graph, {scope::other, "curve"});
  const Value queries = graph.input(role::q, grid_over(keys.matrix()), axis("queries"), axis("features"));
  Plot plot{.title = "Pooled values over a grid of queries", .x_name = "query", .series = {}};
  plot.series.push_back({"average", column(queries.matrix()), {}});
  plot.series.push_back({"lookup", column(queries.matrix()), {}});
  plot.series.push_back({"softmax", column(queries.matrix()), {}});
  const AttentionRecipe recipe = recipe_of(problem, parameters, {.d_k = 1, .n_k = keys.shape().rows});
  const Value scores = name(role::scaled, scaled_scores(attention_scores(queries, keys, recipe), recipe));
  for (Series& series : plot.series) {
    const Pooling& pooling = *std::ranges::find(poolings(), series.name, &Pooling::called);
    const Graph::Scope inner(graph, {scope::other, pooling.name});
    const Value weights = name(role::weights, pooling.weights(scores));
    const Value output = name(role::output, weighted_sum(weights, values));
    series.y = column(output.matrix());
    page.trace.add(output.node());
  }
  plot.series.push_back({"keys and values", column(keys.matrix()), column(values.matrix()), false});
  // The cosine of two numbers is the sign of their product.
  const bool is_smooth = !recipe.function->is_made_by(cosine_similarity);
  page.head(2, "The curve");
  page.say(text(fmt::format(
      "{} queries from {} to {} pool the same values. "
      "The output of the average is the same for all queries. "
      "The lookup takes the value of one key at a time.{}",
      grid_points, written_digits(queries.matrix()(0, 0), 4), written_digits(queries.matrix()(grid_points - 1, 0), 4),
      is_smooth ? " Softmax passes smoothly between the values." : "")));
  page.say(std::move(plot));
}

// Weights that are given need no pooling: there is only to say what they are.
Answer given_weights(Page page, const ComputedProblem& solved) {
  const Graph& graph = *solved.graph;
  const Node& weights = graph.at(role::weights);
  page.trace.add(weights);
  page.say(table_of(weights));
  page.say(regimes_of_rows(weights));
  if (const Node* output = graph.find(role::output)) {
    page.trace.add(*output);
    add_results(page, {output});
  }
  return solved.answer(std::move(page), solved.problem->remarks);
}

}  // namespace

Answer run_pool(const Command&, const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  const std::shared_ptr<Graph> graph = watched_graph();
  add_computation(*problem, *graph);
  const ComputedProblem solved{problem, graph};
  Page page = solved.page({});
  page.head(1, "Attention pooling");
  if (problem->has(role::weights)) return given_weights(std::move(page), solved);
  const Node& scores = scores_to_pool(*graph);
  page.trace.add(scores);
  page.say(
      text("A query is compared with every key of a database. "
           "The scores become attention weights, and the output is the weighted sum of the values. "
           "The rule that turns scores into weights decides the result."));
  page.say(flow_of(*graph));
  add_results(page, {&scores});
  std::vector<std::vector<const Node*>> results;
  for (const Pooling& pooling : poolings()) results.push_back(pooled(*graph, pooling));
  compute_watched(*graph);
  for (std::size_t i = 0; i < results.size(); ++i) add_pooling(page, *graph, poolings()[i], results[i]);
  add_curve(page, *problem, *graph);
  compute_watched(*graph);
  return solved.answer(std::move(page), with_later_changes_unused(*problem));
}

}  // namespace attn
