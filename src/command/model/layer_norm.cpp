
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "command/computed_problem.hpp"
#include "command/forms.hpp"
#include "core/attention/watches.hpp"
#include "core/model/recipe.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem.hpp"
#include "page/tell/describe.hpp"

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

// Rows without any variance, in words: "row 1", "the row of "it"".
std::vector<std::string> constant_rows(const Node& x) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < x.frame.shape.rows; ++i) {
    if (is_constant(row(x.matrix(), i)))
      rows.push_back((x.frame.rows.labels ? "the row of " : "") + place_in_words(x.frame.rows, i, "row"));
  }
  return rows;
}

}  // namespace

Answer run_layer_norm(const Command&, const Arguments& given) {
  const Arguments arguments =
      with_parameters_of_part(given, scope::norm, {&option::gamma, &option::beta}, "an nn.LayerNorm");
  const Problem problem = problem_of(arguments);
  if (problem.sequences.size() != 1) fail("attn layer-norm normalizes one sentence: give one --text or one --x");
  const Sequence& sequence = problem.sequences.front();
  if (!sequence.x) fail("attn layer-norm normalizes the rows of x: give --x or --text");
  const auto chosen = arguments.text(option::norm_kind);
  const NormKind& kind = chosen ? look_up(norm_kinds(), *chosen, "kind of norm") : norm_kinds().front();
  if (!kind.shifts && arguments.has(option::beta))
    fail("--beta: {} has no β. Leave out --beta, or choose --norm-kind {}", kind.title, norm_kinds().front().name);
  const std::size_t d = sequence.x->shape().columns;
  const auto graph = std::make_shared<Graph>(keep_nothing());
  watch(*graph);
  const Axis words = axis("tokens", sequence.tokens);
  require_labels("x", words, sequence.x->shape().rows);
  const Value x = graph->input(role::x, *sequence.x, words, axis("features"));
  NormParameters norm{.gamma = row_of(*graph, arguments, option::gamma, Matrix({1, d}, 1.0))};
  if (kind.shifts) norm.beta = row_of(*graph, arguments, option::beta, Matrix({1, d}, 0.0));
  norm.epsilon = arguments.number(option::epsilon).value_or(norm.epsilon);
  const Value output = name(role::output, kind.apply(x, norm));
  std::string title(kind.title);
  if (asks_for_gradients(arguments)) {
    return gradients_of(
        {.computation = {graph}, .title = std::move(title), .results = {&output.node()}, .remarks = problem.remarks},
        arguments);
  }
  compute_watched(*graph);
  Page page{.trace = graph->named()};
  std::vector<const Node*> computed, inputs;
  for (const Node* node : graph->named()) (node->op ? computed : inputs).push_back(node);
  title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  page.head(1, std::move(title));
  page.say(norm_in_words(kind, norm.epsilon, norm.beta.has_value()));
  page.say(fmt::format(
      "For each row, the {} before γ is {}.", kind.spread,
      norm.epsilon == 0.0 ? "1 up to rounding, unless it was 0"
                          : fmt::format("close to 1, unless ε is large compared with the {} of the row", kind.spread)));
  const bool subtracts_mean = graph->find(role::mean) != nullptr;
  if (const std::vector<std::string> rows = constant_rows(x.node()); subtracts_mean && !rows.empty()) {
    page.say(rows.size() == 1 ? fmt::format("All numbers of {} are equal. Up to rounding, its variance and its "
                                            "normalized numbers are 0.",
                                            rows.front())
                              : fmt::format("Each of these rows has equal numbers: {}. Up to rounding, their "
                                            "variances and their normalized numbers are 0.",
                                            list_in_words(rows)));
  }
  SideBySide tables;
  for (const Node* node : inputs) tables.tables.push_back(table_of(*node));
  page.say(std::move(tables));
  add_results(page, computed);
  return {.page = std::move(page), .warnings = problem.remarks, .computation = {graph}};
}

}  // namespace attn
