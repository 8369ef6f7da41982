#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "attention/identities.hpp"
#include "command/explanation.hpp"
#include "command/model/choice.hpp"
#include "command/model/walk.hpp"
#include "page/describe.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

// The command of one part of a model: the kind that is drawn for it, and the scopes that it shows.
struct ModelPart {
  std::string_view command;
  std::string_view usual_kind;
  std::string_view title;
  std::vector<std::string_view> scopes;  // empty: all
};

const ModelPart parts[] = {
    {"encoder", "encoder-only", "The encoder", {"source.", "encoder."}},
    {"decoder", "encoder-decoder", "The decoder", {"target.", "decoder.", "memory"}},
    {"transformer", "encoder-decoder", "The Transformer", {}},
};

// The part is one that the model has.
void require_part(const ModelPart& part, const ModelKind& kind) {
  if (part.command == "encoder" && !kind.encodes)
    fail("attn encoder needs an encoder, and this model has none");
  if (part.command == "decoder" && !kind.decodes)
    fail("attn decoder needs a decoder, and this model has none");
}

bool belongs(const Node& node, const ModelPart& part) {
  const auto begins = [&](std::string_view scope) { return node.name.starts_with(scope); };
  const bool of_output = node.leaf() == "logits" || node.leaf() == "distribution";
  return part.scopes.empty() || std::ranges::any_of(part.scopes, begins) ||
         (of_output && part.command == "decoder");
}

// Runs the model on its words, as far as it goes.
void run_model(const ModelChoice& choice, Graph& graph) {
  RunningTransformer running(choice.model, graph);
  std::optional<Value> encoded;
  if (choice.memory) {
    encoded = graph.input("memory", *choice.memory, axis("tokens"), axis("features"));
  } else if (choice.model.kind->encodes) {
    encoded = running.encode(choice.source);
  }
  if (choice.target.size() == 0) return;  // there is no decoder, or nobody wants to see it
  const Value decoded = running.decode(choice.target, encoded);
  if (running.has_output()) name("distribution", softmax(running.logits(decoded)));
}

// attn parameters lists those.
std::set<std::string> learned_names(const Transformer& model) {
  std::set<std::string> names;
  for (const ParameterRow& row : parameters_of(model)) names.insert(row.name);
  return names;
}

std::string sizes_in_words(const Transformer& model) {
  const TransformerSizes& sizes = model.sizes;
  return fmt::format("N = {}, d_model = {}, h = {}, d_k = d_v = {}, d_ff = {}; norms: {}; positions: {}.",
                     sizes.layers, sizes.d_model, sizes.heads, sizes.d_model / sizes.heads, sizes.d_ff,
                     model.norm->name, model.positions);
}

void add_head(Page& page, const ModelPart& part, const Transformer& model) {
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string(part.title) : model.title)});
  for (const std::string& paragraph : model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  page.blocks.emplace_back(Prose{text(sizes_in_words(model))});
}

// Words that should come out, and what the model expects there.
void add_expected(Page& page, const ModelChoice& choice) {
  const Node* distribution = page.graph->find("distribution");
  if (!distribution || choice.expected.empty()) return;
  Listing listing{{"after", "should come", "probability", "most probable"}, {}};
  for (std::size_t i = 0; i < choice.expected.size(); ++i) {
    const std::span<const double> row = attn::row(distribution->matrix(), i);
    const Axis& words = distribution->frame.columns;
    const auto most = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    std::string probability = "–";
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (words.label(j) == choice.expected[i]) probability = written_fixed(row[j], 4);
    }
    listing.rows.push_back(
        {distribution->frame.rows.label(i), choice.expected[i], probability, words.label(most)});
  }
  page.blocks.emplace_back(Heading{2, text("What should come next")});
  page.blocks.emplace_back(Prose{
      text("Each word of the target, the one that should follow it, the probability that the model gives it, "
           "and the word to which it gives most.")});
  page.blocks.emplace_back(std::move(listing));
}

Outcome outline(const ModelPart& part, const Arguments& arguments) {
  const ModelChoice choice = planned_model(arguments, part.usual_kind);
  require_part(part, *choice.model.kind);
  auto graph = std::make_shared<Graph>(keep_nothing(), Evaluation::never);
  run_model(choice, *graph);
  Page page{.graph = graph, .problem = nullptr, .trace = {}, .blocks = {}};
  const std::optional<std::string> only = arguments.text("only");
  const std::set<std::string> learned = learned_names(choice.model);
  for (const Node& node : graph->nodes()) {
    if (node.name.empty()) continue;
    const bool wanted = only ? matches(*only, node.name) : !learned.contains(node.name);
    if (wanted && belongs(node, part)) page.trace.push_back(&node);
  }
  if (page.trace.empty()) fail("--only {}: attn {} has no such matrix", only.value_or(""), part.command);
  add_head(page, part, choice.model);
  add_outline(page);
  page.trace.clear();  // there are no numbers
  return {std::move(page), choice.remarks};
}

