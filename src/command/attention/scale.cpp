#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "command/computed_problem.hpp"
#include "core/attention/pooling.hpp"
#include "core/attention/watches.hpp"
#include "core/math/rows.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/describe.hpp"

namespace attn {

namespace {

constexpr std::size_t most_values = 100;

// "1,2,4,8": positive numbers.
std::vector<double> parse_values(std::string_view list) {
  std::vector<double> values;
  for (const std::string_view word : split_at(list)) {
    const std::optional<double> value = parse_number<double>(word);
    if (!value || !std::isfinite(*value) || *value <= 0.0) {
      fail("--sweep: '{}' is not a positive number: give divisors as in 1,2,4,8", word);
    }
    values.push_back(*value);
  }
  if (values.size() > most_values) {
    fail("--sweep: {} divisors are too many: give at most {}, as in 1,2,4,8", values.size(), most_values);
  }
  return values;
}

std::vector<std::string> written_factor(const std::vector<double>& values) {
  std::vector<std::string> labels;
  for (const double value : values) labels.push_back(fmt::format("{:.6g}", value));
  return labels;
}

Axis divisors(const std::vector<double>& values) { return axis("divisors", written_factor(values)); }

// The weights of one query, a row for each divisor: softmax(scores / divisor).
const Node& weights_of_query(Graph& graph, const Node& scores, std::size_t query, const std::vector<double>& values) {
  const Graph::Scope scope(graph, scope::query, query + 1);
  const Value asked = rows(Value(scores), query, 1);
  std::vector<Value> divided;
  for (const double value : values) {
    const std::string notation = fmt::format("{:.6g}", value);
    divided.push_back(divide(asked, {value, {notation, notation}}));
  }
  const Value all = divided.size() == 1 ? divided.front() : stack(divided);
  const Value labelled = graph.input(role::scaled, all.matrix(), divisors(values), scores.frame.columns);
  return name(role::weights, softmax(labelled)).node();
}

Table saturation_of(const Node& weights) {
  const std::size_t count = weights.frame.shape.rows;
  Matrix numbers({count, 3});
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> cells = row(weights.matrix(), i);
    numbers(i, 0) = *std::ranges::max_element(cells);
    numbers(i, 1) = entropy(cells);
    numbers(i, 2) = derivative_size(cells);
  }
  return quantities("saturation", weights.frame.rows, {"largest weight", "entropy, bits", "derivative"},
                    std::move(numbers));
}

Plot plot_of_saturation(const std::vector<double>& values, const Table& saturation) {
  Plot plot{.title = "Saturation of the first query, by divisor",
            .x_name = "divisor",
            .series = {},
            .x_spacing = Spacing::logarithmic};
  for (std::size_t column = 0; column < 3; ++column) {
    Series series{saturation.columns.label(column), values, {}};
    for (std::size_t i = 0; i < values.size(); ++i) series.y.push_back((*saturation.cells)(i, column));
    plot.series.push_back(std::move(series));
  }
  return plot;
}

// The scores that are swept: those of the first head and sentence.
const Node& swept_scores(const Graph& graph) {
  const auto& nodes = graph.nodes();
  const auto found = std::ranges::find_if(nodes, [](const Node& node) { return node.is(role::scores); });
  if (found == nodes.end()) fail("--sweep divides scores, and there are none: give --scores, or --q and --k");
  return *found;
}

// Why √d_k: random queries and keys of growing size.
Table variances() {
  constexpr std::size_t sizes[] = {1, 4, 16, 64, 256, 1024};
  Matrix numbers({std::size(sizes), 4});
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const RandomScores scores = random_scores(sizes[i], 1);
    numbers(i, 0) = scores.variance;
    numbers(i, 1) = scores.scaled_variance;
    numbers(i, 2) = scores.derivative;
    numbers(i, 3) = scores.scaled_derivative;
    labels.push_back(std::to_string(sizes[i]));
  }
  return quantities("variance at d_k", axis("sizes", std::move(labels)),
                    {"q ⋅ k", "q ⋅ k / √d_k", "‖J‖ of q ⋅ k", "‖J‖ of q ⋅ k / √d_k"}, std::move(numbers));
}

}  // namespace

Answer run_scale(const Command& command, const Arguments& arguments) {
  const std::optional<std::string> sweep = arguments.text(option::sweep);
  if (!sweep) return run_step(command, arguments);
  const std::vector<double> values = parse_values(*sweep);
  auto problem = std::make_shared<const Problem>(problem_of(arguments));
  const std::shared_ptr<Graph> graph = watched_graph();
  add_computation(*problem, *graph, Extent::weights);
  const Node& scores = swept_scores(*graph);
  const ComputedProblem solved{problem, graph};
  Page page = solved.page({&scores});
  page.head(1, "Divisors (temperatures) of the scores");
  page.say(text(
      "The same scores, divided by one number after another. "
      "Where one score is largest, a small divisor (a low temperature) puts nearly all weight on its key. "
      "The entropy and the derivative of the softmax then approach 0, and a model hardly learns through it. "
      "A large divisor makes the weights nearly equal, and the entropy approaches log₂ of the number of keys. "
      "The derivative is given as one number, the Frobenius norm of the Jacobian: the square root of the sum of all squared derivatives of a weight with respect to a divided score."));
  if (!scores.scope().empty()) {
    page.say(text("These are the scores of ", code(std::string(scores.scope_name())), "."));
  }
  add_results(page, {&scores});
  for (std::size_t query = 0; query < scores.frame.shape.rows && query < 3; ++query) {
    const Node& weights = weights_of_query(*graph, scores, query, values);
    page.trace.add(weights);
    page.head(2, fmt::format("Query {}", place_in_lists(scores.frame.rows, query)));
    Table table = table_of(weights);
    const Table saturation = saturation_of(weights);
    page.say(SideBySide{{std::move(table), saturation}});
    if (query == 0 && values.size() > 1) page.say(plot_of_saturation(values, saturation));
  }
  page.head(2, "Why √d_k");
  page.say(text(
      "Random queries and keys (always seed 1), 64 of each. Their numbers have mean 0 and variance 1. "
      "The variance of their dot products grows in proportion to ",
      math({"d_k", "d_{k}"}), ". Dividing by ", math({"√d_k", "\\sqrt{d_{k}}"}),
      " brings it back to about 1. ‖J‖ is the derivative of the softmax of these scores, 64 keys for each query, as above: a mean over the queries. "
      "Every gradient passes through it on its way to queries and keys."));
  page.say(variances());
  compute_watched(*graph);
  return solved.answer(std::move(page), with_later_changes_unused(*problem));
}

}  // namespace attn
