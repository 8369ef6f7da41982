#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/parameters/config.hpp"
#include "data/parameters/families.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

constexpr std::string_view t5_layouts[] = {"T5", "the encoder of T5"}, bart_layouts[] = {"BART"};
// "gated-gelu" is GELU by tanh.
FieldValue activation_of_t5(const JsonMember& member, ModelConfig&) {
  constexpr std::string_view gated = "gated-";
  const std::string theirs = string_of(member);
  if (theirs == "gated-gelu") return "gelu-tanh";
  const std::string_view bare = std::string_view(theirs).substr(theirs.starts_with(gated) ? gated.size() : 0);
  return activation_named(bare, member);
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
    {"dense_act_fn", "activation", activation_there},
    {"is_gated_act", "gated"},
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
// The table has two rows that no word has; a bias of the logits is there or not.
constexpr ConfigSize bart_sizes[] = {{"max_position_embeddings", &ModelConfig::longest_text, std::uint64_t{1} << 32}};
constexpr std::string_view without_effect_in_bart[] = {"add_bias_logits", "extra_pos_embeddings"};

constexpr ModelFamily encoder_decoder_families[] = {
    {"t5", "T5", t5_layouts, t5_has, t5_fields},
    {"mt5", "mT5", t5_layouts, t5_has, t5_fields},
    {"bart", "BART", bart_layouts, bart_has, bart_fields, {}, {}, without_effect_in_bart, {}, bart_sizes},
};

}  // namespace

std::span<const ModelFamily> families_of_encoder_decoders() { return encoder_decoder_families; }

}  // namespace attn