// Every word but the first is changed in turn: no output before it may move.
Outcome check_causal(const ModelChoice& choice) {
  if (!choice.model.kind->decodes) fail("--check-causal looks at a decoder, and there is none");
  const std::size_t n = choice.target.size();
  if (n < 2) fail("--check-causal changes a later word, and there is only one: give a longer --target");
  const auto decoded = [&](const ModelChoice& changed) {
    Graph graph(keep_matching("decoder.output"));
    run_model(changed, graph);
    return *graph.at("decoder.output").kept;
  };
  const Matrix original = decoded(choice);
  Matrix numbers = make_matrix({n - 1, 2}, 0.0);
  std::vector<std::string> labels;
  bool holds = true;
  for (std::size_t t = 1; t < n; ++t) {
    ModelChoice changed = choice;
    if (changed.target.x) {
      for (double& cell : row(*changed.target.x, t)) cell += 1.0;
    } else {
      const std::size_t words = choice.model.sizes.target_words;
      if (words < 2) fail("--check-causal changes words, and the model knows only one: give --target-x");
      changed.target.ids[t] = changed.target.ids[t] % words + 1;
    }
    const Matrix moved = decoded(changed);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < original.shape()[1]; ++j) {
        double& most = numbers(t - 1, i < t ? 0 : 1);
        most = std::max(most, std::fabs(moved(i, j) - original(i, j)));
      }
    }
    holds = holds && numbers(t - 1, 0) == 0.0;
    labels.push_back(choice.target.tokens.empty() ? fmt::format("word {}", t + 1)
                                                  : fmt::format("{} {}", t + 1, choice.target.tokens[t]));
  }
  Page page;
  page.blocks.emplace_back(Heading{1, text("Not looking ahead")});
  page.blocks.emplace_back(Prose{
      text("Each word of the target but the first is changed in turn, and the outputs of the decoder are "
           "compared: how far those before the changed word moved, and how far it and those after it.")});
  page.blocks.emplace_back(quantities("changed", axis("words", std::move(labels)),
                                      {"before it", "from it on"}, std::move(numbers)));
  page.blocks.emplace_back(
      Prose{text(holds ? "No output before a changed word moved at all."
                       : "An output before a changed word moved: the model looks ahead.")});
  return {.page = std::move(page),
          .warnings = choice.remarks,
          .verdict = holds ? Verdict::passed : Verdict::failed};
}

}  // namespace

Outcome run_transformer(const Command& command, const Arguments& arguments) {
  const ModelPart& part = *std::ranges::find(parts, command.name, &ModelPart::command);
  for (const std::string_view other : {"only", "outline", "check-causal"})
    arguments.exclude("explain", other);
  arguments.exclude("check-causal", "outline");
  arguments.exclude("check-causal", "only");
  for (const std::string_view other : {"outline", "check-causal"})
    arguments.exclude("save-parameters", other);
  if (arguments.has("depth") && !arguments.has("explain"))
    fail("--depth belongs to --explain CELL: give both");
  if (arguments.has("outline")) return outline(part, arguments);
  const ModelChoice choice = chosen_model(arguments, part.usual_kind);
  require_part(part, *choice.model.kind);
  if (arguments.has("check-causal")) return check_causal(choice);

  const std::optional<std::string> only = arguments.text("only");
  auto graph = std::make_shared<Graph>(telling(only ? keep_matching(*only) : keep_everything(), arguments));
  run_model(choice, *graph);
  check_overflow(*graph);
  Page page{.graph = graph, .problem = nullptr, .trace = {}, .blocks = {}};
  if (const std::optional<std::string> address = arguments.text("explain")) {
    add_explanation(page, *address, arguments.count("depth", 0, 1000).value_or(0));
  } else if (only) {
    page.trace = graph->matching(*only);
    for (const Node* node : page.trace) add_results(page, {node});
  } else {
    const std::set<std::string> learned = learned_names(choice.model);
    for (const Node& node : graph->nodes()) {
      const bool shown = !node.name.empty() && belongs(node, part) && !learned.contains(node.name);
      if (shown) page.trace.push_back(&node);
    }
    add_head(page, part, choice.model);
    add_model_walk(page);
    if (part.command != "encoder") add_expected(page, choice);
  }
  Outcome outcome{.page = std::move(page), .warnings = choice.remarks};
  for (std::string& warning : warnings(*graph)) outcome.warnings.push_back(std::move(warning));
  outcome.files = saved_parameters(arguments, choice.model);
  return outcome;
}

}  // namespace attn
