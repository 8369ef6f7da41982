#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/parameters/config.hpp"
#include "data/parameters/families.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

// --- what members of a config.json mean

// The positions of long texts: an object that says how waves are slowed, and since 2025 their base as well.
void take_rope(const Json& rope, const std::string& place, ModelConfig& config) {
  const auto member = [&](std::string_view key) -> const Json* {
    const auto found = rope.find(std::string(key));
    return found == rope.end() || found->is_null() ? nullptr : &*found;
  };
  const auto number = [&](std::string_view key) {
    const Json* const found = member(key);
    if (!found) fail("{} has no \"{}\"", place, key);
    return positive_number_of({*found, fmt::format("{}: \"{}\"", place, key)});
  };
  const Json* const named = member("rope_type") ? member("rope_type") : member("type");
  const std::string type = named ? string_of({*named, fmt::format("{}: \"rope_type\"", place)}) : "default";
  if (type != "default" && type != "linear" && type != "llama3")
    fail("{}: the scaling {} of rotary positions is not read yet: linear and llama3 are read", place, in_quotes(type));
  if (const Json* const base = member("rope_theta"))
    config.set("base", positive_number_of({*base, place + ": \"rope_theta\""}));
  if (const Json* const share = member("partial_rotary_factor"))
    config.set("rotated", positive_number_of({*share, place + ": \"partial_rotary_factor\""}));
  if (type == "default") return;
  config.set("wave_factor", number("factor"));
  if (type == "linear") return;
  config.set("wave_factor_low", number("low_freq_factor"));
  config.set("wave_factor_high", number("high_freq_factor"));
  config.set("wave_factor_words", number("original_max_position_embeddings"));
}

constexpr std::string_view rope_members[] = {
    "rope_type",
    "type",
    "rope_theta",
    "partial_rotary_factor",
    "factor",
    "low_freq_factor",
    "high_freq_factor",
    "full_attention",
    "sliding_attention",
    "original_max_position_embeddings",
};

FieldValue rope_there(const JsonMember& member, ModelConfig& config) {
  if (!member.value.is_object()) fail("{} must be an object", member.place);
  const auto whole = member.value.find("full_attention"), local = member.value.find("sliding_attention");
  if (whole == member.value.end() || local == member.value.end()) {
    take_rope(member.value, member.place, config);
    return {};
  }
  take_rope(*whole, member.place + ": \"full_attention\"", config);
  const std::string place = member.place + ": \"sliding_attention\"";
  const auto type = local->find("rope_type"), base = local->find("rope_theta");
  if (type != local->end() && *type != "default")
    fail("{}: waves of layers with a window that are scaled are not read yet", place);
  if (base != local->end()) config.set("local_base", positive_number_of({*base, place + ": \"rope_theta\""}));
  return {};
}

// Kinds of layers by name, "full_attention" and "sliding_attention", or in GPT-Neo "global" and "local".
FieldValue layers_there(const JsonMember& member, ModelConfig& config) {
  const std::vector<std::string> kinds = strings_of(member);
  std::vector<std::string> local;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool is_local = kinds[i] == "sliding_attention" || kinds[i] == "local";
    if (is_local) local.push_back(std::to_string(i + 1));
    if (!is_local && kinds[i] != "full_attention" && kinds[i] != "global")
      fail("{}: layers of the kind {} are not read yet", member.place, in_quotes(kinds[i]));
  }
  if (config.layers != 0 && kinds.size() != config.layers)
    fail("{} has {}, and the config says that there are {}: give one for each layer", member.place,
         count_of(kinds.size(), "kind"), count_of(config.layers, "layer"));
  config.window_layers = local.empty() ? "none" : fmt::format("{}", fmt::join(local, ", "));
  return {};
}

