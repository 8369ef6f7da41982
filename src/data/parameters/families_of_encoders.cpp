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

constexpr ModelFamily encoder_families[] = {
    {"bert", "BERT", bert_layouts, bert_has, bert_fields},
    {"roberta", "RoBERTa", roberta_layouts, roberta_has, roberta_fields},
    {"xlm-roberta", "XLM-RoBERTa", roberta_layouts, roberta_has, roberta_fields},
    {"camembert", "CamemBERT", roberta_layouts, roberta_has, roberta_fields},
    {"distilbert", "DistilBERT", distilbert_layouts, bert_has, distilbert_fields},
    {"vit", "ViT", vit_layouts, vit_has, vit_fields},
};

}  // namespace

std::span<const ModelFamily> families_of_encoders() { return encoder_families; }

}  // namespace attn
