#include <fmt/format.h>

#include <algorithm>

#include "command/explanation.hpp"
#include "command/solve.hpp"
#include "graph/address.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// "query it, key animal": which row and column the cell lies in, by word.
std::string place_of(const Cell& cell) {
  const Axis &rows = cell.node->frame.rows, &columns = cell.node->frame.columns;
  std::string place;
  if (rows.labels) place += rows.label(cell.row);
  if (columns.labels) place += (place.empty() ? "" : ", ") + columns.label(cell.column);
  return place;
}

bool explains_models(const Command& command) {
  return std::ranges::find(command.groups, &model_options()) != command.groups.end();
}

// The matrices of a model have names that begin with the part that a command shows.
void refuse_cell_of_model(std::string_view address, const Graph& graph) {
  const std::string_view scope = address.substr(0, address.find('.'));
  const Command* const command = find_row(commands(), scope);
  if (!command || !explains_models(*command)) return;
  const auto is_within = [&](const Node& node) {
    const NamedScope* const side = outermost(node.place);
    return side && side->title() == scope;
  };
  if (std::ranges::any_of(graph.nodes(), is_within)) return;
  fail("attn explain explains the matrices of attn walk. For those of a model: attn {} --explain '{}'", scope,
       address);
}

}  // namespace

void add_explanation(Page& page, const Graph& graph, const std::string& address, std::size_t depth) {
  const Cell cell = find_cell(graph, address);
  page.trace.add(*cell.node);
  std::string title = fmt::format("{}[{},{}]", cell.node->name, cell.row + 1, cell.column + 1);
  if (const std::string place = place_of(cell); !place.empty()) title += " (" + place + ")";
  page.head(1, std::move(title));
  const bool is_short = cell.node->name_within(cell.node->scope()) != cell.node->name;
  const std::string_view scope = is_short ? cell.node->scope() : "";
  if (is_short) add_short_names(page, *cell.node);
  page.say(formula_block(*cell.node, scope));
  page.say(derivation(cell, depth, scope));
}

Outcome run_explain(const Command&, const Arguments& arguments) {
  const Solved solved = solve(arguments, Extent::output, nodes_at_rest);
  refuse_cell_of_model(arguments.words.front(), *solved.graph);
  Page page = solved.page({});
  add_explanation(page, *solved.graph, arguments.words.front(),
                  arguments.count(option::depth).value_or(0));
  return solved.outcome(std::move(page));
}

}  // namespace attn
