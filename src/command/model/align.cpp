#include <fmt/format.h>

#include "attention/watches.hpp"
#include "command/explanation.hpp"
#include "command/model/translation.hpp"
#include "support/error.hpp"
#include "tell/alignment.hpp"
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
  const Translation translation = translation_of(arguments);
  const std::shared_ptr<Graph> graph = watched_graph();
  evaluate(translation.model, translation.source, translation.target, *graph);
  compute(*graph);
  if (arguments.has(option::transpose)) add_transposed(*graph);

  Page page;
  if (!arguments.narrows()) {
    page.trace = graph->named();
    add_alignment_walk(page, *graph, translation);
  }
  return {.page = std::move(page), .computation = {graph}};
}

}  // namespace attn
