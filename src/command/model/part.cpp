#include "command/model/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace attn {
namespace {

using enum ModelUse::Needs;

const ModelPart parts[] = {
    {{"encoder", "encoder-only", encoder},
     "The encoder",
     {&scope::source, &scope::encoder},
     {&role::logits, &role::distribution}},
    {{"decoder", "encoder-decoder", decoder, true},
     "The decoder",
     {&scope::target, &scope::decoder},
     {&role::memory, &role::logits, &role::distribution}},
    {{"transformer", "encoder-decoder", any}, "The Transformer", {}},
};

std::string layers_in_words(const Transformer& model) {
  const std::size_t of_encoder = model.sizes.encoder_layers, of_decoder = model.sizes.decoder_layers;
  if (!model.has_encoder()) return fmt::format("N = {}", of_decoder);
  if (!model.kind->decodes || of_decoder == of_encoder) return fmt::format("N = {}", of_encoder);
  return fmt::format("N = {} in the encoder and {} in the decoder", of_encoder, of_decoder);
}

// Positions are added to embeddings: vectors are taken as they are.
std::string positions_in_words(const ModelChoice& choice) {
  const bool of_source = !choice.source.ids.empty(), of_target = !choice.target.ids.empty();
  const bool has_vectors = choice.source.x || choice.target.x;
  const PositionKind& positions = *choice.model.recipe.positions;
  if (positions.of_queries_and_keys) return std::string(positions.name);
  if (!of_source && !of_target) return "none, since vectors go in";
  if (!has_vectors || &positions == &position_kinds().front()) return std::string(positions.name);
  return fmt::format("{}, and none for the {}, since vectors go in", positions.name,
                     of_source ? "target" : "source");
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
  const bool has_norms = recipe.norm->in_layers || recipe.norm->at_the_end;
  say(has_norms && recipe.epsilon != usual.epsilon, fmt::format("ε = {}", recipe.epsilon));
  say(recipe.positions->has_waves && recipe.base != usual.base, fmt::format("base = {}", recipe.base));
  say(recipe.scale != usual.scale, fmt::format("scale of the scores: {}", recipe.scale));
  say(recipe.tied_output && model.kind->decodes, "the output layer is the transposed embedding");
  say(sizes.all_heads().of_keys != sizes.heads,
      fmt::format("heads of keys and values: {}", sizes.all_heads().of_keys));
  return words;
}

std::string sizes_in_words(const ModelChoice& choice) {
  const TransformerSizes& sizes = choice.model.sizes;
  const ModelRecipe& recipe = choice.model.recipe;
  const std::string feed_forward =
      sizes.d_ff == 0 ? "no feed-forward layers"
                      : fmt::format("d_ff = {}; activation: {}", sizes.d_ff, recipe.activation->title);
  return fmt::format("{}, d_model = {}, h = {}, d_k = d_v = {}, {}; {}: {}; positions: {}{}.",
                     layers_in_words(choice.model), sizes.d_model, sizes.heads, sizes.d_k(), feed_forward,
                     recipe.norm_kind->title, recipe.norm->name, positions_in_words(choice),
                     unusual_in_words(choice.model));
}

}  // namespace

const ModelPart& part_of(std::string_view command) {
  for (const ModelPart& part : parts) {
    if (part.use.command == command) return part;
  }
  throw std::logic_error("no part of a model is shown by attn " + std::string(command));
}

bool belongs(const Node& node, const ModelPart& part) {
  const NamedScope* const side = outermost(node.place);
  return part.scopes.empty() ||
         std::ranges::any_of(part.scopes, [&](const ScopeKind* kind) { return side && side->is(*kind); }) ||
         std::ranges::any_of(part.roles, [&](const Role* role) { return node.is(*role); });
}

std::vector<const Node*> shown_nodes(const Graph& graph, const ModelPart& part, const Transformer& model) {
  std::set<std::string> learned;
  for (const ParameterRow& row : parameters_of(model)) learned.insert(row.name);
  std::vector<const Node*> shown;
  for (const Node& node : graph.nodes()) {
    if (!node.name.empty() && belongs(node, part) && !learned.contains(node.name)) shown.push_back(&node);
  }
  return shown;
}

void add_head(Page& page, const ModelPart& part, const ModelChoice& choice) {
  const Transformer& model = choice.model;
  page.blocks.emplace_back(Heading{1, text(model.title.empty() ? std::string(part.title) : model.title)});
  if (!model.summary.empty()) page.blocks.emplace_back(Prose{text(model.summary)});
  for (const std::string& paragraph : model.about) page.blocks.emplace_back(Prose{text(paragraph)});
  page.blocks.emplace_back(Prose{text(sizes_in_words(choice))});
}

}  // namespace attn