// [[["global", "local"], 12]]: so many times these layers.
FieldValue groups_of_layers(const JsonMember& member, ModelConfig& config) {
  constexpr std::uint64_t most = 65536;
  Json all = Json::array();
  const auto refuse = [&] { fail("{} must be a list such as [[[\"global\", \"local\"], 12]]", member.place); };
  if (!member.value.is_array()) refuse();
  for (const Json& group : member.value) {
    if (!group.is_array() || group.size() != 2 || !group[0].is_array() || !group[1].is_number_unsigned()) refuse();
    if (group[1].get<std::uint64_t>() * group[0].size() > most) refuse();
    for (std::uint64_t i = 0; i < group[1].get<std::uint64_t>(); ++i) {
      for (const Json& kind : group[0]) all.push_back(kind);
    }
  }
  return layers_there({all, member.place}, config);
}

FieldValue root_there(const JsonMember& member, ModelConfig& config) {
  const double root = std::sqrt(positive_number_of(member));
  return std::string_view(config.texts.emplace_back(fmt::format("{}", root)));
}

FieldValue parallel_there(const JsonMember& member, ModelConfig&) {
  return std::string_view(flag_of(member) ? "parallel" : "pre");
}

FieldValue scale_by_flag(const JsonMember& member, ModelConfig&) {
  return std::string_view(flag_of(member) ? "sqrt-dk" : "none");
}

// --- GPT

constexpr std::string_view gpt2_layouts[] = {"GPT-2"};
constexpr BroughtField gpt2_has[] = {
    {"norm", "pre"},
    {"norm_kind", "layer"},
    {"positions", "learned"},
    {"scale", "sqrt-dk"},
    {"scale_embeddings", false},
    {"causal_decoder", true},
    {"activation", "gelu-tanh"},
};
constexpr ConfigField gpt2_fields[] = {
    {"layer_norm_epsilon", "epsilon"},
    {"activation_function", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"scale_attn_weights", "scale", scale_by_flag},
    {"scale_attn_by_inverse_layer_idx", "", only_flag<false>},
};
// The first ones are of an output for classes.
constexpr std::string_view without_effect_in_gpt[] = {
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "predict_special_tokens",
    "n_ctx",
};

constexpr std::string_view neo_layouts[] = {"GPT-Neo"}, neox_layouts[] = {"GPT-NeoX"};
constexpr BroughtField neo_has[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},      {"positions", "learned"},
    {"epsilon", 1e-5},        {"scale", "none"},           {"scale_embeddings", false},
    {"causal_decoder", true}, {"activation", "gelu-tanh"}, {"tied_output", true},
};
constexpr ConfigField neo_fields[] = {
    {"layer_norm_epsilon", "epsilon"},         {"activation_function", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},    {"window_size", "window"},
    {"attention_types", "", groups_of_layers}, {"attention_layers", "", layers_there},
};

constexpr BroughtField neox_has[] = {
    {"norm", "parallel"},     {"norm_kind", "layer"}, {"positions", "rotary-halves"}, {"rotated", 0.25},
    {"scale", "sqrt-dk"},     {"base", 10000.0},      {"scale_embeddings", false},    {"epsilon", 1e-5},
    {"causal_decoder", true}, {"activation", "gelu"}, {"tied_output", false},
};
constexpr ConfigField neox_fields[] = {
    {"layer_norm_eps", "epsilon"},
    {"hidden_act", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"use_parallel_residual", "norm", parallel_there},
    {"rotary_pct", "rotated"},
    {"partial_rotary_factor", "rotated"},
    {"rotary_emb_base", "base"},
    {"rope_theta", "base"},
    {"rope_scaling", "", rope_there, {}, rope_members},
    {"rope_parameters", "", rope_there, {}, rope_members},
    {"attention_bias", "", attention_biases_there},
};

// --- Llama and its like

constexpr std::string_view llama_layouts[] = {"Llama"}, phi3_layouts[] = {"Phi-3"}, olmo2_layouts[] = {"OLMo 2"};
constexpr std::array<BroughtField, 10> decoder_like_llama(std::string_view norm, double epsilon) {
  return {{
      {"norm", norm},
      {"norm_kind", "rms"},
      {"positions", "rotary-halves"},
      {"base", 10000.0},
      {"scale", "sqrt-dk"},
      {"scale_embeddings", false},
      {"causal_decoder", true},
      {"epsilon", epsilon},
      {"activation", "silu"},
      {"tied_output", false},
  }};
}
constexpr auto llama_has = decoder_like_llama("pre", 1e-6), phi3_has = decoder_like_llama("pre", 1e-5),
               olmo2_has = decoder_like_llama("after", 1e-5);

