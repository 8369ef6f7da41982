#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attention/watches.hpp"
#include "command/parameter_file.hpp"
#include "command/solve.hpp"
#include "model/norm.hpp"
#include "problem/evaluation.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

Value row_of(Graph& graph, const Arguments& arguments, const Option& option, Matrix usual) {
  Matrix matrix = arguments.has(option) ? arguments.matrix(option).matrix : std::move(usual);
  for (const double cell : cells(matrix)) {
    if (!std::isfinite(cell)) fail("{}: every number must be finite", option.name);
  }
  return graph.input(*option.role, std::move(matrix), axis(std::string(option.role->leaf)), axis("features"));
}

bool is_constant(std::span<const double> row) {
  return std::ranges::all_of(row, [&](double cell) { return cell == row.front(); });
}

// Rows without any variance, by word or by number.
std::vector<std::string> constant_rows(const Node& x) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < x.frame.shape.rows; ++i) {
    if (is_constant(row(x.matrix(), i))) rows.push_back(x.frame.rows.label(i));
  }
  return rows;
}

}  // namespace

Outcome run_layer_norm(const Command&, const Arguments& given) {
  const Arguments arguments =
      with_part(given, scope::norm, {&option::gamma, &option::beta}, "an nn.LayerNorm");
  const Problem problem = problem_of(arguments);
  if (problem.sequences.size() != 1)
    fail("attn layer-norm normalizes one sentence: give one --text or one --x");
  const Sequence& sequence = problem.sequences.front();
  if (!sequence.x) fail("attn layer-norm normalizes the rows of x: give --x or --text");
  const std::size_t d = sequence.x->shape().columns;
  const std::shared_ptr<Graph> graph = watched_graph();
  const Axis words = axis("tokens", sequence.tokens);
  require_labels("x", words, sequence.x->shape().rows);
  const Value x = graph->input(role::x, *sequence.x, words, axis("features"));
  NormParameters norm{.gamma = row_of(*graph, arguments, option::gamma, Matrix({1, d}, 1.0)),
                      .beta = row_of(*graph, arguments, option::beta, Matrix({1, d}, 0.0))};
  norm.epsilon = arguments.number(option::epsilon).value_or(norm.epsilon);
  name(role::output, layer_norm(x, norm));
  compute(*graph);
  Page page{.trace = graph->named()};
  std::vector<const Node*> computed;
  std::ranges::copy_if(graph->named(), std::back_inserter(computed),
                       [](const Node* node) { return node->operation != nullptr; });
  page.head(1, "Layer normalization");
  page.say(fmt::format(
      "Each row is shifted to mean 0 and divided by {}. Its variance is then {}. The learned γ and β rescale "
      "and shift each column.",
      root_in_words(norm_kinds().front(), norm.epsilon),
      norm.epsilon == 0.0 ? "1 up to rounding, unless it is 0" : "close to 1, unless ε is large beside it"));
  if (const std::vector<std::string> rows = constant_rows(x.node()); !rows.empty()) {
    page.say(fmt::format(
        "Rows whose numbers are all equal: {}. Up to rounding, their variance and their normalized numbers "
        "are 0.",
        fmt::join(rows, ", ")));
  }
  page.blocks.emplace_back(
      SideBySide{{table_of(x.node()), table_of(norm.gamma.node()), table_of(norm.beta->node())}});
  add_results(page, computed);
  return {.page = std::move(page), .warnings = problem.remarks, .computation = {graph}};
}

}  // namespace attn
