#include "data/parameters/families.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

// --- rows

namespace {

// What a name of an activation there is called here.
struct ActivationThere {
  std::string_view theirs, ours;
};
constexpr ActivationThere activations_there[] = {
    {"relu", "relu"},           {"gelu", "gelu"}, {"gelu_new", "gelu-tanh"}, {"gelu_pytorch_tanh", "gelu-tanh"},
    {"gelu_fast", "gelu-tanh"}, {"silu", "silu"}, {"swish", "silu"},         {"tanh", "tanh"},
};

FieldValue activation_there(const JsonMember& member, ModelConfig&) {
  const std::string theirs = string_of(member);
  const auto found = std::ranges::find(activations_there, theirs, &ActivationThere::theirs);
  if (found == std::end(activations_there))
    fail("{}: the activation {} is not read yet", member.place, in_quotes(theirs));
  return found->ours;
}

// A member that may have one value, which is that of all models that are read; it sets no field.
template <bool only>
FieldValue only_flag(const JsonMember& member, ModelConfig&) {
  if (!member.value.is_boolean()) fail("{} must be true or false", member.place);
  if (member.value.get<bool>() != only) fail("{} is {}, which is not read yet", member.place, !only);
  return only;
}

template <const auto& only>
FieldValue only_text(const JsonMember& member, ModelConfig&) {
  const std::string text = string_of(member);
  if (text != only) fail("{} is {}, and only {} is read yet", member.place, in_quotes(text), in_quotes(only));
  return only;
}

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
FieldValue scale_by_flag(const JsonMember& member, ModelConfig&) {
  if (!member.value.is_boolean()) fail("{} must be true or false", member.place);
  return std::string_view(member.value.get<bool>() ? "sqrt-dk" : "none");
}
constexpr ConfigField gpt2_fields[] = {
    {"layer_norm_epsilon", "epsilon"},
    {"activation_function", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"scale_attn_weights", "scale", scale_by_flag},
    {"scale_attn_by_inverse_layer_idx", "", only_flag<false>},
    {"add_cross_attention", "", only_flag<false>},
};

// --- decoders

// A positive number.
double number_there(const Json& value, const std::string& place) {
  if (value.is_number() && value.get<double>() > 0.0) return value.get<double>();
  fail("{} must be a positive number", place);
}

// The positions of long texts: an object that says how waves are slowed, and since 2025 their base as well.
void take_rope(const Json& rope, const std::string& place, ModelConfig& config) {
  const auto member = [&](std::string_view key) -> const Json* {
    const auto found = rope.find(std::string(key));
    return found == rope.end() || found->is_null() ? nullptr : &*found;
  };
  const auto number = [&](std::string_view key) {
    const Json* const found = member(key);
    if (!found) fail("{} has no \"{}\"", place, key);
    return number_there(*found, fmt::format("{}: \"{}\"", place, key));
  };
  const Json* const named = member("rope_type") ? member("rope_type") : member("type");
  const std::string type = named ? string_of({*named, fmt::format("{}: \"rope_type\"", place)}) : "default";
  if (type != "default" && type != "linear" && type != "llama3")
    fail("{}: the scaling {} of rotary positions is not read yet: linear and llama3 are read", place, in_quotes(type));
  if (const Json* const base = member("rope_theta"))
    config.set("base", number_there(*base, place + ": \"rope_theta\""));
  if (const Json* const share = member("partial_rotary_factor"))
    config.set("rotated", number_there(*share, place + ": \"partial_rotary_factor\""));
  if (type == "default") return;
  config.set("wave_factor", number("factor"));
  if (type == "linear") return;
  config.set("wave_factor_low", number("low_freq_factor"));
  config.set("wave_factor_high", number("high_freq_factor"));
  config.set("wave_factor_words", number("original_max_position_embeddings"));
}

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
  if (base != local->end()) config.set("local_base", number_there(*base, place + ": \"rope_theta\""));
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
  const double number = number_there(member.value, member.place);
  return std::string_view(config.texts.emplace_back(fmt::format("{}", std::sqrt(number))));
}

