#include "core/model/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/attention/masks.hpp"
#include "core/attention/score.hpp"
#include "core/graph/run.hpp"
#include "core/op/gradient_operations.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

ParameterNodes learned_of(const Transformer& model, Graph& graph) {
  const Vocabularies words{axis("vocabulary", model.source_vocabulary), axis("vocabulary", model.target_vocabulary)};
  std::vector<ParameterRow> rows = parameters_of(model);
  // Inputs that have numbers stand in the order of their names.
  if (!model.parameters.empty()) std::ranges::sort(rows, {}, &ParameterRow::name);
  return ParameterNodes(graph, rows, model.parameters, words);
}

// Queries, and the keys that they look at; the shape of the mask of one sentence.
struct Sides {
  const Axis& queries;
  const Axis& keys;
  Shape shape;
};

// Flags of words, with those of more words of each sentence behind them; what is not told is no padding.
std::vector<bool> continued(const std::vector<bool>& before, std::size_t words_before, const ModelInput& more) {
  const std::size_t words = more.words_of_sentence(), all = words_before + words;
  std::vector<bool> flags(more.sentences * all, false);
  for (std::size_t s = 0; s < more.sentences; ++s) {
    for (std::size_t i = 0; i < all; ++i) {
      const std::vector<bool>& from = i < words_before ? before : more.blank;
      const std::size_t place = i < words_before ? s * words_before + i : s * words + i - words_before;
      flags[s * all + i] = place < from.size() && from[place];
    }
  }
  return flags;
}

// A given mask may have one row for all queries.
void require_fit(const Matrix& mask, const Sides& sides, const Role& role) {
  const Shape shape = mask.shape(), whole = sides.shape;
  if (shape.columns == whole.columns && (shape.rows == whole.rows || shape.rows == 1)) return;
  fail("{}: the mask is {}, and must be {} or 1×{}: a column for each key, a row for each query or one for all",
       role.leaf, to_string(shape), to_string(whole), whole.columns);
}

// A rule of a mask, and what it follows from.
struct MaskReason {
  MaskRule rule;
  std::string source;
};
const std::string causal_order = "the causal order", padding = "the padding", given_mask = "the given mask",
                  key_mask = "the mask of the keys";
constexpr std::string_view follows_from = "follows from ";

// What is looked at, for the reasons of a side and what was given: an input that no n × n cells stand behind.
AttentionInputs looking(Graph& graph, std::vector<MaskReason> reasons, const WordMask& given, const Sides& sides,
                        const Role& mask_role, const Role& bias_role) {
  AttentionInputs result;
  const auto in_each = [&](MaskRule rule) { return in_each_sentence(std::move(rule), sides.shape.rows); };
  if (!given.valid_lengths.empty())
    reasons.push_back({in_each(valid_length_rule(sides.shape, given.valid_lengths)), "the valid lengths"});
  if (given.allowed) {
    require_fit(*given.allowed, sides, mask_role);
    reasons.push_back({in_each(rule_of(*given.allowed)), given_mask});
  }
  if (given.keys) {
    require_fit(*given.keys, sides, mask_role);
    reasons.push_back({rule_of(*given.keys), key_mask});
  }
  if (!reasons.empty()) {
    std::vector<MaskRule> rules;
    std::vector<std::string> sources;
    for (MaskReason& reason : reasons) {
      rules.push_back(std::move(reason.rule));
      sources.push_back(std::move(reason.source));
    }
    const Shape all{sides.shape.rows * sides.queries.batch, sides.shape.columns};
    result.allowed = graph.input(mask_role, mask_by(std::move(rules)), {all, sides.queries, sides.keys});
    if (!given.allowed || sources.size() > 1)
      graph.tell_origin(result.allowed->node(), std::string(follows_from) + list_in_words(sources));
  }
  if (given.bias) {
    require_fit(*given.bias, sides, bias_role);
    const Axis rows = given.bias->shape().rows == sides.shape.rows ? sides.queries : axis("queries");
    result.bias = graph.input(bias_role, *given.bias, rows, sides.keys);
  }
  return result;
}

}  // namespace

bool has_window(const Node& mask, const ModelRecipe& recipe) {
  if (mask.is(role::local_mask)) return true;
  const NamedScope* const side = outermost(mask.place);
  const auto keys = static_cast<double>(mask.frame.shape.columns);
  return mask.is(role::mask) && side && side->is(scope::decoder) && recipe.window_layers == ModelRecipe::all_layers &&
         recipe.window != 0.0 && keys > recipe.window;
}

// The scope of the vectors of a side, and of what it has learned of words and places.
struct RunningTransformer::Side {
  const ScopeKind& scope;
  const ScopeKind& embedding;
  const ScopeKind& positions;
  const ScopeKind* types = nullptr;
};

