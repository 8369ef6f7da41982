#include "core/model/residual_stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "command/forms.hpp"
#include "command/model/choice.hpp"
#include "command/model/model_run.hpp"
#include "command/model/words_of_sides.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "page/tell/lens_tables.hpp"

namespace attn {
namespace {

// The position that is looked at, and the word whose logit is taken apart.
struct LookedAt {
  std::size_t row = 0;
  std::optional<std::size_t> word = {};
};

const Node& logits_of(const Graph& graph) {
  if (const Node* const logits = graph.find(role::logits)) return *logits;
  fail("attn lens needs an output layer, which names words, and this model has none");
}

// A word of the vocabulary: by its label, or as a text that the model's tokenizer makes one piece of, or by its number.
std::size_t find_in_vocabulary(const Node& logits, const ModelWords& words, const std::string& word) {
  const Axis& vocabulary = logits.frame.columns;
  const std::size_t size = logits.frame.shape.columns;
  const auto labels =
      vocabulary.labels ? std::span<const std::string>(*vocabulary.labels) : std::span<const std::string>();
  if (std::ranges::count(labels, word) == 1)
    return static_cast<std::size_t>(std::ranges::find(labels, word) - labels.begin());
  if (words.tokenizer && !word.empty()) {
    const std::vector<Token> pieces = words.tokenizer->encode(word, false);
    if (pieces.size() == 1 && pieces.front().id < size) return pieces.front().id;
    if (pieces.size() > 1 && !parse_number<std::size_t>(word))
      fail("--word '{}': this is {} words of the model, and one is looked at: {}", word, pieces.size(),
           fmt::join(words.of(word, false), " "));
  }
  return find_place(vocabulary, size, word, fmt::format("--word '{}'", word));
}

LookedAt looked_at_logits(const Node& logits, const ModelWords& words, const Arguments& arguments) {
  const Shape shape = logits.frame.shape;
  LookedAt looked{.row = shape.rows - 1};
  if (const std::optional<std::string> of = arguments.text(option::of)) {
    const Cell cell = find_cell(*logits.graph, *of);
    if (&cell.node->original() != &logits.original()) fail("--of {}: give a number of logits, as logits[1,2]", *of);
    return {cell.row, cell.column};
  }
  if (const std::optional<std::string> at = arguments.text(option::at))
    looked.row = find_named_place(logits.frame.rows, shape.rows, *at, fmt::format("--at '{}'", *at));
  if (const std::optional<std::string> word = arguments.text(option::logit_word))
    looked.word = find_in_vocabulary(logits, words, *word);
  return looked;
}

// What is added to the graph of a model.
struct Lens {
  ResidualStream stream;
  Value distribution;
  std::optional<Attribution> attribution = {};
};

Lens add_lens(const Node& logits, const LookedAt& looked) {
  ResidualStream stream = residual_stream(logits, looked.row);
  Lens lens{.stream = stream, .distribution = logit_lens(stream)};
  if (looked.word) lens.attribution = logit_attribution(stream, *looked.word);
  return lens;
}

std::vector<const Node*> named_in_lens(const Graph& graph) {
  std::vector<const Node*> nodes;
  for (const Node* node : graph.named()) {
    const NamedScope* const outer = outermost(node->place);
    if (outer && outer->is(scope::lens)) nodes.push_back(node);
  }
  return nodes;
}

std::vector<const Node*> lens_and_logits(const Graph& graph) {
  std::vector<const Node*> nodes = named_in_lens(graph);
  nodes.push_back(graph.find(role::logits));
  return nodes;
}

}  // namespace

Answer run_lens(const Command&, const Arguments& arguments) {
  constexpr ModelUse use{"lens", "decoder-only", ModelUse::Needs::any, true};
  ModelChoice planned = planned_model(arguments, use);
  require_room(planned, [](const Graph&) { return std::vector<const Node*>(); });
  {
    Graph graph;
    run_model(planned, graph);
    const Node& logits = logits_of(graph);
    add_lens(logits, looked_at_logits(logits, planned.words, arguments));
    require_room(plan(graph, wanted_nodes(graph, arguments, lens_and_logits)));
  }
  const ModelChoice choice = with_drawn_parameters(std::move(planned), arguments, use);
  const auto graph = std::make_shared<Graph>(keep_nothing());
  run_model(choice, *graph);
  tell_progress(*graph, arguments);
  const Node& logits = logits_of(*graph);
  const LookedAt looked = looked_at_logits(logits, choice.words, arguments);
  const Lens lens = add_lens(logits, looked);
  compute_watched(*graph, wanted_nodes(*graph, arguments, lens_and_logits));
  Page page;
  if (!arguments.narrows()) {
    constexpr std::size_t usual_words = 5;
    page.trace.add(named_in_lens(*graph));
    add_logit_lens(page, lens.stream, lens.distribution.node(), looked.word,
                   arguments.count(option::top_k).value_or(usual_words));
    if (lens.attribution) add_attribution(page, lens.stream, *lens.attribution, *looked.word);
  }
  Answer answer{.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
  for (std::string& warning : warnings(*graph)) answer.warnings.push_back(std::move(warning));
  if (choice.drawn_with)
    answer.computation.random = note_on_random_parameters(use, *choice.model.kind, *choice.drawn_with);
  return answer;
}

}  // namespace attn
