#include "command/errata/demonstration.hpp"

#include <algorithm>
#include <numeric>

#include "problem/examples.hpp"
#include "problem/problem_file.hpp"
#include "support/lookup.hpp"
#include "tell/describe.hpp"

namespace attn {

void show(Page& page, const std::vector<Value>& values) {
  std::vector<const Node*> nodes;
  for (const Value& value : values) nodes.push_back(&value.node());
  add_results(page, nodes);
  page.trace.add(nodes);
}

void solve_example(std::string_view name, Graph& graph) {
  const Example& example = look_up(examples(), name, "example");
  evaluate(build(read_problem_file(example.json, std::string(name))), graph);
}

Value at(Graph& graph, std::string_view name) {
  return Value(graph.at(name));
}

Value small_numbers(Graph& graph, const Name& name, Shape shape) {
  Matrix matrix(shape);
  int k = static_cast<int>(graph.nodes().size());
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

Value row_of_numbers(Graph& graph, const Name& name, const std::vector<double>& numbers) {
  Matrix matrix({1, numbers.size()});
  std::ranges::copy(numbers, cells(matrix).begin());
  return graph.input(name, std::move(matrix), axis("queries"), axis("keys"));
}

double sum_of_row(const Value& value, std::size_t i) {
  const std::span<const double> cells = row(value.matrix(), i);
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

}  // namespace attn