// Some fields, and behind them some more: what is read later counts.
template <std::size_t some, std::size_t more>
constexpr std::array<ConfigField, some + more> joined_fields(const std::array<ConfigField, some>& first,
                                                             const std::array<ConfigField, more>& then) {
  return [&]<std::size_t... i, std::size_t... j>(std::index_sequence<i...>, std::index_sequence<j...>) {
    return std::array<ConfigField, some + more>{first[i]..., then[j]...};
  }
  (std::make_index_sequence<some>(), std::make_index_sequence<more>());
}

constexpr auto rotary_fields = std::to_array<ConfigField>({
    {"rms_norm_eps", "epsilon"},
    {"tie_word_embeddings", "tied_output"},
    {"rope_theta", "base"},
    {"partial_rotary_factor", "rotated"},
    {"rope_scaling", "", rope_there, {}, rope_members},
    {"rope_parameters", "", rope_there, {}, rope_members},
});
// The reference heeds it in some of these families; in Qwen2 and Mistral it does not.
constexpr auto bias_field = std::to_array<ConfigField>({{"attention_bias", "", attention_biases_there}});
constexpr auto window_fields = std::to_array<ConfigField>({
    {"sliding_window", "window", nullptr, 0.0},
    {"layer_types", "", layers_there},
});
constexpr auto of_llama_alone = std::to_array<ConfigField>({
    {"hidden_act", "activation", activation_there},
    {"mlp_bias", "", feed_forward_biases_there},
    {"rope_interleaved", "", only_flag<false>},
    {"use_mrope", "", only_flag<false>},
    {"lm_head_bias", "", only_flag<false>},
});
constexpr std::string_view without_effect_in_llama[] = {"is_llama_config"};
// It counts for scaled positions alone that are not read.
constexpr std::string_view without_effect_in_phi3[] = {"original_max_position_embeddings", "full_attn_mod",
                                                       "interpolate_factor"};
constexpr SaidBiases of_queries_alone{.of_queries = true};
constexpr auto llama_fields = joined_fields(rotary_fields, of_llama_alone);
constexpr auto windowed_fields = joined_fields(llama_fields, window_fields);
constexpr auto biased_fields = joined_fields(llama_fields, bias_field);
constexpr auto qwen3_fields = joined_fields(windowed_fields, bias_field);
constexpr auto phi3_fields =
    joined_fields(windowed_fields, std::to_array<ConfigField>({{"attention_bias", "", only_flag<false>}}));

// --- Gemma

