#include <map>
#include <set>

#include "files/json_writer.hpp"
#include "graph/cost.hpp"
#include "problem/problem_file.hpp"
#include "problem/request.hpp"
#include "render/format.hpp"
#include "render/json_blocks.hpp"

namespace attn {
namespace {

// What every named node of the trace's graphs cost, with the nodes without a name behind it.
std::map<const Node*, Cost> costs_of(const std::vector<const Node*>& trace) {
  std::set<const Graph*> graphs;
  for (const Node* node : trace) graphs.insert(node->graph);
  std::map<const Node*, Cost> costs;
  for (const Graph* graph : graphs) {
    for (const NamedWork& named : work_by_name(*graph)) costs[named.node] = named.work.cost;
  }
  return costs;
}

void write_node(const Node& node, const Cost& cost, JsonWriter& json) {
  json.begin_object();
  json.key("name");
  json.string(node.name);
  json.key("operation");
  json.string(node.operation ? node.operation->name() : "input");
  json.key("operands");
  json.begin_array();
  for (const Node* operand : node.named_operands()) json.string(operand->name);
  json.end_array();
  const Formula formula = formula_of(node);
  json.key("formula");
  json.string(formula.plain);
  json.key("latex");
  json.string(formula.latex);
  json.key("shape");
  json.begin_array();
  json.integer(node.frame.shape.rows);
  json.integer(node.frame.shape.columns);
  json.end_array();
  for (const auto& [key, axis] :
       {std::pair{"rows", &node.frame.rows}, std::pair{"columns", &node.frame.columns}}) {
    json.key(key);
    json.begin_object();
    json.key("axis");
    json.string(axis->name);
    if (axis->labels) {
      json.key("labels");
      json.strings(*axis->labels);
    }
    json.end_object();
  }
  json.key("multiply_adds");
  json.integer(cost.multiply_adds);
  json.key("element_operations");
  json.integer(cost.element_operations);
  json.end_object();
}

// A page that is one table and nothing else is a matrix file: nested lists and no more.
bool is_bare_matrix(const Page& page) {
  return page.trace.size() == 1 && page.blocks.size() == 1 &&
         std::holds_alternative<Table>(page.blocks.front());
}

}  // namespace

void render_json(const Page& page, const Style&, Sink& sink) {
  JsonWriter json(sink);
  if (is_bare_matrix(page)) {
    json.matrix(page.trace.front()->matrix());
    sink.write("\n");
    return;
  }
  json.begin_object();
  json.key("schema");
  json.string(schema);
  if (page.problem) {
    json.key("problem");
    write_problem(*page.problem, json);
  }
  json.key("arrays");
  json.begin_object();
  for (const Node* node : page.trace) {
    json.key(node->name);
    json.matrix(node->matrix());
  }
  json.end_object();
  json.key("nodes");
  json.begin_array();
  std::map<const Node*, Cost> costs = costs_of(page.trace);
  for (const Node* node : page.trace) write_node(*node, costs[node], json);
  json.end_array();
  json.key("page");
  write_blocks(page, json);
  json.end_object();
}

}  // namespace attn
