#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "command/browser_page.hpp"
#include "command/forms.hpp"
#include "command/model/choice.hpp"
#include "command/model/model_run.hpp"
#include "command/model/words_of_sides.hpp"
#include "core/attention/watches.hpp"
#include "core/graph/find.hpp"
#include "core/graph/plan.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "page/block/page.hpp"
#include "page/tell/describe.hpp"
#include "page/tell/model_diagram.hpp"
#include "page/tell/model_walk.hpp"

namespace attn {

namespace {

// --- part

// A part of a model that has a command of its own: how that uses models, and the scopes that it shows.
struct ModelPart {
  ModelUse use;
  std::string_view title;
  std::vector<const ScopeKind*> scopes;  // empty: all
  std::vector<const Role*> roles = {};   // outside of them
};

using enum ModelUse::Needs;

const ModelPart parts[] = {
    {{"encoder", "encoder-only", encoder},
     "The encoder",
     {&scope::source, &scope::encoder, &scope::output},
     {&role::first_output, &role::scaled_output, &role::logits, &role::distribution}},
    {{"decoder", "encoder-decoder", decoder, true},
     "The decoder",
     {&scope::target, &scope::decoder, &scope::output},
     {&role::memory, &role::first_output, &role::scaled_output, &role::logits, &role::distribution}},
    {{"transformer", "encoder-decoder", any}, "The Transformer", {}},
};

std::string layers_in_words(const Transformer& model) {
  const std::size_t of_encoder = model.sizes.encoder_layers, of_decoder = model.sizes.decoder_layers;
  if (!model.has_encoder()) return fmt::format("N = {}", of_decoder);
  if (!model.kind->decodes || of_decoder == of_encoder) return fmt::format("N = {}", of_encoder);
  return fmt::format("N = {} in the encoder and {} in the decoder", of_encoder, of_decoder);
}

// Positions are added to embeddings: vectors are taken as they are.
std::string positions_of_choice(const ModelChoice& choice) {
  const bool of_source = !choice.source.ids.empty(), of_target = !choice.target.ids.empty();
  const bool has_vectors = choice.source.x || choice.target.x;
  const PositionKind& positions = *choice.model.recipe.positions;
  if (choice.model.sizes.buckets || choice.model.has_class_token()) return positions_in_words(choice.model);
  if (positions.of_queries_and_keys) return std::string(positions.name);
  if (!of_source && !of_target) return "none, since vectors go in";
  if (!has_vectors || &positions == &position_kinds().front()) return std::string(positions.name);
  return fmt::format("{}, and none for the {}, since vectors go in", positions.name, of_source ? "target" : "source");
}

// What a recipe has besides, where it is not the usual.
std::string unusual_in_words(const Transformer& model) {
  const ModelRecipe& recipe = model.recipe;
  const TransformerSizes& sizes = model.sizes;
  const ModelRecipe usual;
  std::string words;
  const auto say = [&](bool is_unusual, const std::string& what) {
    if (is_unusual) words += "; " + what;
  };
  const bool has_norms = recipe.norm->in_layers() || recipe.norm->at_the_end;
  say(has_norms && recipe.epsilon != usual.epsilon, fmt::format("ε = {}", recipe.epsilon));
  say(recipe.positions->has_waves && recipe.base != usual.base, fmt::format("base = {}", recipe.base));
  const bool turns = recipe.positions->of_queries_and_keys != nullptr;
  say(turns && recipe.rotated != usual.rotated,
      fmt::format("turned by positions: {} of {} numbers",
                  static_cast<std::size_t>(recipe.rotated * static_cast<double>(sizes.d_k())), sizes.d_k()));
  const WaveScaling& longer = recipe.scaling;
  const std::string_view where = recipe.local_base != 0.0 ? ", but not in layers with a window" : "";
  say(turns && longer.factor != usual.scaling.factor,
      longer.words == 0.0
          ? fmt::format("waves {} times as long{}", longer.factor, where)
          : fmt::format(
                "waves longer than {} positions {} times as long, those shorter than {} as they are, and between "
                "these less and less{}",
                longer.words / longer.low, longer.factor, longer.words / longer.high, where));
  say(recipe.window != 0.0,
      fmt::format("window: {}{}", count_of(static_cast<std::size_t>(recipe.window), "word"),
                  recipe.window_layers == ModelRecipe::all_layers
                      ? ""
                      : fmt::format(" in {}{}", recipe.local_layers(),
                                    turns && recipe.local_base != 0.0 ? fmt::format(", with base {}", recipe.local_base)
                                                                      : "")));
  say(sizes.normed_q != 0 || sizes.normed_k != 0, "queries and keys are normalized");
  say(recipe.score_cap != 0.0, fmt::format("soft cap of the scores: {}", recipe.score_cap));
  say(recipe.logit_cap != 0.0, fmt::format("soft cap of the logits: {}", recipe.logit_cap));
  say(recipe.scale != usual.scale, fmt::format("scale of the scores: {}", recipe.scale));
  const bool has_output = model.kind->decodes || sizes.target_words > 0;
  say(recipe.first_position != usual.first_position, fmt::format("first position: {}", recipe.first_position + 1));
  say(sizes.types > 0, fmt::format("token types: {}", sizes.types));
  say(recipe.tied_output && has_output, "the output layer is the transposed embedding");
  say(recipe.scale_output && recipe.tied_output && has_output, "what goes into it is divided by √d_model");
  say(recipe.first_output && has_output, "the output layer is applied to the first position alone");
  say(sizes.all_heads().of_keys != sizes.heads, fmt::format("heads of keys and values: {}", sizes.all_heads().of_keys));
  return words;
}

// encoder, decoder, and transformer for the whole. Throws std::logic_error for another command.
const ModelPart& part_named(std::string_view command) {
  for (const ModelPart& part : parts) {
    if (part.use.command == command) return part;
  }
  throw std::logic_error("no part of a model is shown by attn " + std::string(command));
}

// Whether a node stands in the scopes of the part.
bool belongs(const Node& node, const ModelPart& part) {
  const NamedScope* const side = outermost(node.place);
  return part.scopes.empty() ||
         std::ranges::any_of(part.scopes, [&](const ScopeKind* kind) { return side && side->is(*kind); }) ||
         std::ranges::any_of(part.roles, [&](const Role* role) { return node.is(*role); });
}

// The named nodes that a page on the part shows: no parameters, which attn parameters lists.
std::vector<const Node*> shown_nodes(const Graph& graph, const ModelPart& part, const Transformer& model) {
  std::set<std::string> learned;
  for (const ParameterRow& row : parameters_of(model)) learned.insert(row.name);
  std::vector<const Node*> shown;
  for (const Node& node : graph.nodes()) {
    if (!node.name.empty() && belongs(node, part) && !learned.contains(node.name)) shown.push_back(&node);
  }
  return shown;
}

// Title, description and sizes of the model.
void add_head(Page& page, const ModelPart& part, const ModelChoice& choice) {
  const Transformer& model = choice.model;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string(part.title) : model.title)});
  if (!model.summary.empty()) page.blocks.emplace_back(Prose{text(model.summary)});
  for (const std::string& paragraph : model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  page.blocks.emplace_back(Prose{text(sizes_in_words(model, positions_of_choice(choice)))});
}

