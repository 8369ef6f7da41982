#include <fmt/format.h>

#include <algorithm>

#include "attention/watches.hpp"
#include "command/explanation.hpp"
#include "command/model/causal.hpp"
#include "command/model/part.hpp"
#include "command/model/run.hpp"
#include "command/model/saved_parameters.hpp"
#include "command/model/words.hpp"
#include "graph/plan.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"
#include "tell/model_walk.hpp"
#include "tell/outline.hpp"

namespace attn {
namespace {

// The word with the highest probability, or how many share it.
std::string most_probable(std::span<const double> probabilities, const Axis& words) {
  const auto most = std::ranges::max_element(probabilities);
  const auto tied = std::ranges::count(probabilities, *most);
  if (tied > 1) return fmt::format("a tie of {} words", tied);
  return words.label(static_cast<std::size_t>(most - probabilities.begin()));
}

// Words that should come out, and what the model expects there.
void add_expected(Page& page, const Graph& graph, const ModelChoice& choice) {
  const Node* distribution = graph.find(role::distribution);
  if (!distribution || choice.expected.empty()) return;
  Listing listing{{"after", "should come", "probability", "most probable"}, {}};
  bool knows_all = true;
  for (std::size_t i = 0; i < choice.expected.size(); ++i) {
    const std::span<const double> row = attn::row(distribution->matrix(), i);
    const Axis& words = distribution->frame.columns;
    std::string probability = "–";
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (words.label(j) == choice.expected[i]) probability = written_fixed(row[j], 4);
    }
    knows_all = knows_all && probability != "–";
    listing.rows.push_back(
        {distribution->frame.rows.label(i), choice.expected[i], probability, most_probable(row, words)});
  }
  page.head(2, "What should come next");
  page.say(
      "Each line: a target word, the word that should follow it, the probability of that word, and the word "
      "with the highest probability.");
  if (!knows_all) page.say("A dash means that the word is not in the model's vocabulary.");
  page.say(std::move(listing));
}

// Names, shapes and costs, for models that are too large to be run.
Outcome outline(const ModelPart& part, const ModelChoice& choice, const Arguments& arguments) {
  auto graph = std::make_shared<Graph>();
  run_model(choice, *graph);
  const std::optional<std::string> only = arguments.only();
  std::vector<const Node*> nodes = only ? graph->matching(*only) : shown_nodes(*graph, part, choice.model);
  std::erase_if(nodes, [&](const Node* node) { return !belongs(*node, part); });
  if (nodes.empty()) {
    fail("--only {}: attn {} shows no such matrix. Leave out --only to see them all", only.value_or(""),
         part.use.command);
  }
  Page page;  // without a trace: there are no numbers
  add_head(page, part, choice);
  add_outline(page, *graph, nodes);
  return {.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
}

void tell_what_is_random(Graph& graph, const Transformer& model, std::uint32_t seed) {
  for (const ParameterRow& row : parameters_of(model)) {
    if (const Node* parameter = graph.find(row.name)) {
      graph.tell_origin(*parameter, fmt::format("is random (seed {})", seed));
    }
  }
}

}  // namespace

Outcome run_transformer(const Command& command, const Arguments& arguments) {
  const ModelPart& part = part_of(command.name);
  ModelChoice planned = planned_model(arguments, part.use);
  if (arguments.has(option::outline)) return outline(part, planned, arguments);
  const std::optional<std::string> only = arguments.only();
  const bool checks = arguments.has(option::check_causal);
  const auto wanted = [&](const Graph& graph) {
    if (checks) return compared(graph);
    if (only) return shown_in_tables(graph.matching(*only));
    return arguments.has(option::explain) ? nodes_at_rest(graph) : all_nodes(graph);
  };
  require_room(planned, wanted);
  const bool is_random = planned.model.parameters.empty();
  const ModelChoice choice = drawn(std::move(planned), arguments);
  if (checks) return check_causal(choice);

  auto graph = std::make_shared<Graph>(keep_nothing());
  run_model(choice, *graph);
  if (is_random) tell_what_is_random(*graph, choice.model, model_seed(arguments));
  tell_progress(*graph, arguments);
  compute(*graph, wanted(*graph));
  Page page;
  if (const std::optional<std::string> address = arguments.text(option::explain)) {
    add_explanation(page, *graph, *address, arguments.count(option::depth).value_or(0));
  } else if (only) {
    const std::vector<const Node*> nodes = graph->matching(*only);
    page.trace.add(nodes);
    add_results_by_scope(page, nodes);
  } else {
    const std::vector<const Node*> nodes = shown_nodes(*graph, part, choice.model);
    page.trace.add(nodes);
    add_head(page, part, choice);
    add_model_walk(page, nodes);
    if (part.use.needs != ModelUse::Needs::encoder) add_expected(page, *graph, choice);
  }
  Outcome outcome{.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
  for (std::string& warning : warnings(*graph)) outcome.warnings.push_back(std::move(warning));
  outcome.files = saved_parameters(arguments, choice.model);
  return outcome;
}

}  // namespace attn