constexpr RunningTransformer::Side RunningTransformer::source_side{scope::source, scope::source_embedding,
                                                                   scope::source_positions, &scope::source_types};
constexpr RunningTransformer::Side RunningTransformer::target_side{scope::target, scope::target_embedding,
                                                                   scope::target_positions};

std::optional<std::size_t> Transformer::most_words(std::size_t places) const {
  if (!recipe.positions->table_shape || places == 0) return std::nullopt;
  const std::size_t without = static_cast<std::size_t>(recipe.first_position) + has_class_token();
  return places > without ? places - without : 0;
}

bool Transformer::has_class_token() const {
  return parameters.contains(Name({scope::source_embedding}, role::class_token).text());
}

std::vector<ParameterRow> parameters_of(const Transformer& model) {
  std::vector<ParameterRow> rows = parameter_rows(*model.kind, model.sizes);
  std::erase_if(rows, [&](const ParameterRow& row) {
    return model.parameters.empty() ? !row.parameter->is_drawn(model.recipe) : !model.parameters.contains(row.name);
  });
  return rows;
}

std::string mask_source(const Node& mask) {
  return mask.origin.starts_with(follows_from) ? mask.origin.substr(follows_from.size()) : given_mask;
}

RunningTransformer::RunningTransformer(const Transformer& model, Graph& graph, Dropout* dropout)
    : model_(model),
      graph_(graph),
      learned_(learned_of(model, graph)),
      recipe_{model.recipe, model.sizes.all_heads(), dropout},
      memories_(model.sizes.decoder_layers) {
  if (model.recipe.single) graph.run().round_to_single();
}

// The patches of an image behind the class token.
Value RunningTransformer::patches_of(const Side& side, const ModelInput& words) {
  if (words.sentences > 1) throw std::logic_error("the patches of several images stand below each other");
  if (words.has_blanks()) fail("‹text›: patches of an image have no padding: leave out <blank>");
  const Axis tokens = words.rows("tokens");
  const ParameterNodes learned = learned_.within({side.embedding});
  const std::optional<Value> w = learned.find(role::w);
  Value x = graph_.input(w ? role::patches : role::x, *words.x, tokens, axis("features"));
  if (w) x = name(role::x, linear(x, {*w, learned.find(role::b)}));
  std::vector<std::string> labels = {"<class>"};
  for (std::size_t i = 0; i < words.size(); ++i)
    labels.push_back(words.tokens.empty() ? std::to_string(i + 1) : words.tokens[i]);
  const Value all = stack({learned.at(role::class_token), x});
  return name(role::with_class, labelled(all, axis("tokens", std::move(labels))));
}

// The embeddings of the words, and the vectors of their types where the model has such.
Value RunningTransformer::embedded(const Side& side, const ModelInput& words, const LiveWords& live) {
  const Axis tokens = words.rows("tokens");
  Value ids = graph_.input(role::ids, live.ids(), tokens, axis("id"));
  Value x = name(role::x, embed(ids, learned_.at({{side.embedding}, role::e})));
  if (model_.recipe.scale_embeddings) {
    const std::size_t d = x.shape().columns;
    const Formula root = {fmt::format("√{}", d), fmt::format("\\sqrt{{{}}}", d)};
    x = name(role::scaled_x, times(x, {std::sqrt(static_cast<double>(d)), root}));
  }
  const std::optional<Value> types = side.types ? learned_.find({{*side.types}, role::e}) : std::nullopt;
  if (!types) return x;
  Matrix of_words({words.size(), 1}, 1.0);
  for (std::size_t i = 0; i < words.types.size(); ++i) of_words(i, 0) = static_cast<double>(words.types[i] + 1);
  const Value chosen = graph_.input(role::types, std::move(of_words), tokens, axis("id"));
  return name(role::typed, add(x, embed(chosen, *types)));
}

// Vectors that are given are taken as they are: positions have been added to them, or not. Patches are no such
// vectors.
Value RunningTransformer::vectors_of(const Side& side, const ModelInput& words, const LiveWords& live,
                                     const RowPositions& positions) {
  const Graph::Scope scope(graph_, side.scope);
  const bool are_patches = &side == &source_side && model_.has_class_token();
  if (words.x && !are_patches) return graph_.input(role::x, *words.x, words.rows("tokens"), axis("features"));
  const Value x = are_patches ? patches_of(side, words) : embedded(side, words, live);
  const PositionKind& kind = *model_.recipe.positions;
  const Places places{{.positions = positions, .base = model_.recipe.base},
                      learned_.find({{side.positions}, role::table}),
                      static_cast<std::size_t>(model_.recipe.first_position)};
  if (kind.table_shape && !places.table) {
    fail("‹positions› {}: the model has no {}: give ‹positions› sinusoidal or none", kind.name,
         Name({side.positions}, role::table).text());
  }
  Value placed = with_positions(kind, x, places);
  const ParameterNodes embedding = learned_.within({side.embedding});
  if (embedding.has({{scope::norm}, role::gamma}))
    placed = normalized_within(scope::norm, placed, embedding, model_.recipe);
  return recipe_.dropout ? recipe_.dropout->apply(placed, 1) : placed;
}

