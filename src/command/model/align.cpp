#include <fmt/format.h>

#include "attention/watches.hpp"
#include "command/explanation.hpp"
#include "command/model/alignment_walk.hpp"
#include "support/error.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// The alignment with the outputs as columns (Stenzel 2023, Transformer Pt. 1).
void add_transposed(Graph& graph) {
  const Node* alignment = graph.find(role::alignment);
  if (!alignment) fail("--transpose: the variant none has no alignment: choose another --variant");
  graph.name(role::alignment_transposed, transpose(Value(*alignment)));
}

}  // namespace

Outcome run_align(const Command&, const Arguments& arguments) {
  const std::optional<std::string> only = arguments.only(), address = arguments.text(option::explain);
  const Translation translation = translation_of(arguments);
  const std::shared_ptr<Graph> graph = watched_graph();
  evaluate(translation.model, translation.source, translation.target, *graph);
  compute(*graph);
  if (arguments.has(option::transpose)) add_transposed(*graph);

  Page page;
  if (address) {
    add_explanation(page, *graph, *address, arguments.count(option::depth).value_or(0));
  } else if (only) {
    const std::vector<const Node*> nodes = graph->matching(*only);
    page.trace.add(nodes);
    add_results_by_scope(page, nodes);
  } else {
    page.trace = graph->named();
    add_alignment_walk(page, *graph, translation);
  }
  return {.page = std::move(page), .computation = {graph}};
}

}  // namespace attn
