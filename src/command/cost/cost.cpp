#include "command/cost/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/solve.hpp"
#include "graph/cost.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/layers_diagram.hpp"
#include "tell/steps.hpp"

namespace attn {

namespace {

void add_to(Work& sum, const Work& work) {
  sum.cost += work.cost;
  sum.bytes += work.bytes;
  sum.sequential = std::max(sum.sequential, work.sequential);
}

QuantityRows rows_by_step(const std::vector<NamedWork>& all, const Work& total) {
  QuantityRows rows;
  const auto add = [&](std::string_view title, const Step* step) {
    Work sum;
    bool any = false;
    for (const NamedWork& named : all) {
      if (step_of(*named.node) != step) continue;
      add_to(sum, named.work);
      any = true;
    }
    if (any) rows.emplace_back(title, numbers(sum));
  };
  for (const Step& step : steps()) add(step.name, &step);
  add("other", nullptr);
  rows.emplace_back("total", numbers(total));
  return rows;
}

// The rows of a scope, "" for all of them.
struct ScopeRows {
  std::string scope;
  QuantityRows rows;
};

// Labels longer than tables show would hide which matrix is meant: then every scope has a table of its own.
std::vector<ScopeRows> rows_by_matrix(const std::vector<NamedWork>& all) {
  constexpr std::size_t longest_label = 16;
  const bool one_table = std::ranges::all_of(
      all, [](const NamedWork& named) { return named.node->name.size() <= longest_label; });
  std::vector<ScopeRows> tables;
  for (const auto& [node, work] : all) {
    const Shape shape = node->frame.shape;
    std::vector<double> row = {static_cast<double>(shape.rows), static_cast<double>(shape.columns)};
    std::ranges::copy(numbers(work), std::back_inserter(row));
    const std::string scope = one_table || !node->place ? "" : node->place->title();
    auto table = std::ranges::find(tables, scope, &ScopeRows::scope);
    if (table == tables.end()) table = tables.insert(tables.end(), {scope, {}});
    table->rows.emplace_back(one_table ? node->name : node->leaf(), std::move(row));
  }
  return tables;
}

QuantityRows rows_by_operation(const Graph& graph) {
  QuantityRows rows;
  for (const auto& [operation, times, work] : work_by_operation(graph)) {
    std::vector<double> row = {static_cast<double>(times)};
    std::ranges::copy(numbers(work), std::back_inserter(row));
    row.pop_back();  // an operation is used in many places: no count is the one that it is ready after
    rows.emplace_back(operation, std::move(row));
  }
  return rows;
}

void add_problem(QuantityPage& page, const Graph& graph) {
  const std::vector<NamedWork> all = work_by_name(graph);
  if (all.empty()) {
    fail(
        "nothing is computed from this input, so there is nothing to count: give --q and --k, --scores, or "
        "--weights and --v, or only sizes: --n, --d and --kernel");
  }
  const Work total = work_of(graph);
  page.head(1, "What this problem costs");
  page.say("The operations that computed it, counted:");
  page.table("by_step", work_columns, rows_by_step(all, total));
  page.say(meaning_of_work_columns());
  page.say(fmt::format(
      "The input takes {} bytes more. A second name for a matrix costs nothing and is not listed.",
      bytes_of_inputs(graph)));
  page.say("The same by operation, and by matrix:");
  std::vector<std::string> of_operations = {"times"};
  of_operations.insert(of_operations.end(), work_columns.begin(), work_columns.end() - 1);
  page.table("by_operation", of_operations, rows_by_operation(graph));
  std::vector<std::string> columns = {"rows", "columns"};
  columns.insert(columns.end(), work_columns.begin(), work_columns.end());
  for (const auto& [scope, rows] : rows_by_matrix(all)) {
    page.table(scope.empty() ? "by_matrix" : scope, columns, rows);
  }
}

constexpr LayerSizes usual{64, 512, 3};

// n and d of what attends: x, or else the queries; without either d is that of the documents.
LayerSizes sizes_of(const Graph& graph) {
  for (const Role* role : {&role::x, &role::q, &role::weights}) {
    for (const Node& node : graph.nodes()) {
      if (!node.is(*role)) continue;
      const Shape shape = node.frame.shape;
      const bool has_depth = role->content != Content::weights;
      return {shape.rows, has_depth ? shape.columns : usual.d, usual.k};
    }
  }
  return usual;
}

// What layers reach, for few positions: nothing is counted for it.
Outcome outline_of(std::size_t n, std::size_t k) {
  constexpr std::size_t most = 16;
  if (n > most) fail("--outline draws at most {} positions: give --n {} or less", most, most);
  Page page;
  page.head(1, fmt::format("What layers reach: {}, kernel {}", count_of(n, "position"), k));
  page.say(fmt::format(
      "Each row is a layer, with the input x above. A line leads to a position from what it is computed "
      "from. "
      "Each stack has as many layers as x_1 and x_{} need to reach a common position. Filled circles are on "
      "the way there. The path is the number of positions on the longer of the two ways.",
      n));
  page.head(2, "The layers");
  page.say(layers_diagram(n, k));
  return {.page = std::move(page)};
}

}  // namespace

Outcome run_cost(const Command&, const Arguments& arguments) {
  const auto n = arguments.count(option::n), d = arguments.count(option::d),
             kernel = arguments.count(option::kernel);
  if (arguments.has(option::outline)) return outline_of(n.value_or(5), kernel.value_or(usual.k));
  QuantityPage page;
  LayerSizes sizes = usual;
  std::vector<std::string> warnings;
  const bool names_problem = arguments.has_any(problem_members()) || arguments.has(option::example) ||
                             arguments.has(option::problem);
  if (names_problem || !(n || d || kernel)) {
    // What is narrowed are the counts, not the problem.
    Arguments problem = arguments;
    problem.leave_out(std::array{&option::only, &option::explain});
    const Solved solved = solve(problem);
    add_problem(page, *solved.graph);
    page.set_problem(solved.problem);
    sizes = sizes_of(*solved.graph);
    warnings = solved.warnings();
  }
  sizes = {n.value_or(sizes.n), d.value_or(sizes.d), kernel.value_or(sizes.k)};
  add_layers(page, sizes);
  add_paths(page, sizes.k);
  add_crossover(page, sizes);
  add_long_sequences(page, sizes.d);
  add_heads(page, n, d);
  add_scores(page, sizes);
  if (arguments.has(option::measure)) add_measurements(page);
  return std::move(page).outcome(std::move(warnings));
}

}  // namespace attn