// Some models normalize once more at the end.
Value RunningTransformer::finish(const ScopeKind& side, const Value& x) {
  const ParameterNodes learned = learned_.within({side});
  const bool normalizes = learned.has({{scope::norm}, role::gamma});
  return name(role::output, normalizes ? normalized_within(scope::norm, x, learned, model_.recipe) : x);
}

// Those of the words that are encoded, or decoded last.
std::vector<Value> RunningTransformer::relative_of(const ScopeKind& side, const Frame& scores,
                                                   const QueryKeyPositions& apart) const {
  const std::optional<Value> table = learned_.find({{side, scope::relative_positions}, role::table});
  if (!table) return {};
  const Buckets buckets{table->shape().rows, static_cast<std::size_t>(model_.recipe.max_distance),
                        &side == &scope::encoder};
  const Graph::Scope scope(graph_, scope::relative_positions);
  return relative_by_bucket(*table, buckets, scores, apart);
}

Value RunningTransformer::encode(const ModelInput& source) {
  source_ = source;
  source_words_ = LiveWords(source);
  const RowPositions positions = source.positions.value_or(RowPositions());
  Value x = vectors_of(source_side, source, source_words_, positions);
  const Graph::Scope scope(graph_, scope::encoder);
  std::vector<MaskReason> reasons;
  const Axis& words = x.node().frame.rows;
  const std::size_t n = x.shape().rows / words.batch;
  const Shape shape{n, n};
  if (model_.recipe.causal_encoder) reasons.push_back({in_each_sentence(causal_rule(), n), causal_order});
  if (source.has_blanks()) reasons.push_back({padding_rule(source_words_.blanks(), shape), padding});
  Axis queries = words;
  queries.name = "queries";
  const Axis keys = axis("keys", words.batch == 1 && words.labels ? *words.labels : std::vector<std::string>());
  AttentionInputs self =
      looking(graph_, std::move(reasons), source.mask, {queries, keys, shape}, role::mask, role::bias);
  self.apart = {.queries = positions, .keys = positions};
  self.relative = relative_of(scope::encoder, {{words.batch * n, n}, queries, keys}, self.apart);
  for (std::size_t i = 1; i <= model_.sizes.encoder_layers; ++i) {
    const Graph::Scope layer(graph_, scope::number, i);
    x = encoder_layer(x, learned_.within({scope::encoder, {scope::number, i}}), recipe_, self);
  }
  return finish(scope::encoder, x);
}

// Whether there are decoder layers with a window, or without.
bool RunningTransformer::any_local(bool is_local) const {
  for (std::size_t i = 1; i <= model_.sizes.decoder_layers; ++i) {
    if (model_.recipe.is_local(i) == is_local) return true;
  }
  return false;
}

// One word alone may attend to all words before it: it needs no mask. Where only some layers have a window, their mask
// stands beside that of the others.
DecoderAttentionInputs RunningTransformer::decoder_looking(const ModelInput& target, const QueryKeyPositions& apart,
                                                           const std::optional<Value>& encoded) const {
  const std::size_t n = target.words_of_sentence(), before = words_before_ - n;
  const bool has_blanks = any(blank_before_), is_causal = model_.recipe.causal_decoder;
  const Shape shape{n, words_before_};
  const Axis queries = target.rows("queries"),
             keys = axis("keys", target.sentences == 1 ? tokens_before_ : std::vector<std::string>());
  std::vector<MaskReason> reasons;
  if (is_causal && (n > 1 || has_blanks))
    reasons.push_back({in_each_sentence(causal_rule(static_cast<std::ptrdiff_t>(before)), n), causal_order});
  if (has_blanks) reasons.push_back({padding_rule(target_blanks_, shape), padding});
  const auto window = static_cast<std::size_t>(model_.recipe.window);
  const bool has_window = any_local(true) && words_before_ > window;
  std::vector<MaskReason> with_window = reasons;
  if (has_window)
    with_window.push_back(
        {in_each_sentence(window_rule(window, before), n), fmt::format("the window of {}", count_of(window, "word"))});
  const bool all_have_it = has_window && !any_local(false);
  DecoderAttentionInputs result;
  result.self = looking(graph_, all_have_it ? with_window : std::move(reasons), target.mask, {queries, keys, shape},
                        role::mask, role::bias);
  result.self.apart = apart;
  result.self.relative = relative_of(scope::decoder, {{target.sentences * n, shape.columns}, queries, keys}, apart);
  result.local = result.self;
  if (has_window && !all_have_it) {
    WordMask without_bias = target.mask;
    without_bias.bias.reset();
    result.local =
        looking(graph_, std::move(with_window), without_bias, {queries, keys, shape}, role::local_mask, role::bias);
    result.local.bias = result.self.bias;
    result.local.apart = apart;
  }
  if (!encoded) return result;
  std::vector<MaskReason> of_memory;
  const Shape across{n, encoded->shape().rows / target.sentences};
  if (source_.has_blanks()) of_memory.push_back({padding_rule(source_words_.blanks(), across), padding});
  const Axis encoded_keys = source_.words("keys");
  result.cross = looking(graph_, std::move(of_memory), target.memory_mask, {queries, encoded_keys, across},
                         role::cross_mask, role::cross_bias);
  return result;
}