FieldValue parallel_there(const JsonMember& member, ModelConfig&) {
  if (!member.value.is_boolean()) fail("{} must be true or false", member.place);
  return std::string_view(member.value.get<bool>() ? "parallel" : "pre");
}

constexpr std::string_view neo_layouts[] = {"GPT-Neo"}, neox_layouts[] = {"GPT-NeoX"}, llama_layouts[] = {"Llama"},
                           phi3_layouts[] = {"Phi-3"}, gemma2_layouts[] = {"Gemma 2"}, olmo2_layouts[] = {"OLMo 2"};

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
    {"rope_scaling", "", rope_there},
    {"rope_parameters", "", rope_there},
};

constexpr BroughtField llama_has[] = {
    {"norm", "pre"},        {"norm_kind", "rms"},        {"positions", "rotary-halves"}, {"base", 10000.0},
    {"scale", "sqrt-dk"},   {"scale_embeddings", false}, {"causal_decoder", true},       {"epsilon", 1e-6},
    {"activation", "silu"}, {"tied_output", false},
};
constexpr ConfigField llama_fields[] = {
    {"rms_norm_eps", "epsilon"},
    {"hidden_act", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"rope_theta", "base"},
    {"rope_scaling", "", rope_there},
    {"rope_parameters", "", rope_there},
    {"partial_rotary_factor", "rotated"},
};
constexpr ConfigField windowed_fields[] = {
    {"rms_norm_eps", "epsilon"},
    {"hidden_act", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"rope_theta", "base"},
    {"rope_scaling", "", rope_there},
    {"rope_parameters", "", rope_there},
    {"partial_rotary_factor", "rotated"},
    {"sliding_window", "window", nullptr, 0.0},
    {"layer_types", "", layers_there},
};
constexpr BroughtField phi3_has[] = {
    {"norm", "pre"},        {"norm_kind", "rms"},        {"positions", "rotary-halves"}, {"base", 10000.0},
    {"scale", "sqrt-dk"},   {"scale_embeddings", false}, {"causal_decoder", true},       {"epsilon", 1e-5},
    {"activation", "silu"}, {"tied_output", false},
};
constexpr BroughtField olmo2_has[] = {
    {"norm", "after"},      {"norm_kind", "rms"},        {"positions", "rotary-halves"}, {"base", 10000.0},
    {"scale", "sqrt-dk"},   {"scale_embeddings", false}, {"causal_decoder", true},       {"epsilon", 1e-5},
    {"activation", "silu"}, {"tied_output", false},
};

