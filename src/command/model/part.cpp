#include "command/model/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace attn {
namespace {

using enum ModelUse::Needs;

const ModelPart parts[] = {
    {{"encoder", "encoder-only", encoder}, "The encoder", {&scope::source, &scope::encoder}},
    {{"decoder", "encoder-decoder", decoder},
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
  if (!of_source && !of_target) return "none, since vectors go in";
  if (!has_vectors || choice.model.positions == "none") return choice.model.positions;
  return fmt::format("{}, and none for the {}, since vectors go in", choice.model.positions,
                     of_source ? "target" : "source");
}

std::string sizes_in_words(const ModelChoice& choice) {
  const TransformerSizes& sizes = choice.model.sizes;
  return fmt::format(
      "{}, d_model = {}, h = {}, d_k = d_v = {}, d_ff = {}; activation: ReLU; layer normalization: {}; "
      "positions: {}.",
      layers_in_words(choice.model), sizes.d_model, sizes.heads, sizes.d_model / sizes.heads, sizes.d_ff,
      choice.model.norm->name, positions_in_words(choice));
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