constexpr std::string_view gemma2_layouts[] = {"Gemma 2"};
// Embeddings are multiplied by √d_model. The reference rounds this factor to the type in which it runs; the numbers
// here are those of a run in double precision.
constexpr BroughtField gemma_has[] = {
    {"norm", "pre"},          {"norm_kind", "rms-plus-1"}, {"positions", "rotary-halves"},
    {"base", 10000.0},        {"scale", "sqrt-dk"},        {"scale_embeddings", true},
    {"causal_decoder", true}, {"epsilon", 1e-6},           {"activation", "gelu-tanh"},
    {"tied_output", true},
};
// The reference ignores these: "hidden_activation" and "sliding_window" count.
constexpr std::string_view without_effect_in_gemma[] = {"hidden_act", "sliding_window_size", "_sliding_window_pattern"};
constexpr auto of_all_gemma = std::to_array<ConfigField>({
    {"hidden_activation", "activation", activation_there},
    {"use_bidirectional_attention", "", only_flag<false>},
});
constexpr auto gemma_fields = joined_fields(joined_fields(rotary_fields, bias_field), of_all_gemma);
constexpr BroughtField gemma2_has[] = {
    {"norm", "before-and-after"},
    {"norm_kind", "rms-plus-1"},
    {"positions", "rotary-halves"},
    {"base", 10000.0},
    {"scale", "16"},
    {"scale_embeddings", true},
    {"causal_decoder", true},
    {"epsilon", 1e-6},
    {"activation", "gelu-tanh"},
    {"tied_output", true},
    {"score_cap", 50.0},
    {"logit_cap", 30.0},
};
constexpr BroughtField gemma3_has[] = {
    {"norm", "before-and-after"},
    {"norm_kind", "rms-plus-1"},
    {"positions", "rotary-halves"},
    {"base", 1e6},
    {"scale", "16"},
    {"scale_embeddings", true},
    {"causal_decoder", true},
    {"epsilon", 1e-6},
    {"activation", "gelu-tanh"},
    {"tied_output", true},
    {"local_base", 10000.0},
};
// What "rope_parameters" says counts before "rope_local_base_freq".
constexpr auto local_base_field = std::to_array<ConfigField>({{"rope_local_base_freq", "local_base"}});
constexpr auto of_gemma2_alone = std::to_array<ConfigField>({
    {"query_pre_attn_scalar", "scale", root_there},
    {"attn_logit_softcapping", "score_cap", nullptr, 0.0},
    {"final_logit_softcapping", "logit_cap", nullptr, 0.0},
});
constexpr auto gemma2_fields =
    joined_fields(joined_fields(local_base_field, gemma_fields), joined_fields(of_gemma2_alone, window_fields));

// --- families

bool is_odd_layer(std::size_t layer, std::size_t) { return layer % 2 == 1; }
bool is_even_layer(std::size_t layer, std::size_t) { return layer % 2 == 0; }
bool is_from(std::size_t layer, std::size_t first) { return layer >= first; }
bool is_no_multiple(std::size_t layer, std::size_t pattern) { return (layer + 1) % pattern != 0; }
constexpr LayersWithWindow of_qwen{4096.0, is_from, "max_window_layers", 28, "use_sliding_window"};

constexpr ModelFamily decoder_families[] = {
    {"gpt2", "GPT-2", gpt2_layouts, gpt2_has, gpt2_fields, {}, {}, without_effect_in_gpt},
    {"gpt_neo", "GPT-Neo", neo_layouts, neo_has, neo_fields, {}, {256.0, is_odd_layer}, without_effect_in_gpt},
    {"gpt_neox", "GPT-NeoX", neox_layouts, neox_has, neox_fields},
    {"llama", "Llama", llama_layouts, llama_has, biased_fields, {}, {}, without_effect_in_llama},
    {"mistral", "Mistral", llama_layouts, llama_has, windowed_fields, {}, {4096.0}},
    {"qwen2", "Qwen2", llama_layouts, llama_has, windowed_fields, {}, of_qwen, {}, of_queries_alone},
    {"qwen3", "Qwen3", llama_layouts, llama_has, qwen3_fields, {}, of_qwen},
    {"gemma", "Gemma", llama_layouts, gemma_has, gemma_fields, {}, {}, without_effect_in_gemma},
    {"gemma2",
     "Gemma 2",
     gemma2_layouts,
     gemma2_has,
     gemma2_fields,
     {},
     {4096.0, is_even_layer},
     without_effect_in_gemma},
    {"gemma3_text",
     "Gemma 3",
     gemma2_layouts,
     gemma3_has,
     gemma2_fields,
     {},
     {4096.0, is_no_multiple, "sliding_window_pattern", 6},
     without_effect_in_gemma},
    {"phi3", "Phi-3", phi3_layouts, phi3_has, phi3_fields, {}, {}, without_effect_in_phi3},
    {"olmo2", "OLMo 2", olmo2_layouts, olmo2_has, biased_fields},
};

}  // namespace

std::span<const ModelFamily> families_of_decoders() { return decoder_families; }

}  // namespace attn
