#include "model/layer_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/evaluation.hpp"
#include "command/solve.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/parsed.hpp"

namespace attn {
namespace {

double parse_epsilon(const std::string& text) {
  const std::optional<double> value = parsed<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0.0) {
    fail("--epsilon: '{}' is not a positive number: give a small one, such as 1e-5", text);
  }
  return *value;
}

Value row_of(Graph& graph, const Arguments& arguments, const std::string& name, Matrix usual) {
  const std::optional<std::string> given = arguments.text(name);
  Matrix matrix = given ? read_matrix(*given).matrix : std::move(usual);
  for (const double cell : cells(matrix)) {
    if (!std::isfinite(cell)) fail("--{}: every number must be finite", name);
  }
  return graph.input(name, std::move(matrix), axis(name), axis("features"));
}

}  // namespace

Outcome run_layer_norm(const Command&, const Arguments& arguments) {
  const Problem problem = build(requested(arguments));
  if (problem.sequences.size() != 1)
    fail("attn layer-norm normalises one sentence: give one --text or one --x");
  const Sequence& sequence = problem.sequences.front();
  if (!sequence.x) fail("attn layer-norm normalises the rows of x: give --x or --text");
  const std::size_t d = sequence.x->shape()[1];
  auto graph = std::make_shared<Graph>();
  const Axis words = axis("tokens", sequence.tokens);
  require_labels("x", words, sequence.x->shape()[0]);
  const Value x = graph->input("x", *sequence.x, words, axis("features"));
  LayerNorm norm{.gamma = row_of(*graph, arguments, "gamma", make_matrix({1, d}, 1.0)),
                 .beta = row_of(*graph, arguments, "beta", make_matrix({1, d}, 0.0))};
  if (const auto epsilon = arguments.text("epsilon")) norm.epsilon = parse_epsilon(*epsilon);
  name("output", layer_norm(x, norm));
  check_overflow(*graph);
  Page page{.graph = graph, .problem = nullptr, .trace = graph->named(), .blocks = {}};
  std::vector<const Node*> computed;
  std::ranges::copy_if(page.trace, std::back_inserter(computed),
                       [](const Node* node) { return node->operation != nullptr; });
  page.blocks.emplace_back(Heading{1, text("Layer normalisation")});
  page.blocks.emplace_back(Prose{
      text("Every row by itself is moved to mean 0 and stretched to variance 1. What was learned, γ and β, "
           "gives each column a size and a place again.")});
  page.blocks.emplace_back(
      SideBySide{{table_of(x.node()), table_of(norm.gamma.node()), table_of(norm.beta->node())}});
  add_results(page, computed);
  return {std::move(page), problem.remarks};
}

}  // namespace attn