// --- transformer

// The word with the highest probability, or how many share it.
std::string most_probable_word(std::span<const double> probabilities, const Axis& words) {
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
        {distribution->frame.rows.label(i), choice.expected[i], probability, most_probable_word(row, words)});
  }
  page.head(2, "What should come next");
  page.say(
      "Each line: a target word, the word that should follow it, the probability of that word, and the word with the highest probability.");
  if (follows_from_random(*distribution)) page.say("The probabilities follow from random numbers.");
  if (!knows_all) page.say("A dash means that the word is not in the model's vocabulary.");
  page.say(std::move(listing));
}

// Names, shapes and costs, for models that are too large to be run.
Answer outline_of_model(const ModelPart& part, const ModelChoice& choice, const Arguments& arguments) {
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
      "In the drawing each box is a step, with the shape of its result. "
      "A line beside a step is a residual connection. "
      "A frame is one of several equal layers, each with parameters of its own: the number at its edge says how many.");
  page.head(2, "The layers");
  page.say(model_diagram(*graph, shown_nodes(*graph, part, choice.model), choice.model));
  page.head(2, "The matrices");
  add_outline(page, *graph, nodes);
  return {.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
}

// What is compared: the output of the decoder, where the model has one.
std::vector<const Node*> compared_nodes(const Graph& graph) {
  const Node* const output = graph.find(Name{{scope::decoder}, role::output}.text());
  return output ? std::vector{output} : std::vector<const Node*>();
}

