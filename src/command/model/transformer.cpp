#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/watches.hpp"
#include "command/explanation.hpp"
#include "command/gradients.hpp"
#include "command/model/part.hpp"
#include "command/model/run.hpp"
#include "command/model/words.hpp"
#include "graph/plan.hpp"
#include "support/error.hpp"
#include "support/number.hpp"
#include "tell/describe.hpp"
#include "tell/model_diagram.hpp"
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
  page.say(
      "In the drawing each box is a step, with the shape of its result. A line beside a step is a residual "
      "connection. A frame is one of several equal layers, each with parameters of its own: the number at "
      "its "
      "edge says how many.");
  page.head(2, "The layers");
  page.say(model_diagram(*graph, shown_nodes(*graph, part, choice.model), choice.model));
  page.head(2, "The matrices");
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

// What is compared: the output of the decoder, where the model has one.
std::vector<const Node*> compared(const Graph& graph) {
  const Node* const output = graph.find(Name{{scope::decoder}, role::output}.text());
  return output ? std::vector{output} : std::vector<const Node*>();
}

Matrix decoded(const ModelChoice& choice) {
  Graph graph(keep_nothing());
  run_model(choice, graph);
  compute(graph, compared(graph));
  return compared(graph).front()->matrix();
}

// The model on other words: another one at position t, counted from 0.
ModelChoice with_another_word(ModelChoice choice, std::size_t t) {
  if (choice.target.x) {
    for (double& cell : row(*choice.target.x, t)) cell += 1.0;
    return choice;
  }
  const std::size_t words = choice.model.sizes.target_words;
  if (words < 2) fail("--check-causal replaces words, and the vocabulary has only one: give --target-x");
  choice.target.ids[t] = choice.target.ids[t] % words + 1;
  return choice;
}

// How far the rows of [from, to) moved at most.
double moved(const Matrix& before, const Matrix& after, std::size_t from, std::size_t to) {
  double most = 0.0;
  for (std::size_t i = from; i < to; ++i) {
    for (std::size_t j = 0; j < before.shape().columns; ++j) {
      most = std::max(most, std::fabs(after(i, j) - before(i, j)));
    }
  }
  return most;
}

// Changes every word of the target but the first in turn: no output of the decoder before it may move. Throws
// InputError: no decoder, a single word, numbers that overflow.
Outcome check_causal(const ModelChoice& choice) {
  if (choice.target.size() == 0) fail("--check-causal needs a decoder, and this model has none");
  const std::size_t n = choice.target.size();
  if (n < 2) fail("--check-causal replaces a later word, and there is only one: give a longer --target");
  const Matrix original = decoded(choice);
  Matrix numbers({n - 1, 2}, 0.0);
  std::vector<std::string> labels;
  bool holds = true;
  for (std::size_t t = 1; t < n; ++t) {
    const Matrix changed = decoded(with_another_word(choice, t));
    numbers(t - 1, 0) = moved(original, changed, 0, t);
    numbers(t - 1, 1) = moved(original, changed, t, n);
    holds = holds && numbers(t - 1, 0) == 0.0;
    labels.push_back(choice.target.tokens.empty() ? fmt::format("word {}", t + 1)
                                                  : fmt::format("{} {}", t + 1, choice.target.tokens[t]));
  }
  Page page;
  page.blocks.emplace_back(Heading{1, text("Causal mask check")});
  page.blocks.emplace_back(Prose{
      text("Each target word except the first is changed in turn. The table shows the largest change in the "
           "decoder's output: at the earlier positions, and from the changed position on.")});
  page.blocks.emplace_back(quantities("changed", axis("words", std::move(labels)),
                                      {"earlier", "this and later"}, std::move(numbers)));
  page.blocks.emplace_back(
      Prose{text(holds ? "No earlier output changed."
                       : "An earlier output changed: the model attends to later words.")});
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .verdict = holds ? Verdict::passed : Verdict::failed};
}

// What the part says at the end, and the words that should come out.
Differentiable differentiable(const std::shared_ptr<Graph>& graph, const ModelPart& part,
                              const ModelChoice& choice) {
  const Transformer& model = choice.model;
  Differentiable all{.computation = {graph},
                     .title = model.title.empty() ? std::string(part.title) : model.title,
                     .results = {},
                     .remarks = choice.remarks,
                     .names_are_long = true};
  const Node* const logits = graph->find(role::logits);
  const auto found = std::ranges::find_if(graph->nodes().rbegin(), graph->nodes().rend(),
                                          [](const Node& node) { return node.is(role::output); });
  if (const Node* const last = logits ? logits : &*found) all.results = {last};
  if (!logits || choice.expected.empty()) return all;
  std::vector<std::size_t> ids;
  for (const std::string& word : choice.expected) ids.push_back(id_in(model.target_vocabulary, word));
  all.predictions = {{logits, std::move(ids)}};
  all.told_words =
      "The right words are those of --target: at each position the next one, and at the last <end>.";
  return all;
}

}  // namespace

Outcome run_transformer(const Command& command, const Arguments& arguments) {
  const ModelPart& part = part_of(command.name);
  ModelChoice planned = planned_model(arguments, part.use);
  if (arguments.has(option::outline) && !asks_for_gradients(arguments))
    return outline(part, planned, arguments);
  if (arguments.has(option::outline)) {
    auto graph = std::make_shared<Graph>(keep_nothing());
    run_model(planned, *graph);
    return gradients_of(differentiable(graph, part, planned), arguments);
  }
  const bool checks = arguments.has(option::check_causal);
  const auto wanted = [&](const Graph& graph) {
    if (asks_for_gradients(arguments)) return std::vector<const Node*>();  // what they need is known later
    return checks ? compared(graph) : wanted_nodes(graph, arguments);
  };
  require_room(planned, wanted);
  const bool is_random = planned.model.parameters.empty();
  const ModelChoice choice = drawn(std::move(planned), arguments, part.use);
  if (checks) return check_causal(choice);

  auto graph = std::make_shared<Graph>(keep_nothing());
  run_model(choice, *graph);
  if (is_random) tell_what_is_random(*graph, choice.model, model_seed(arguments));
  tell_progress(*graph, arguments);
  const std::string random =
      is_random ? told_as_random(part.use, *choice.model.kind, model_seed(arguments)) : std::string();
  if (asks_for_gradients(arguments)) {
    Differentiable forward = differentiable(graph, part, choice);
    forward.computation.random = random;
    return gradients_of(forward, arguments);
  }
  compute(*graph, wanted(*graph));
  Page page;
  if (!arguments.narrows()) {
    const std::vector<const Node*> nodes = shown_nodes(*graph, part, choice.model);
    page.trace.add(nodes);
    add_head(page, part, choice);
    add_model_walk(page, nodes, choice.model.recipe, choice.source, choice.target);
    if (part.use.needs != ModelUse::Needs::encoder) add_expected(page, *graph, choice);
  }
  Outcome outcome{.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
  for (std::string& warning : warnings(*graph)) outcome.warnings.push_back(std::move(warning));
  outcome.computation.random = random;
  outcome.files = saved_parameters(arguments, choice.model);
  return outcome;
}

}  // namespace attn
