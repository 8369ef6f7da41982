#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/parameters/config.hpp"
#include "data/parameters/families.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

constexpr std::string_view absolute = "absolute", exact_gelu = "gelu";
constexpr std::string_view bert_layouts[] = {"BERT", "the encoder of BERT"},
                           roberta_layouts[] = {"RoBERTa", "the encoder of BERT"},
                           distilbert_layouts[] = {"DistilBERT"};
constexpr ConfigField bert_fields[] = {
    {"layer_norm_eps", &recipe_field::epsilon},
    {"hidden_act", &recipe_field::activation, activation_there},
    {"is_decoder", &recipe_field::causal_encoder},
    {"position_embedding_type", nullptr, only_text<absolute>},
};
// What is computed of the first word, and left out.
constexpr std::string_view without_effect_in_bert[] = {
    "directionality",       "pooler_fc_size",       "pooler_num_attention_heads",
    "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type",
};

// Words begin behind the padding, whose position is its id.
FieldValue behind_padding(const JsonMember& member, ModelConfig&) {
  constexpr std::uint64_t most = 65535;
  if (!member.value.is_number_unsigned() || member.value.get<std::uint64_t>() > most)
    fail("{} must be a whole number from 0 to {}", member.place, most);
  return static_cast<double>(member.value.get<std::uint64_t>() + 1);
}

// Its output layer has the exact GELU, whatever its layers have.
constexpr ConfigField roberta_fields[] = {
    {"layer_norm_eps", &recipe_field::epsilon},
    {"hidden_act", nullptr, only_text<exact_gelu>},
    {"is_decoder", &recipe_field::causal_encoder},
    {"position_embedding_type", nullptr, only_text<absolute>},
    {"pad_token_id", &recipe_field::first_position, behind_padding},
};
constexpr ConfigField distilbert_fields[] = {{"activation", &recipe_field::activation, activation_there}};
// The table of positions is there, however it was made.
constexpr std::string_view without_effect_in_distilbert[] = {"sinusoidal_pos_embds", "tie_weights_"};

constexpr std::string_view vit_layouts[] = {"ViT"};
// Sides in pixels: a patch has so many numbers for each channel, and there is a position for each patch and one for the
// class token.
constexpr std::uint64_t longest_side = 65536;
FieldValue image_there(const JsonMember& member, ModelConfig& config) {
  config.image = size_of(member, longest_side);
  return {};
}
FieldValue channels_there(const JsonMember& member, ModelConfig& config) {
  config.channels = size_of(member, longest_side);
  return {};
}
FieldValue patches_there(const JsonMember& member, ModelConfig& config) {
  constexpr std::size_t usual_channels = 3;
  const std::size_t side = size_of(member, longest_side);
  config.patch = side * side * (config.channels ? config.channels : usual_channels);
  if (config.image) config.places = (config.image / side) * (config.image / side) + 1;
  return {};
}
constexpr ConfigField vit_fields[] = {
    {"layer_norm_eps", &recipe_field::epsilon}, {"hidden_act", &recipe_field::activation, activation_there},
    {"qkv_bias", nullptr, query_biases_there},  {"image_size", nullptr, image_there},
    {"num_channels", nullptr, channels_there},  {"patch_size", nullptr, patches_there},
};
constexpr std::string_view without_effect_in_vit[] = {"encoder_stride", "pooler_act", "pooler_output_size"};

constexpr ModelFamily encoder_families[] = {
    {"bert", "BERT", bert_layouts, "bert", bert_fields, {}, {}, without_effect_in_bert},
    {"roberta", "RoBERTa", roberta_layouts, "roberta", roberta_fields, {}, {}, without_effect_in_bert},
    {"xlm-roberta", "XLM-RoBERTa", roberta_layouts, "roberta", roberta_fields, {}, {}, without_effect_in_bert},
    {"camembert", "CamemBERT", roberta_layouts, "roberta", roberta_fields, {}, {}, without_effect_in_bert},
    {"distilbert", "DistilBERT", distilbert_layouts, "bert", distilbert_fields, {}, {}, without_effect_in_distilbert},
    {"vit", "ViT", vit_layouts, "vit", vit_fields, {}, {}, without_effect_in_vit},
};

}  // namespace

std::span<const ModelFamily> families_of_encoders() { return encoder_families; }

}  // namespace attn