Matrix decoded(const ModelChoice& choice) {
  Graph graph(keep_nothing());
  run_model(choice, graph);
  compute_watched(graph, compared_nodes(graph));
  return compared_nodes(graph).front()->matrix();
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
Answer check_causal(const ModelChoice& choice) {
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
  page.blocks.emplace_back(Prose{text(
      "Each target word except the first is changed in turn. "
      "The table shows the largest change in the decoder's output: at the earlier positions, and from the changed position on.")});
  page.blocks.emplace_back(
      quantities("changed", axis("words", std::move(labels)), {"earlier", "this and later"}, std::move(numbers)));
  page.blocks.emplace_back(Prose{
      text(holds ? "No earlier output changed." : "An earlier output changed: the model attends to later words.")});
  return {.page = std::move(page), .warnings = choice.remarks, .verdict = holds ? Verdict::passed : Verdict::failed};
}

// What the part says at the end, and the words that should come out.
Differentiable differentiable(const std::shared_ptr<Graph>& graph, const ModelPart& part, const ModelChoice& choice) {
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
  if (!logits && choice.target.x && !choice.target.tokens.empty())
    all.remarks.emplace_back(
        "--target only names the rows: this model has no output layer, so its words are no right words of a loss");
  if (!logits || choice.expected.empty()) return all;
  std::vector<std::size_t> ids;
  for (const std::string& word : choice.expected) ids.push_back(id_in(model.target_vocabulary, word));
  all.predictions = {{logits, std::move(ids)}};
  all.told_words =
      choice.expected.back() == choice.words.end()
          ? fmt::format("The right word at a position is the next one of the target, and at the last position {}.",
                        choice.words.end())
          : "The right word at a position is the next one of the target. The last position has none.";
  return all;
}

}  // namespace

// --- part

std::string positions_in_words(const Transformer& model) {
  if (model.sizes.buckets == 0) return std::string(model.recipe.positions->name);
  return fmt::format("{} of distances, the last from {} on", count_of(model.sizes.buckets, "bucket"),
                     model.recipe.max_distance);
}

std::string sizes_in_words(const Transformer& model, std::string_view positions) {
  const TransformerSizes& sizes = model.sizes;
  const ModelRecipe& recipe = model.recipe;
  const std::string feed_forward = sizes.d_ff == 0
                                       ? "no feed-forward layers"
                                       : fmt::format("d_ff = {}; activation: {}{}", sizes.d_ff,
                                                     recipe.activation->title, recipe.gated ? " of a gate" : "");
  constexpr std::string_view in_single =
      " It is computed in single precision: each result is rounded to float32, which keeps about 7 digits, and "
      "explanations compute in double precision with the rounded numbers.";
  return fmt::format("{}, d_model = {}, h = {}, d_k = d_v = {}, {}; {}: {}; positions: {}{}.{}", layers_in_words(model),
                     sizes.d_model, sizes.heads, sizes.d_k(), feed_forward, recipe.norm_kind->title, recipe.norm->name,
                     positions, unusual_in_words(model), recipe.single ? in_single : "");
}

// --- transformer

Answer run_transformer(const Command& command, const Arguments& arguments) {
  const ModelPart& part = part_named(command.name);
  ModelChoice planned = planned_model(arguments, part.use);
  if (arguments.has(option::outline) && !asks_for_gradients(arguments))
    return outline_of_model(part, planned, arguments);
  if (arguments.has(option::outline)) {
    auto graph = std::make_shared<Graph>(keep_nothing());
    run_model(planned, *graph);
    return gradients_of(differentiable(graph, part, planned), arguments);
  }
  const bool checks = arguments.has(option::check_causal);
  const auto wanted = [&](const Graph& graph) {
    if (asks_for_gradients(arguments)) return std::vector<const Node*>();  // what they need is known later
    return checks ? compared_nodes(graph) : wanted_nodes(graph, arguments);
  };
  require_room(planned, wanted);
  const ModelChoice choice = with_drawn_parameters(std::move(planned), arguments, part.use);
  if (checks) return check_causal(choice);

  auto graph = std::make_shared<Graph>(keep_nothing());
  run_model(choice, *graph);
  tell_progress(*graph, arguments);
  const std::string random =
      choice.drawn_with ? note_on_random_parameters(part.use, *choice.model.kind, *choice.drawn_with) : std::string();
  if (asks_for_gradients(arguments)) {
    Differentiable forward = differentiable(graph, part, choice);
    forward.computation.random = random;
    forward.computation.drawings = choice.drawings;
    return gradients_of(forward, arguments);
  }
  compute_watched(*graph, wanted(*graph));
  Page page;
  if (!arguments.narrows()) {
    const std::vector<const Node*> nodes = shown_nodes(*graph, part, choice.model);
    page.trace.add(nodes);
    add_head(page, part, choice);
    add_model_walk(page, nodes, choice.model.recipe, choice.source, choice.target);
    if (part.use.needs != ModelUse::Needs::encoder) add_expected(page, *graph, choice);
  }
  Answer answer{.page = std::move(page), .warnings = choice.remarks, .computation = {graph}};
  for (std::string& warning : warnings(*graph)) answer.warnings.push_back(std::move(warning));
  answer.computation.random = random;
  answer.computation.drawings = choice.drawings;
  answer.attachments.put(model_rerun(choice));
  answer.attachments.put(BrowserPageContent{.story = {.sentences = sentences_of_line(choice)}});
  answer.attachments.put(RightWords{differentiable(graph, part, choice).predictions});
  answer.files = saved_parameters(arguments, choice.model);
  return answer;
}

}  // namespace attn
