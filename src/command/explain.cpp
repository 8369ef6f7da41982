#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command/check.hpp"
#include "command/explanation.hpp"
#include "command/solve.hpp"
#include "graph/address.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "tell/attention_map.hpp"
#include "tell/attentions.hpp"
#include "tell/describe.hpp"
#include "tell/from_word.hpp"
#include "tell/matrices.hpp"
#include "tell/product.hpp"

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

// The matrices of a model have names that begin with the part that a command shows.
void refuse_cell_of_model(std::string_view address, const Graph& graph) {
  const std::string_view scope = address.substr(0, address.find('.'));
  const Command* const command = find_row(commands(), scope);
  if (!command || !command->takes_model()) return;
  const auto is_within = [&](const Node& node) {
    const NamedScope* const side = outermost(node.place);
    return side && side->title() == scope;
  };
  if (std::ranges::any_of(graph.nodes(), is_within)) return;
  fail("attn explain explains the matrices of attn walk. For those of a model: attn {} --explain '{}'", scope,
       address);
}

// What is said where matrices are random, so that nothing that follows from them reads as a finding.
std::string what_is_random(const Calculation& computation) {
  return computation.problem ? told_as_drawn(*computation.problem) : computation.random;
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

void narrow(Outcome& outcome, const Command& command, const Arguments& arguments) {
  const std::optional<std::string> only = arguments.only(), address = arguments.text(option::explain),
                                   product = arguments.text(option::product),
                                   word = arguments.text(option::from);
  if (arguments.has(option::against)) return compare(outcome, command, arguments);
  const std::shared_ptr<Graph> graph = outcome.computation.graph;
  Trace& trace = outcome.page.trace;
  if (!graph && only && !trace.empty()) {
    const std::vector<Traced> chosen = trace.matching(*only);
    outcome.page.blocks.clear();
    add_matrices(outcome.page, trace, chosen);
    trace = Trace(chosen);
    return;
  }
  if (!graph) {
    const Option& given = only ? option::only : address ? option::explain : option::product;
    fail("{}: attn {} shows no matrices here: leave it out", given.name, command.name);
  }
  Page page{.recipe = std::move(outcome.page.recipe)};
  if (word) {
    add_from_word(page, *graph, *word, only, what_is_random(outcome.computation));
  } else if (arguments.has(option::map)) {
    add_attention_map(page, *graph, only, what_is_random(outcome.computation));
  } else if (product) {
    add_product(page, *graph, *product);
  } else if (address) {
    if (!command.takes_model()) refuse_cell_of_model(*address, *graph);
    add_explanation(page, *graph, *address, arguments.count(option::depth).value_or(0));
  } else {
    std::vector<const Node*> nodes = graph->matching(*only);
    std::vector<const Node*> of_page;
    std::ranges::copy_if(nodes, std::back_inserter(of_page),
                         [&](const Node* node) { return !trace.empty() && trace.find(node->name); });
    if (!of_page.empty()) nodes = std::move(of_page);
    page.trace.add(nodes);
    // Matrices of a model have long names: they stand under headings for their scopes.
    if (command.takes_model()) {
      add_results_by_scope(page, nodes);
    } else {
      add_formulas_and_tables(page, nodes);
    }
  }
  outcome.page = std::move(page);
}

std::vector<const Node*> wanted_nodes(const Graph& graph, const Arguments& arguments,
                                      std::vector<const Node*> (*others)(const Graph&)) {
  if (arguments.has_any(std::array{&option::outline, &option::against})) return {};  // known later, or never
  if (arguments.has(option::explain)) return nodes_at_rest(graph);
  if (const std::optional<std::string> address = arguments.text(option::product)) {
    const Product product = find_product(graph, *address);
    return shown_in_tables({&product.left(), &product.right(), product.product, product.named});
  }
  if (arguments.has(option::map) || arguments.has(option::from))
    return shown_in_tables(attention_weights(graph, arguments.only()));
  if (const std::optional<std::string> only = arguments.only()) return shown_in_tables(graph.matching(*only));
  return others(graph);
}

Outcome run_explain(const Command&, const Arguments& arguments) {
  const Solved solved = solve(arguments, Extent::output, nodes_at_rest);
  refuse_cell_of_model(arguments.words.front(), *solved.graph);
  Page page = solved.page({});
  add_explanation(page, *solved.graph, arguments.words.front(), arguments.count(option::depth).value_or(0));
  return solved.outcome(std::move(page));
}

}  // namespace attn