// Embeddings are multiplied by √d_model. The reference rounds this factor to the type in which it runs; the numbers
// here are those of a run in double precision.
constexpr BroughtField gemma_has[] = {
    {"norm", "pre"},          {"norm_kind", "rms-plus-1"}, {"positions", "rotary-halves"},
    {"base", 10000.0},        {"scale", "sqrt-dk"},        {"scale_embeddings", true},
    {"causal_decoder", true}, {"epsilon", 1e-6},           {"activation", "gelu-tanh"},
    {"tied_output", true},
};
// In Gemma 1 "hidden_act" says nothing: the reference ignores it.
constexpr ConfigField gemma_fields[] = {
    {"rms_norm_eps", "epsilon"},
    {"hidden_activation", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"rope_theta", "base"},
    {"rope_scaling", "", rope_there},
    {"rope_parameters", "", rope_there},
    {"use_bidirectional_attention", "", only_flag<false>},
};
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
constexpr ConfigField gemma2_fields[] = {
    {"rms_norm_eps", "epsilon"},
    {"hidden_activation", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
    {"rope_theta", "base"},
    {"rope_local_base_freq", "local_base"},
    {"rope_scaling", "", rope_there},
    {"rope_parameters", "", rope_there},
    {"query_pre_attn_scalar", "scale", root_there},
    {"attn_logit_softcapping", "score_cap", nullptr, 0.0},
    {"final_logit_softcapping", "logit_cap", nullptr, 0.0},
    {"sliding_window", "window", nullptr, 0.0},
    {"layer_types", "", layers_there},
    {"use_bidirectional_attention", "", only_flag<false>},
};

bool is_odd_layer(std::size_t layer, std::size_t) { return layer % 2 == 1; }
bool is_even_layer(std::size_t layer, std::size_t) { return layer % 2 == 0; }
bool is_from(std::size_t layer, std::size_t first) { return layer >= first; }
bool is_no_multiple(std::size_t layer, std::size_t pattern) { return (layer + 1) % pattern != 0; }

constexpr LayersWithWindow of_qwen{4096.0, is_from, "max_window_layers", 28, "use_sliding_window"};

// --- encoders

constexpr std::string_view absolute = "absolute", exact_gelu = "gelu";
constexpr std::string_view bert_layouts[] = {"BERT", "the encoder of BERT"},
                           roberta_layouts[] = {"RoBERTa", "the encoder of BERT"},
                           distilbert_layouts[] = {"DistilBERT"};
// Whether there is an output layer, and whether it is the embedding, is told by the tensors.
constexpr BroughtField bert_has[] = {
    {"norm", "post"},     {"norm_kind", "layer"},      {"positions", "learned"},
    {"scale", "sqrt-dk"}, {"scale_embeddings", false}, {"activation", "gelu"},
    {"epsilon", 1e-12},   {"causal_encoder", false},
};
constexpr ConfigField bert_fields[] = {
    {"layer_norm_eps", "epsilon"},
    {"hidden_act", "activation", activation_there},
    {"is_decoder", "causal_encoder"},
    {"add_cross_attention", "", only_flag<false>},
    {"position_embedding_type", "", only_text<absolute>},
};

// Words begin behind the padding, whose position is its id.
FieldValue behind_padding(const JsonMember& member, ModelConfig&) {
  constexpr std::uint64_t most = 65535;
  if (!member.value.is_number_unsigned() || member.value.get<std::uint64_t>() > most)
    fail("{} must be a whole number from 0 to {}", member.place, most);
  return static_cast<double>(member.value.get<std::uint64_t>() + 1);
}

constexpr BroughtField roberta_has[] = {
    {"norm", "post"},     {"norm_kind", "layer"},      {"positions", "learned"},
    {"scale", "sqrt-dk"}, {"scale_embeddings", false}, {"activation", "gelu"},
    {"epsilon", 1e-12},   {"causal_encoder", false},   {"first_position", 2.0},
};
// Its output layer has the exact GELU, whatever its layers have.
constexpr ConfigField roberta_fields[] = {
    {"layer_norm_eps", "epsilon"},
    {"hidden_act", "", only_text<exact_gelu>},
    {"is_decoder", "causal_encoder"},
    {"add_cross_attention", "", only_flag<false>},
    {"position_embedding_type", "", only_text<absolute>},
    {"pad_token_id", "first_position", behind_padding},
};
constexpr ConfigField distilbert_fields[] = {{"activation", "activation", activation_there}};

constexpr std::string_view vit_layouts[] = {"ViT"};
constexpr BroughtField vit_has[] = {
    {"norm", "pre"},           {"norm_kind", "layer"},      {"positions", "learned"}, {"activation", "gelu"},
    {"scale", "sqrt-dk"},      {"scale_embeddings", false}, {"epsilon", 1e-12},       {"tied_output", false},
    {"causal_encoder", false}, {"first_output", true},
};
constexpr ConfigField vit_fields[] = {{"layer_norm_eps", "epsilon"}, {"hidden_act", "activation", activation_there}};

// --- encoder-decoders

constexpr std::string_view t5_layouts[] = {"T5", "the encoder of T5"}, bart_layouts[] = {"BART"};
// "gated-gelu" is GELU by tanh.
FieldValue activation_of_t5(const JsonMember& member, ModelConfig&) {
  constexpr std::string_view gated = "gated-";
  const std::string theirs = string_of(member);
  if (theirs == "gated-gelu") return "gelu-tanh";
  const std::string_view bare = std::string_view(theirs).substr(theirs.starts_with(gated) ? gated.size() : 0);
  const auto found = std::ranges::find(activations_there, bare, &ActivationThere::theirs);
  if (found == std::end(activations_there))
    fail("{}: the activation {} is not read yet", member.place, in_quotes(theirs));
  return found->ours;
}
FieldValue is_gated_t5(const JsonMember& member, ModelConfig&) { return string_of(member).starts_with("gated-"); }
constexpr BroughtField t5_has[] = {
    {"norm", "pre"},        {"norm_kind", "rms"},     {"positions", "none"},
    {"activation", "relu"}, {"scale", "none"},        {"scale_embeddings", false},
    {"epsilon", 1e-6},      {"causal_decoder", true}, {"max_distance", 128.0},
};
constexpr ConfigField t5_fields[] = {
    {"layer_norm_epsilon", "epsilon"},
    {"feed_forward_proj", "activation", activation_of_t5},
    {"feed_forward_proj", "gated", is_gated_t5},
    {"relative_attention_max_distance", "max_distance"},
};

FieldValue heads_of_decoder(const JsonMember& member, ModelConfig& config) {
  if (member.value != Json(config.heads))
    fail("{}: an encoder and a decoder with different numbers of heads are not read yet", member.place);
  return {};
}
constexpr BroughtField bart_has[] = {
    {"norm", "post"},       {"norm_kind", "layer"},   {"positions", "learned"},
    {"activation", "gelu"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"epsilon", 1e-5},      {"causal_decoder", true}, {"first_position", 2.0},
};
constexpr ConfigField bart_fields[] = {
    {"activation_function", "activation", activation_there},
    {"scale_embedding", "scale_embeddings"},
    {"decoder_attention_heads", "", heads_of_decoder},
    {"normalize_before", "", only_flag<false>},
    {"normalize_embedding", "", only_flag<true>},
    {"add_final_layer_norm", "", only_flag<false>},
    {"static_position_embeddings", "", only_flag<false>},
};

constexpr ModelFamily families[] = {
    {"gpt2", "GPT-2", gpt2_layouts, gpt2_has, gpt2_fields},
    {"gpt_neo", "GPT-Neo", neo_layouts, neo_has, neo_fields, {}, {256.0, is_odd_layer}},
    {"gpt_neox", "GPT-NeoX", neox_layouts, neox_has, neox_fields},
    {"llama", "Llama", llama_layouts, llama_has, llama_fields},
    {"mistral", "Mistral", llama_layouts, llama_has, windowed_fields, {}, {4096.0}},
    {"qwen2", "Qwen2", llama_layouts, llama_has, windowed_fields, {}, of_qwen},
    {"qwen3", "Qwen3", llama_layouts, llama_has, windowed_fields, {}, of_qwen},
    {"gemma", "Gemma", llama_layouts, gemma_has, gemma_fields},
    {"gemma2", "Gemma 2", gemma2_layouts, gemma2_has, gemma2_fields, {}, {4096.0, is_even_layer}},
    {"gemma3_text",
     "Gemma 3",
     gemma2_layouts,
     gemma3_has,
     gemma2_fields,
     {},
     {4096.0, is_no_multiple, "sliding_window_pattern", 6}},
    {"phi3", "Phi-3", phi3_layouts, phi3_has, windowed_fields, {}, {0.0}},
    {"olmo2", "OLMo 2", olmo2_layouts, olmo2_has, llama_fields},
    {.type = "mixtral", .title = "Mixtral", .layouts = {}, .unread = "experts"},
    {.type = "qwen2_moe", .title = "Qwen2 MoE", .layouts = {}, .unread = "experts"},
    {.type = "qwen3_moe", .title = "Qwen3 MoE", .layouts = {}, .unread = "experts"},
    {.type = "qwen3_next", .title = "Qwen3-Next", .layouts = {}, .unread = "experts and linear attention"},
    {.type = "deepseek_v2", .title = "DeepSeek-V2", .layouts = {}, .unread = "latent attention and experts"},
    {.type = "deepseek_v3", .title = "DeepSeek-V3", .layouts = {}, .unread = "latent attention and experts"},
    {.type = "gpt_oss", .title = "gpt-oss", .layouts = {}, .unread = "experts and attention sinks"},
    {.type = "olmoe", .title = "OLMoE", .layouts = {}, .unread = "experts"},
    {.type = "phimoe", .title = "Phi-3.5-MoE", .layouts = {}, .unread = "experts"},
    {.type = "llama4_text", .title = "Llama 4", .layouts = {}, .unread = "experts"},
    {.type = "llama4", .title = "Llama 4", .layouts = {}, .unread = "experts"},
    {.type = "gemma3", .title = "Gemma 3 with pictures", .layouts = {}, .unread = "models of texts and pictures"},
    {.type = "gemma3n", .title = "Gemma 3n", .layouts = {}, .unread = "its nested layers"},
    {.type = "mamba", .title = "Mamba", .layouts = {}, .unread = "state spaces"},
    {.type = "mamba2", .title = "Mamba 2", .layouts = {}, .unread = "state spaces"},
    {.type = "falcon_mamba", .title = "Falcon Mamba", .layouts = {}, .unread = "state spaces"},
    {.type = "jamba", .title = "Jamba", .layouts = {}, .unread = "state spaces and experts"},
    {.type = "rwkv", .title = "RWKV", .layouts = {}, .unread = "recurrent layers"},
    {.type = "recurrent_gemma", .title = "RecurrentGemma", .layouts = {}, .unread = "recurrent layers"},
    {.type = "falcon", .title = "Falcon", .layouts = {}, .unread = "its packed projections and its positions"},
    {.type = "bloom", .title = "Bloom", .layouts = {}, .unread = "its positions (ALiBi)"},
    {.type = "mpt", .title = "MPT", .layouts = {}, .unread = "its positions (ALiBi)"},
    {.type = "opt", .title = "OPT", .layouts = {}, .unread = "its positions, which begin at 2, and its projections"},
    {.type = "gptj", .title = "GPT-J", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "phi", .title = "Phi", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "cohere", .title = "Command R", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "cohere2", .title = "Command R7B", .layouts = {}, .unread = "layers with one norm for two sub-layers"},
    {.type = "olmo", .title = "OLMo", .layouts = {}, .unread = "norms without parameters"},
    {.type = "olmo3", .title = "OLMo 3", .layouts = {}, .unread = "scaled positions of some layers"},
    {.type = "starcoder2", .title = "StarCoder 2", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "gpt_bigcode", .title = "GPT BigCode", .layouts = {}, .unread = "its packed projections"},
    {.type = "stablelm", .title = "StableLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "granite", .title = "Granite", .layouts = {}, .unread = "its multipliers"},
    {.type = "smollm3", .title = "SmolLM3", .layouts = {}, .unread = "layers without positions"},
    {.type = "nemotron", .title = "Nemotron", .layouts = {}, .unread = "its norms and its activation"},
    {.type = "minicpm", .title = "MiniCPM", .layouts = {}, .unread = "its multipliers"},
    {.type = "glm4", .title = "GLM-4", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "chatglm", .title = "ChatGLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "xglm", .title = "XGLM", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "codegen", .title = "CodeGen", .layouts = {}, .unread = "its packed projections"},
    {.type = "ctrl", .title = "CTRL", .layouts = {}, .unread = "the names of its tensors"},
    {"bert", "BERT", bert_layouts, bert_has, bert_fields},
    {"roberta", "RoBERTa", roberta_layouts, roberta_has, roberta_fields},
    {"xlm-roberta", "XLM-RoBERTa", roberta_layouts, roberta_has, roberta_fields},
    {"camembert", "CamemBERT", roberta_layouts, roberta_has, roberta_fields},
    {"distilbert", "DistilBERT", distilbert_layouts, bert_has, distilbert_fields},
    {"t5", "T5", t5_layouts, t5_has, t5_fields},
    {"mt5", "mT5", t5_layouts, t5_has, t5_fields},
    {"bart", "BART", bart_layouts, bart_has, bart_fields},
    {"vit", "ViT", vit_layouts, vit_has, vit_fields},
    {.type = "albert", .title = "ALBERT", .layouts = {}, .unread = "embeddings of another size"},
    {.type = "electra",
     .title = "ELECTRA",
     .layouts = {},
     .unread = "its discriminator and embeddings of another size"},
    {.type = "deberta", .title = "DeBERTa", .layouts = {}, .unread = "scores of contents and distances"},
    {.type = "deberta-v2", .title = "DeBERTa v2", .layouts = {}, .unread = "scores of contents and distances"},
    {.type = "xlnet", .title = "XLNet", .layouts = {}, .unread = "two streams of attention"},
    {.type = "mpnet", .title = "MPNet", .layouts = {}, .unread = "the names of its tensors"},
    {.type = "longformer", .title = "Longformer", .layouts = {}, .unread = "windows beside global attention"},
    {.type = "big_bird", .title = "BigBird", .layouts = {}, .unread = "blocks of sparse attention"},
    {.type = "modernbert", .title = "ModernBERT", .layouts = {}, .unread = "local layers with their own rotation"},
    {.type = "umt5", .title = "UMT5", .layouts = {}, .unread = "buckets of distances in every layer"},
    {.type = "longt5", .title = "LongT5", .layouts = {}, .unread = "blocks of local attention"},
    {.type = "switch_transformers", .title = "Switch Transformers", .layouts = {}, .unread = "experts"},
    {.type = "mbart", .title = "mBART", .layouts = {}, .unread = "the names of its norms"},
    {.type = "pegasus", .title = "Pegasus", .layouts = {}, .unread = "the names of its norms"},
    {.type = "marian", .title = "Marian", .layouts = {}, .unread = "the positions of its files"},
    {.type = "whisper", .title = "Whisper", .layouts = {}, .unread = "convolutions of sound"},
    {.type = "clip", .title = "CLIP", .layouts = {}, .unread = "two encoders side by side"},
    {.type = "swin", .title = "Swin", .layouts = {}, .unread = "windows of an image"},
    {.type = "deit", .title = "DeiT", .layouts = {}, .unread = "its second token"},
};

// A size, by the names that families have for it.
struct ConfigSize {
  std::string_view key;
  std::size_t ModelConfig::*size;
};
constexpr ConfigSize sizes[] = {
    {"num_attention_heads", &ModelConfig::heads},
    {"n_head", &ModelConfig::heads},
    {"num_heads", &ModelConfig::heads},
    {"num_key_value_heads", &ModelConfig::key_heads},
    {"head_dim", &ModelConfig::head_size},
    {"d_kv", &ModelConfig::head_size},
    {"num_hidden_layers", &ModelConfig::layers},
    {"num_layers", &ModelConfig::layers},
    {"n_layer", &ModelConfig::layers},
    {"n_heads", &ModelConfig::heads},
    {"encoder_attention_heads", &ModelConfig::heads},
    {"relative_attention_num_buckets", &ModelConfig::buckets},
};

}  // namespace

std::span<const ModelFamily> model_families() { return families; }

// --- reading

namespace {

// A member; null where there is none, and where it is null unless that is asked for.
const Json* member_of(const Json& object, std::string_view key, bool with_null = false) {
  const auto found = object.find(std::string(key));
  return found == object.end() || (found->is_null() && !with_null) ? nullptr : &*found;
}

std::size_t size_in(const JsonMember& member) {
  constexpr std::uint64_t most = 65536;
  if (member.value.is_number_unsigned() && member.value.get<std::uint64_t>() >= 1 &&
      member.value.get<std::uint64_t>() <= most)
    return member.value.get<std::size_t>();
  fail("{} must be a whole number from 1 to {}", member.place, most);
}

std::size_t token_in(const JsonMember& member) {
  if (member.value.is_number_unsigned()) return member.value.get<std::size_t>();
  fail("{} must be the id of a token", member.place);
}

// One, or a list of several.
std::vector<std::size_t> tokens_in(const JsonMember& member) {
  if (!member.value.is_array()) return {token_in(member)};
  std::vector<std::size_t> tokens;
  for (const Json& token : member.value) tokens.push_back(token_in({token, member.place}));
  return tokens;
}

FieldValue value_in(const Json& value, ModelConfig& config) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return std::string_view(config.texts.emplace_back(value.get<std::string>()));
  return {};
}

const ModelFamily& family_of(const Json& file, const std::string& where) {
  const Json* const type = member_of(file, "model_type");
  if (!type) fail("{} does not say which model it is: it has no \"model_type\"", where);
  const std::string name = string_of({*type, fmt::format("{}: \"model_type\"", where)});
  const auto family = std::ranges::find(families, name, &ModelFamily::type);
  if (family == std::end(families)) {
    std::vector<std::string> known;
    for (const ModelFamily& row : families) {
      if (row.unread.empty()) known.emplace_back(row.title);
    }
    fail("{}: this is a model of the family {}, which is not read yet: these are read: {}", where, in_quotes(name),
         listed(known));
  }
  if (!family->unread.empty()) fail("{}: this is {}: {} are not read yet", where, family->title, family->unread);
  return *family;
}

}  // namespace

void ModelConfig::set(std::string_view field, const FieldValue& value) {
  std::erase_if(brings, [&](const BroughtField& one) { return one.field == field; });
  brings.push_back({field, value});
}

namespace {

// Which layers have a window: as the config names them, or as the family has them. A window that is not said is the
// usual one.
void take_windows(ModelConfig& config, const Json& file, const std::string& where) {
  const LayersWithWindow& windows = config.family->windows;
  const auto has = [&](std::string_view field) {
    return std::ranges::find(config.brings, field, &BroughtField::field) != config.brings.end();
  };
  const Json* const is_on = windows.switch_key.empty() ? nullptr : member_of(file, windows.switch_key);
  const bool is_off = !windows.switch_key.empty() && (!is_on || *is_on == false);
  if (is_off) config.set("window", 0.0);
  if (!has("window") && windows.usual != 0.0) config.set("window", windows.usual);
  if (!has("window")) return;
  if (config.window_layers.empty() && windows.is_local) {
    const Json* const said = windows.pattern_key.empty() ? nullptr : member_of(file, windows.pattern_key);
    const std::size_t pattern =
        said ? size_in({*said, fmt::format("{}: \"{}\"", where, windows.pattern_key)}) : windows.usual_pattern;
    if (config.layers == 0)
      fail("{} does not say how many layers there are, and so not which of them have a window", where);
    std::vector<std::string> local;
    for (std::size_t i = 0; i < config.layers; ++i) {
      if (windows.is_local(i, pattern)) local.push_back(std::to_string(i + 1));
    }
    config.window_layers = local.empty() ? "none" : fmt::format("{}", fmt::join(local, ", "));
  }
  if (config.window_layers == "none") config.set("window", 0.0);
  if (config.window_layers == "none" || config.window_layers.empty()) return;
  config.set("window_layers", std::string_view(config.texts.emplace_back(config.window_layers)));
}

}  // namespace

ModelConfig read_config(std::string_view bytes, const std::string& where) {
  return config_from(parse_json(bytes, where), where);
}

ModelConfig config_from(const Json& file, const std::string& where) {
  if (!file.is_object()) fail("{} is not an object, as the config.json of a model is", where);
  ModelConfig config{.family = &family_of(file, where)};
  const auto member = [&](std::string_view key) -> std::optional<JsonMember> {
    const Json* const found = member_of(file, key);
    if (!found) return std::nullopt;
    return JsonMember{*found, fmt::format("{}: \"{}\"", where, key)};
  };
  for (const ConfigSize& row : sizes) {
    if (const auto found = member(row.key)) config.*row.size = size_in(*found);
  }
  if (const auto start = member("decoder_start_token_id")) config.start = token_in(*start);
  if (const auto ends = member("eos_token_id")) config.ends = tokens_in(*ends);
  if (const auto tied = member("tie_word_embeddings"); tied && tied->value.is_boolean())
    config.is_tied = tied->value.get<bool>();
  if (config.heads == 0) fail("{} does not say how many heads there are", where);
  std::ranges::copy(config.family->brings, std::back_inserter(config.brings));
  for (const ConfigField& row : config.family->fields) {
    const Json* const value = member_of(file, row.key, true);
    if (!value) continue;
    if (value->is_null()) {
      if (row.of_null != FieldValue()) config.set(row.field, row.of_null);
      continue;
    }
    const JsonMember found{*value, fmt::format("{}: \"{}\"", where, row.key)};
    const FieldValue meant = row.meaning ? row.meaning(found, config) : value_in(found.value, config);
    if (row.field.empty()) continue;
    ModelRecipe tried;
    look_up(recipe_fields(), row.field, "choice of a recipe").take(tried, meant, found.place);
    config.set(row.field, meant);
  }
  take_windows(config, file, where);
  return config;
}

}  // namespace attn
