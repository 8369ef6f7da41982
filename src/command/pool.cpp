#include <fmt/format.h>

#include <algorithm>

#include "attention/pooling.hpp"
#include "attention/recipe.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"

namespace attn {
namespace {

constexpr std::size_t grid_points = 129;

// The scores of every query, as the poolings take them: scaled, before any mask.
const Node& scaled_scores(const Graph& graph) {
  const Node* scaled = graph.find("scaled");
  if (!scaled) {
    fail(
        "attn pool pools one head and one sentence: give --q, --k and --v, or --scores and --v, and no "
        "batch");
  }
  return scaled->original();
}

Flow flow_of(const Graph& graph) {
  const bool scored = graph.at("scores").operation != nullptr;
  Flow flow;
  if (scored) flow.boxes.push_back({"query, keys", "q, k"});
  flow.boxes.push_back({"score function", "scores"});
  flow.boxes.push_back({"normalise", "weights"});
  if (graph.find("v")) flow.boxes.push_back({"weighted sum", "weights ⋅ v"});
  return flow;
}

// The weights and the output of one pooling, within its scope.
void add_pooling(Page& page, Graph& graph, const Pooling& pooling) {
  const Graph::Scope scope(graph, pooling.name);
  const Value weights = name("weights", pooling.weights(graph.value(scaled_scores(graph))));
  page.blocks.emplace_back(Heading{2, text(fmt::format("{}: {}", pooling.name, pooling.summary))});
  std::vector<const Node*> nodes = {&weights.node()};
  if (const Node* v = graph.find("v")) {
    nodes.push_back(&name("output", matmul(weights, graph.value(*v))).node());
  }
  add_results(page, nodes);
  Listing listing{{"query", "regime", "what that is"}, {}};
  for (std::size_t i = 0; i < weights.shape().rows; ++i) {
    const Regime& regime = regime_of(row(weights.matrix(), i));
    listing.rows.push_back(
        {weights.node().frame.rows.label(i), std::string(regime.name), std::string(regime.summary)});
  }
  page.blocks.emplace_back(std::move(listing));
  for (const Node* node : nodes) page.trace.push_back(node);
}

void remark_on_negative_scores(Page& page, const Node& scores) {
  const std::span<const double> values = cells(scores.matrix());
  if (std::ranges::none_of(values, [](double score) { return score < 0.0; })) return;
  page.blocks.emplace_back(Prose{text(
      "Some scores are negative. Divided by their sum they can become negative weights, weights above one, "
      "or the wrong way round: where all are negative, the lowest score gets the largest weight. The "
      "exponential of a softmax makes every score positive first and keeps their order.")});
}

std::vector<double> column(const Matrix& matrix) {
  return {cells(matrix).begin(), cells(matrix).end()};
}

Matrix grid_over(const Matrix& keys) {
  const auto [least, most] = std::ranges::minmax(cells(keys));
  const double margin = 0.1 * (most - least);
  Matrix grid = make_matrix({grid_points, 1});
  for (std::size_t i = 0; i < grid_points; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(grid_points - 1);
    grid(i, 0) = least - margin + share * (most - least + 2.0 * margin);
  }
  return grid;
}

// One-dimensional keys and values are points, and pooling draws a curve through them.
void add_curve(Page& page, const Problem& problem, Graph& graph) {
  const Node *k = graph.find("k"), *v = graph.find("v");
  if (!k || !v || k->frame.shape.columns != 1 || v->frame.shape.columns != 1) return;
  const Value keys = graph.value(*k), values = graph.value(*v);
  const Graph::Scope scope(graph, "curve");
  const Value queries = graph.input("q", grid_over(keys.matrix()), axis("queries"), axis("features"));
  Plot plot{.title = "pooled values over a grid of queries", .x_name = "query", .series = {}};
  plot.series.push_back({"average", column(queries.matrix()), {}});
  plot.series.push_back({"look-up", column(queries.matrix()), {}});
  plot.series.push_back({"softmax", column(queries.matrix()), {}});
  const Value scores = name("scores", score_of(problem, {})(queries, keys));
  for (Series& series : plot.series) {
    const Pooling& pooling = *std::ranges::find(poolings(), series.name, &Pooling::name);
    const Graph::Scope inner(graph, series.name);
    const Value weights = name("weights", pooling.weights(scores));
    const Value output = name("output", matmul(weights, values));
    series.y = column(output.matrix());
    page.trace.push_back(&output.node());
  }
  plot.series.push_back({"keys and values", column(keys.matrix()), column(values.matrix())});
  page.blocks.emplace_back(Heading{2, text("The curve")});
  page.blocks.emplace_back(Prose{
      text(fmt::format("Each of {} queries from {:.4g} to {:.4g} pools the same values. The look-up jumps "
                       "from value to value, the "
                       "average is one number for all, and softmax passes smoothly between the neighbours.",
                       grid_points, queries.matrix()(0, 0), queries.matrix()(grid_points - 1, 0)))});
  page.blocks.emplace_back(std::move(plot));
}

}  // namespace

Outcome run_pool(const Command&, const Arguments& arguments) {
  auto problem = std::make_shared<const Problem>(build(requested(arguments)));
  auto graph = std::make_shared<Graph>();
  evaluate(*problem, *graph);
  const Node& scores = scaled_scores(*graph);
  Page page{.graph = graph, .problem = problem, .trace = {&scores}, .blocks = {}};
  page.blocks.emplace_back(Heading{1, text("Attention pooling")});
  page.blocks.emplace_back(Prose{
      text("A query is compared with every key of a database, the scores become weights, and the values "
           "are summed with them. How scores become weights decides what is pooled.")});
  page.blocks.emplace_back(flow_of(*graph));
  add_results(page, {&scores});
  for (const Pooling& pooling : poolings()) add_pooling(page, *graph, pooling);
  remark_on_negative_scores(page, scores);
  add_curve(page, *problem, *graph);
  check_overflow(*graph);
  return {std::move(page), problem->remarks};
}

}  // namespace attn
