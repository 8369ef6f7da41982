#include <fmt/format.h>

#include "attention/watches.hpp"
#include "command/explanation.hpp"
#include "command/gradients.hpp"
#include "command/model/length_page.hpp"
#include "command/model/translation.hpp"
#include "graph/address.hpp"
#include "support/error.hpp"
#include "tell/alignment.hpp"
#include "tell/alignment_diagram.hpp"
#include "tell/describe.hpp"

namespace attn {
namespace {

// The alignment with the outputs as columns (Stenzel 2023, Transformer Pt. 1).
void add_transposed(Graph& graph) {
  const Node* alignment = graph.find(role::alignment);
  if (!alignment) fail("--transpose: the variant none has no alignment: choose another --variant");
  graph.name(role::alignment_transposed, transpose(Value(*alignment)));
}

// The output that --from names, by its word or its number from 1.
std::size_t asked_output(const Graph& graph, const Translation& translation, const Arguments& arguments) {
  const std::optional<std::string> word = arguments.text(option::from);
  if (!word) return telling_output(graph, translation);
  std::vector<std::string> words;
  for (const std::size_t id : translation.target) words.push_back(translation.model.target_words[id - 1]);
  return find_place(axis("outputs", words), words.size(), *word, fmt::format("--from {}", *word)) + 1;
}

Outcome outline_of(const std::shared_ptr<Graph>& graph, const Translation& translation,
                   const Arguments& arguments) {
  if (translation.target.empty()) fail("--outline draws the output words, and there are none: give --target");
  const std::size_t output = asked_output(*graph, translation, arguments);
  const bool attends = !translation.model.variant->score.empty();
  Page page;
  page.head(1, translation.title);
  page.say(
      "A state depends on the state before it and on one word: the encoder's on the source word above it, "
      "the "
      "decoder's on the previous output word.");
  page.say(attends ? fmt::format("The numbers are the attention weights of output {}, which sum to 1: the "
                                 "context c{} is the weighted sum of the encoder's states. --from chooses "
                                 "another output.",
                                 output, output)
                   : std::string("Without attention only the last state of the encoder reaches the decoder: "
                                 "this is the bottleneck."));
  page.head(2, "The states");
  page.say(alignment_diagram(*graph, translation, output));
  return {.page = std::move(page), .computation = {graph}};
}

// The outputs, and the words that they should be.
Differentiable differentiable(const std::shared_ptr<Graph>& graph, const Translation& translation) {
  Differentiable all{.computation = {.graph = graph, .random = translation.on_random},
                     .title = translation.title,
                     .results = {},
                     .names_are_long = true};
  for (std::size_t t = 1; t <= translation.target.size(); ++t) {
    const Node& logits = graph->at({{scope::decoder, {scope::number, t}}, role::logits});
    all.results = {&logits};
    all.predictions.push_back({&logits, {translation.target[t - 1]}});
  }
  all.told_words = translation.is_forced ? "The right words are those of the given translation."
                                         : "The right words are those that the model itself has chosen: "
                                           "--target gives others.";
  return all;
}

}  // namespace

Outcome run_align(const Command&, const Arguments& arguments) {
  if (arguments.has(option::by_length)) return translations_by_length(arguments);
  const Translation translation = translation_of(arguments);
  const std::shared_ptr<Graph> graph = watched_graph();
  evaluate(translation.model, translation.source, translation.target, *graph);
  if (asks_for_gradients(arguments)) return gradients_of(differentiable(graph, translation), arguments);
  compute(*graph);
  if (arguments.has(option::outline)) return outline_of(graph, translation, arguments);
  if (arguments.has(option::transpose)) add_transposed(*graph);

  Page page;
  if (!arguments.narrows()) {
    page.trace = graph->named();
    add_alignment_walk(page, *graph, translation);
  }
  return {.page = std::move(page), .computation = {.graph = graph, .random = translation.on_random}};
}

}  // namespace attn
