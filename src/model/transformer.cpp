#include "model/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/masks.hpp"
#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

Learned learned_of(const Transformer& model, Graph& graph) {
  const Vocabularies words{axis("vocabulary", model.source_vocabulary),
                           axis("vocabulary", model.target_vocabulary)};
  if (model.parameters.empty()) return Learned(graph, parameters_of(model), words);
  return Learned(graph, model.parameters, words);
}

Matrix column_of(const std::vector<std::size_t>& ids) {
  Matrix column({ids.size(), 1});
  for (std::size_t i = 0; i < ids.size(); ++i) column(i, 0) = static_cast<double>(ids[i]);
  return column;
}

bool is_placed(const ParameterRow& row, const NormPlacement& norm) {
  const ScopeName* const scope = row.norm();
  if (!scope) return true;
  return scope->number ? norm.in_layers : norm.at_the_end;
}

}  // namespace

// The scope of the vectors of a side, and of what it has learned of words and places.
struct RunningTransformer::Side {
  const ScopeKind& scope;
  const ScopeKind& embedding;
  const ScopeKind& positions;
};

constexpr RunningTransformer::Side RunningTransformer::source_side{scope::source, scope::source_embedding,
                                                                   scope::source_positions};
constexpr RunningTransformer::Side RunningTransformer::target_side{scope::target, scope::target_embedding,
                                                                   scope::target_positions};

std::vector<ParameterRow> parameters_of(const Transformer& model) {
  std::vector<ParameterRow> rows = parameter_rows(*model.kind, model.sizes);
  std::erase_if(rows, [&](const ParameterRow& row) {
    return model.parameters.empty() ? !is_placed(row, *model.norm) : !model.parameters.contains(row.name);
  });
  return rows;
}

bool ModelInput::has_blanks() const {
  return any(blank);
}

RunningTransformer::RunningTransformer(const Transformer& model, Graph& graph)
    : model_(model),
      graph_(graph),
      learned_(learned_of(model, graph)),
      recipe_{.heads = model.sizes.heads, .norm = model.norm},
      memories_(model.sizes.decoder_layers) {}

// Vectors that are given are taken as they are: positions have been added to them, or not.
Value RunningTransformer::vectors_of(const Side& side, const ModelInput& words) {
  const Graph::Scope scope(graph_, side.scope);
  const Axis tokens = axis("tokens", words.tokens);
  if (words.x) return graph_.input(role::x, *words.x, tokens, axis("features"));
  Value ids = graph_.input(role::ids, column_of(words.ids), tokens, axis("id"));
  Value x = name(role::x, embed(ids, learned_.at({{side.embedding}, role::e})));
  if (model_.scale_embeddings) {
    const std::size_t d = x.shape().columns;
    const Formula root = {fmt::format("√{}", d), fmt::format("\\sqrt{{{}}}", d)};
    x = name(role::scaled_x, times(x, {std::sqrt(static_cast<double>(d)), root}));
  }
  const PositionKind& kind = look_up(position_kinds(), model_.positions, "kind of positions");
  const std::size_t before = &side == &target_side ? words_before_ : 0;
  const Places places{before, learned_.find({{side.positions}, role::table})};
  if (kind.table_shape && !places.table) {
    fail("--positions {}: the model has no {}_positions.table: give --positions sinusoidal or none",
         kind.name, side.scope.name);
  }
  return with_positions(kind, x, places);
}

// Some models normalize once more at the end.
Value RunningTransformer::finish(const ScopeKind& side, const Value& x) {
  const Learned learned = learned_.within({side});
  const bool normalizes = learned.has({{scope::norm}, role::gamma});
  return name(role::output, normalizes ? normalised_within(scope::norm, x, learned) : x);
}

std::optional<Value> RunningTransformer::encoder_mask() const {
  if (!source_.has_blanks()) return std::nullopt;
  const Shape shape{source_.size(), source_.size()};
  return graph_.input(role::mask, mask_by({padding_rule(source_.blank)}),
                      {shape, axis("queries", source_.tokens), axis("keys", source_.tokens)});
}

Value RunningTransformer::encode(const ModelInput& source) {
  source_ = source;
  Value x = vectors_of(source_side, source);
  const Graph::Scope scope(graph_, scope::encoder);
  const std::optional<Value> allowed = encoder_mask();
  for (std::size_t i = 1; i <= model_.sizes.encoder_layers; ++i) {
    const Graph::Scope layer(graph_, scope::number, i);
    x = encoder_layer(x, learned_.within({scope::encoder, {scope::number, i}}), recipe_, allowed);
  }
  return finish(scope::encoder, x);
}

// One word alone may attend to all words before it: it needs no mask.
DecoderMasks RunningTransformer::decoder_masks(const ModelInput& target) const {
  DecoderMasks masks;
  const std::size_t n = target.size();
  const Axis queries = axis("queries", target.tokens);
  if (n > 1 || any(blank_before_)) {
    const Shape shape{n, words_before_};
    masks.self =
        graph_.input(role::mask, mask_by({causal_rule(words_before_ - n), padding_rule(blank_before_)}),
                     {shape, queries, axis("keys", tokens_before_)});
  }
  if (source_.has_blanks()) {
    const Shape shape{n, source_.size()};
    masks.cross = graph_.input(role::cross_mask, mask_by({padding_rule(source_.blank)}),
                               {shape, queries, axis("keys", source_.tokens)});
  }
  return masks;
}

Value RunningTransformer::decode(const ModelInput& target, const std::optional<Value>& encoded) {
  Value x = vectors_of(target_side, target);
  words_before_ += target.size();
  blank_before_.insert(blank_before_.end(), target.blank.begin(), target.blank.end());
  blank_before_.resize(words_before_, false);
  tokens_before_.insert(tokens_before_.end(), target.tokens.begin(), target.tokens.end());
  const Graph::Scope scope(graph_, scope::decoder);
  const DecoderMasks masks = decoder_masks(target);
  for (std::size_t i = 1; i <= model_.sizes.decoder_layers; ++i) {
    const Graph::Scope layer(graph_, scope::number, i);
    x = decoder_layer(x, learned_.within({scope::decoder, {scope::number, i}}), recipe_, masks, encoded,
                      memories_[i - 1]);
  }
  return finish(scope::decoder, x);
}

Value RunningTransformer::logits(const Value& decoded) {
  const Projection output{learned_.at({{scope::output}, role::w}), learned_.find({{scope::output}, role::b})};
  return name(role::logits, linear(decoded, output));
}

void RunningTransformer::forget() {
  for (DecoderMemory& memory : memories_) memory.self.reset();
  words_before_ = 0;
  blank_before_.clear();
  tokens_before_.clear();
}

}  // namespace attn