Value RunningTransformer::decode(const ModelInput& target, const std::optional<Value>& encoded) {
  target_words_ = LiveWords(target);
  const std::size_t words = target.words_of_sentence(), before = words_before_;
  const RowPositions here =
      target.positions.value_or(RowPositions(before > 0 ? positions_before_[before - 1] + 1 : std::size_t{0}));
  positions_before_ = joined(positions_before_, before, here, words);
  Value x = vectors_of(target_side, target, target_words_, here);
  blank_before_ = continued(blank_before_, words_before_, target);
  target_blanks_ = std::make_shared<std::vector<bool>>(blank_before_);
  words_before_ += words;
  tokens_before_.insert(tokens_before_.end(), target.tokens.begin(), target.tokens.end());
  const Graph::Scope scope(graph_, scope::decoder);
  const DecoderAttentionInputs looking = decoder_looking(target, {.queries = here, .keys = positions_before_}, encoded);
  for (std::size_t i = 1; i <= model_.sizes.decoder_layers; ++i) {
    const Graph::Scope layer(graph_, scope::number, i);
    LayerRecipe recipe = recipe_;
    recipe.is_local = model_.recipe.is_local(i);
    x = decoder_layer(x, learned_.within({scope::decoder, {scope::number, i}}), recipe, looking, encoded,
                      memories_[i - 1]);
  }
  return finish(scope::decoder, x);
}

void RunningTransformer::exchange_target(const ModelInput& words) {
  target_words_.exchange(words);
  const std::size_t before = words_before_ - words.words_of_sentence();
  if (before > 0) throw std::logic_error("words are exchanged that others went before");
  *target_blanks_ = continued({}, 0, words);
}

// The embedding that a tied output layer is.
Name RunningTransformer::tied_embedding() const {
  return {{model_.kind->decodes ? scope::target_embedding : scope::source_embedding}, role::e};
}

bool RunningTransformer::has_output() const {
  if (model_.recipe.tied_output) return learned_.has(tied_embedding());
  return learned_.has({{scope::output}, role::w});
}

// What some models do before the output layer, with the activation of their feed-forward layers.
Value RunningTransformer::transformed(const Value& last) const {
  const ParameterNodes output = learned_.within({scope::output});
  const Graph::Scope scope(graph_, scope::output);
  Value x = last;
  if (output.has({{scope::transform}, role::w})) {
    const Value inner = name(role::inner, linear(x, output.within({scope::transform}).projection({role::w, role::b})));
    x = name(model_.recipe.activation->result, model_.recipe.activation->apply(inner));
  }
  return output.has({{scope::norm}, role::gamma}) ? normalized_within(scope::norm, x, output, model_.recipe) : x;
}

Value RunningTransformer::logits(const Value& given) {
  if (model_.recipe.logit_cap == 0.0) return name(role::logits, uncapped_logits(given));
  return name(role::logits, soft_cap(name(role::uncapped, uncapped_logits(given)), bound_of(model_.recipe.logit_cap)));
}

Value RunningTransformer::uncapped_logits(const Value& given) const {
  Value last = transformed(model_.recipe.first_output ? name(role::first_output, rows(given, 0, 1)) : given);
  const std::optional<Value> bias = learned_.find({{scope::output}, role::b});
  if (!model_.recipe.tied_output) return linear(last, {learned_.at({{scope::output}, role::w}), bias});
  if (model_.recipe.scale_output) {
    const std::size_t d = last.shape().columns;
    const Formula root = {fmt::format("√{}", d), fmt::format("\\sqrt{{{}}}", d)};
    last = name(role::scaled_output, divide(last, {std::sqrt(static_cast<double>(d)), root}));
  }
  const Value compared = matmul_transposed(last, learned_.at(tied_embedding()));
  return bias ? add(compared, *bias) : compared;
}

void RunningTransformer::forget() {
  for (DecoderCache& memory : memories_) memory.self.reset();
  words_before_ = 0;
  blank_before_.clear();
  tokens_before_.clear();
}

}  // namespace attn
