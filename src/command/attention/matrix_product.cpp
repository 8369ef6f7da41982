#include "command/computed_problem.hpp"
#include "core/attention/watches.hpp"
#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "page/tell/attention_flow.hpp"

namespace attn {

namespace {

// The scores, or without any the first product.
std::string usual_product(const Graph& graph) {
  const Node* first = nullptr;
  for (const Node& node : graph.nodes()) {
    if (node.name.empty() || node.is_alias() || !product_behind(node)) continue;
    if (node.is(role::scores)) return node.name;
    if (!first) first = &node;
  }
  if (!first) fail("there is no matrix product here: give --left and --right, or --q and --k");
  return first->name;
}

std::string with_cell(std::string name, const Arguments& arguments) {
  const std::optional<std::string> cell = arguments.text(option::chosen_cell);
  if (cell && name.find('[') != std::string::npos)
    fail("--cell {}: {} has a cell already. Leave out one of them", *cell, name);
  return cell ? name + "[" + *cell + "]" : name;
}

Answer multiply_files(const MatrixFile& left, const MatrixFile& right, const Arguments& arguments) {
  require_finite(option::left.name, left, false);
  require_finite(option::right.name, right, false);
  if (!arguments.words.empty())
    fail("{} is a matrix of a problem, and --left and --right give others: leave out one of them",
         arguments.words.front());
  const std::shared_ptr<Graph> graph = watched_graph();
  const Value a = graph->input(name_from_text("left"), left.matrix, axis("rows"), axis("columns")),
              b = graph->input(name_from_text("right"), right.matrix, axis("rows"), axis("columns"));
  name(name_from_text("result"), matmul(a, b));
  compute_watched(*graph);
  Page page;
  add_product(page, *graph, with_cell("result", arguments));
  return {.page = std::move(page), .computation = {graph}};
}

}  // namespace

Answer run_product(const Command&, const Arguments& arguments) {
  if (arguments.has(option::left))
    return multiply_files(arguments.matrix(option::left), arguments.matrix(option::right), arguments);
  const ComputedProblem solved = compute_problem(arguments, Extent::output, nodes_at_rest);
  const std::string matrix = arguments.words.empty() ? usual_product(*solved.graph) : arguments.words.front();
  Page page = solved.page({});
  add_product(page, *solved.graph, with_cell(matrix, arguments));
  return solved.answer(std::move(page));
}

}  // namespace attn
