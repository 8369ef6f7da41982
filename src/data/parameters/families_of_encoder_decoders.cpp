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
constexpr ConfigField t5_fields[] = {
    {"layer_norm_epsilon", &recipe_field::epsilon},
    {"feed_forward_proj", &recipe_field::activation, activation_of_t5},
    {"feed_forward_proj", &recipe_field::gated, is_gated_t5},
    {"dense_act_fn", &recipe_field::activation, activation_there},
    {"is_gated_act", &recipe_field::gated},
    {"relative_attention_max_distance", &recipe_field::max_distance},
};

FieldValue heads_of_decoder(const JsonMember& member, ModelConfig& config) {
  if (member.value != Json(config.heads))
    fail("{}: an encoder and a decoder with different numbers of heads are not read yet", member.place);
  return {};
}
constexpr ConfigField bart_fields[] = {
    {"activation_function", &recipe_field::activation, activation_there},
    {"scale_embedding", &recipe_field::scale_embeddings},
    {"decoder_attention_heads", nullptr, heads_of_decoder},
    {"normalize_before", nullptr, only_flag<false>},
    {"normalize_embedding", nullptr, only_flag<true>},
    {"add_final_layer_norm", nullptr, only_flag<false>},
    {"static_position_embeddings", nullptr, only_flag<false>},
};
// The table has two rows that no word has; a bias of the logits is there or not.
constexpr ConfigSize bart_sizes[] = {{"max_position_embeddings", &ModelConfig::longest_text, std::uint64_t{1} << 32}};
constexpr std::string_view without_effect_in_bart[] = {"add_bias_logits", "extra_pos_embeddings"};

constexpr ModelFamily encoder_decoder_families[] = {
    {"t5", "T5", t5_layouts, "t5", t5_fields},
    {"mt5", "mT5", t5_layouts, "t5", t5_fields},
    {"bart", "BART", bart_layouts, "bart", bart_fields, {}, {}, without_effect_in_bart, {}, bart_sizes},
};

}  // namespace

std::span<const ModelFamily> families_of_encoder_decoders() { return encoder_decoder_families; }

}  // namespace attn
