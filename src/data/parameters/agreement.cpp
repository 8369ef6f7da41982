#include "data/parameters/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"

namespace attn {

namespace {

// --- sizes

// A size as the config says it and as the tensors have it, where 0 is nothing, and what sentences call it.
struct SizeOfBoth {
  std::size_t ModelConfig::*said;
  std::size_t (*is)(const Transformer& model);
  std::string_view one, many;
  std::string_view before = {};  // in place of both: what stands before the number
};

std::size_t places_of(const Transformer& model) {
  return model.sizes.source_places ? model.sizes.source_places : model.sizes.target_places;
}

constexpr SizeOfBoth sizes_of_both[] = {
    {&ModelConfig::layers,
     [](const Transformer& model) {
       return model.sizes.encoder_layers ? model.sizes.encoder_layers : model.sizes.decoder_layers;
     },
     "layer", "layers"},
    {&ModelConfig::decoder_layers, [](const Transformer& model) { return model.sizes.decoder_layers; },
     "layer of the decoder", "layers of the decoder"},
    {&ModelConfig::words,
     [](const Transformer& model) {
       return model.sizes.source_words ? model.sizes.source_words : model.sizes.target_words;
     },
     "word", "words"},
    {&ModelConfig::d_model,
     [](const Transformer& model) { return model.sizes.d_model; },
     {},
     {},
     "an embedding size of"},
    {&ModelConfig::d_ff, [](const Transformer& model) { return model.sizes.d_ff; }, {}, {}, "an inner size of"},
    {&ModelConfig::key_heads, [](const Transformer& model) { return model.sizes.all_heads().of_keys; },
     "head of keys and values", "heads of keys and values"},
    {&ModelConfig::places, places_of, "position", "positions"},
    {&ModelConfig::longest_text,
     [](const Transformer& model) {
       const std::size_t places = places_of(model), first = static_cast<std::size_t>(model.recipe.first_position);
       return places > first ? places - first : 0;
     },
     "position of a word", "positions of words"},
    {&ModelConfig::types, [](const Transformer& model) { return model.sizes.types; }, "token type", "token types"},
    {&ModelConfig::buckets, [](const Transformer& model) { return model.sizes.buckets; }, "bucket of distances",
     "buckets of distances"},
    {&ModelConfig::patch, [](const Transformer& model) { return model.sizes.patch; }, "number of a patch",
     "numbers of a patch"},
};

void require_sizes(const ModelConfig& config, const Transformer& model, const std::string& path) {
  for (const SizeOfBoth& row : sizes_of_both) {
    const std::size_t said = config.*row.said, is = row.is(model);
    if (said == 0 || is == 0 || said == is) continue;
    const std::string told =
        row.before.empty() ? count_of(said, row.one, row.many) : fmt::format("{} {}", row.before, said);
    fail("{}: the config says {}, and the tensors have {}: give the files of one model", path, told, is);
  }
}

// --- biases

// Those of a part of a layer.
struct BiasesOfPart {
  std::optional<bool> SaidBiases::*said;
  const ScopeKind& part;
  const Role& role;
  std::string_view of_what;
};

const BiasesOfPart biases_of_parts[] = {
    {&SaidBiases::of_queries, scope::self_attention, role::b_q, "queries"},
    {&SaidBiases::of_queries, scope::self_attention, role::b_k, "keys"},
    {&SaidBiases::of_queries, scope::self_attention, role::b_v, "values"},
    {&SaidBiases::of_attention_output, scope::self_attention, role::b_o, "the output of attention"},
    {&SaidBiases::of_feed_forward, scope::feed_forward, role::b_1, "the feed-forward layer"},
};

void require_biases(const ModelConfig& config, const Transformer& model, const std::string& path) {
  const bool encodes = model.sizes.encoder_layers > 0;
  const ScopeKind& side = encodes ? scope::encoder : scope::decoder;
  const std::size_t layers = encodes ? model.sizes.encoder_layers : model.sizes.decoder_layers;
  for (const BiasesOfPart& row : biases_of_parts) {
    const std::optional<bool> said = config.biases.*row.said;
    for (std::size_t layer = 1; said && layer <= layers; ++layer) {
      const bool has = model.parameters.contains(Name({side, {scope::number, layer}, row.part}, row.role).text());
      if (has == *said) continue;
      fail("{}: by the {} there are {} of {}, and in layer {} the tensors have {}: give the files of one model", path,
           config.keys.of, *said ? "biases" : "no biases", row.of_what, layer, has ? "some" : "none");
    }
  }
}

// --- positions

// Words or patches that are embedded need the table of a family whose positions are learned.
void require_position_table(const ModelConfig& config, const Transformer& model, const std::string& path) {
  if (!model.recipe.positions->table_shape) return;
  const auto has = [&](const ScopeKind& part, const Role& role) {
    return model.parameters.contains(Name({part}, role).text());
  };
  for (const auto& side : {std::array{&scope::source_embedding, &scope::source_positions},
                           std::array{&scope::target_embedding, &scope::target_positions}}) {
    const bool embeds = has(*side[0], role::e) || has(*side[0], role::class_token);
    if (!embeds || has(*side[1], role::table)) continue;
    fail("{}: the positions of {} are learned, and the tensors have no table of them: give the files of one model",
         path, config.family->title);
  }
}

// --- members

std::string some_of(const std::vector<std::string>& keys) {
  constexpr std::size_t most_named = 40;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(keys.size(), most_named); ++i) named.push_back(name_in_quotes(keys[i]));
  if (keys.size() > most_named) named.push_back(count_of(keys.size() - most_named, "other"));
  return list_in_words(named);
}

}  // namespace

// --- sizes

void require_agreement(const ModelConfig& config, const Transformer& model, const std::string& path) {
  require_sizes(config, model, path);
  require_biases(config, model, path);
  require_position_table(config, model, path);
}

// --- members

std::vector<Assumption> assumed_of_keys(const ConfigKeys& keys) {
  std::vector<Assumption> all;
  if (!keys.used.empty())
    all.push_back({&assumed::keys, fmt::format("read from the {}: {}", keys.of, some_of(keys.used))});
  if (!keys.without_effect.empty())
    all.push_back({&assumed::keys, fmt::format("these change no number: {}", some_of(keys.without_effect))});
  if (!keys.of_tokenizer.empty())
    all.push_back({&assumed::keys, fmt::format("these belong to the tokenizer: {}", some_of(keys.of_tokenizer))});
  if (!keys.unknown.empty())
    all.push_back({&assumed::keys,
                   fmt::format("the {} says what is not understood and is ignored: {}", keys.of, some_of(keys.unknown)),
                   "if it changes how the model computes, the numbers here are not those of the model", true});
  return all;
}

}  // namespace attn
