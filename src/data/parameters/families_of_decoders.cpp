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
    config.set(recipe_field::base, positive_number_of({*base, place + ": \"rope_theta\""}));
  if (const Json* const share = member("partial_rotary_factor"))
    config.set(recipe_field::rotated, positive_number_of({*share, place + ": \"partial_rotary_factor\""}));
  if (type == "default") return;
  config.set(recipe_field::wave_factor, number("factor"));
  if (type == "linear") return;
  config.set(recipe_field::wave_factor_low, number("low_freq_factor"));
  config.set(recipe_field::wave_factor_high, number("high_freq_factor"));
  config.set(recipe_field::wave_factor_words, number("original_max_position_embeddings"));
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
  if (base != local->end())
    config.set(recipe_field::local_base, positive_number_of({*base, place + ": \"rope_theta\""}));
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
constexpr ConfigField gpt2_fields[] = {
    {"layer_norm_epsilon", &recipe_field::epsilon},
    {"activation_function", &recipe_field::activation, activation_there},
    {"tie_word_embeddings", &recipe_field::tied_output},
    {"scale_attn_weights", &recipe_field::scale, scale_by_flag},
    {"scale_attn_by_inverse_layer_idx", nullptr, only_flag<false>},
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
constexpr ConfigField neo_fields[] = {
    {"layer_norm_epsilon", &recipe_field::epsilon},
    {"activation_function", &recipe_field::activation, activation_there},
    {"tie_word_embeddings", &recipe_field::tied_output},
    {"window_size", &recipe_field::window},
    {"attention_types", nullptr, groups_of_layers},
    {"attention_layers", nullptr, layers_there},
};

constexpr ConfigField neox_fields[] = {
    {"layer_norm_eps", &recipe_field::epsilon},
    {"hidden_act", &recipe_field::activation, activation_there},
    {"tie_word_embeddings", &recipe_field::tied_output},
    {"use_parallel_residual", &recipe_field::norm, parallel_there},
    {"rotary_pct", &recipe_field::rotated},
    {"partial_rotary_factor", &recipe_field::rotated},
    {"rotary_emb_base", &recipe_field::base},
    {"rope_theta", &recipe_field::base},
    {"rope_scaling", nullptr, rope_there, {}, rope_members},
    {"rope_parameters", nullptr, rope_there, {}, rope_members},
    {"attention_bias", nullptr, attention_biases_there},
};

// --- Llama and its like

constexpr std::string_view llama_layouts[] = {"Llama"}, phi3_layouts[] = {"Phi-3"}, olmo2_layouts[] = {"OLMo 2"};

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
    {"rms_norm_eps", &recipe_field::epsilon},
    {"tie_word_embeddings", &recipe_field::tied_output},
    {"rope_theta", &recipe_field::base},
    {"partial_rotary_factor", &recipe_field::rotated},
    {"rope_scaling", nullptr, rope_there, {}, rope_members},
    {"rope_parameters", nullptr, rope_there, {}, rope_members},
});
// The reference heeds it in some of these families; in Qwen2 and Mistral it does not.
constexpr auto bias_field = std::to_array<ConfigField>({{"attention_bias", nullptr, attention_biases_there}});
constexpr auto window_fields = std::to_array<ConfigField>({
    {"sliding_window", &recipe_field::window, nullptr, 0.0},
    {"layer_types", nullptr, layers_there},
});
constexpr auto of_llama_alone = std::to_array<ConfigField>({
    {"hidden_act", &recipe_field::activation, activation_there},
    {"mlp_bias", nullptr, feed_forward_biases_there},
    {"rope_interleaved", nullptr, only_flag<false>},
    {"use_mrope", nullptr, only_flag<false>},
    {"lm_head_bias", nullptr, only_flag<false>},
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
    joined_fields(windowed_fields, std::to_array<ConfigField>({{"attention_bias", nullptr, only_flag<false>}}));

// --- Gemma

constexpr std::string_view gemma2_layouts[] = {"Gemma 2"};
// The reference ignores these: "hidden_activation" and "sliding_window" count.
constexpr std::string_view without_effect_in_gemma[] = {"hidden_act", "sliding_window_size", "_sliding_window_pattern"};
constexpr auto of_all_gemma = std::to_array<ConfigField>({
    {"hidden_activation", &recipe_field::activation, activation_there},
    {"use_bidirectional_attention", nullptr, only_flag<false>},
});
constexpr auto gemma_fields = joined_fields(joined_fields(rotary_fields, bias_field), of_all_gemma);
// What "rope_parameters" says counts before "rope_local_base_freq".
constexpr auto local_base_field = std::to_array<ConfigField>({{"rope_local_base_freq", &recipe_field::local_base}});
constexpr auto of_gemma2_alone = std::to_array<ConfigField>({
    {"query_pre_attn_scalar", &recipe_field::scale, root_there},
    {"attn_logit_softcapping", &recipe_field::score_cap, nullptr, 0.0},
    {"final_logit_softcapping", &recipe_field::logit_cap, nullptr, 0.0},
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
    {"gpt2", "GPT-2", gpt2_layouts, "gpt2", gpt2_fields, {}, {}, without_effect_in_gpt},
    {"gpt_neo", "GPT-Neo", neo_layouts, "gpt_neo", neo_fields, {}, {256.0, is_odd_layer}, without_effect_in_gpt},
    {"gpt_neox", "GPT-NeoX", neox_layouts, "gpt_neox", neox_fields},
    {"llama", "Llama", llama_layouts, "llama", biased_fields, {}, {}, without_effect_in_llama},
    {"mistral", "Mistral", llama_layouts, "llama", windowed_fields, {}, {4096.0}},
    {"qwen2", "Qwen2", llama_layouts, "llama", windowed_fields, {}, of_qwen, {}, of_queries_alone},
    {"qwen3", "Qwen3", llama_layouts, "llama", qwen3_fields, {}, of_qwen},
    {"gemma", "Gemma", llama_layouts, "gemma", gemma_fields, {}, {}, without_effect_in_gemma},
    {"gemma2",
     "Gemma 2",
     gemma2_layouts,
     "gemma2",
     gemma2_fields,
     {},
     {4096.0, is_even_layer},
     without_effect_in_gemma},
    {"gemma3_text",
     "Gemma 3",
     gemma2_layouts,
     "gemma3",
     gemma2_fields,
     {},
     {4096.0, is_no_multiple, "sliding_window_pattern", 6},
     without_effect_in_gemma},
    {"phi3", "Phi-3", phi3_layouts, "phi3", phi3_fields, {}, {}, without_effect_in_phi3},
    {"olmo2", "OLMo 2", olmo2_layouts, "olmo2", biased_fields},
};

}  // namespace

std::span<const ModelFamily> families_of_decoders() { return decoder_families; }

}  // namespace attn
