#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

// BERT and its like: an encoder, and an output layer that names masked words.
constexpr SchemaPart transform{&scope::transform, 0, {}};
constexpr Renamed old_norm[] = {{"gamma", {&role::gamma}}, {"beta", {&role::beta}}};
constexpr Renamed dense[] = {{"weight", {&role::w}, transposed_there, always}, {"bias", {&role::b}, as_it_is, always}};
constexpr Renamed bert_attention[] = {
    {"self.query.weight", {&role::w_q}, transposed_there},   {"self.query.bias", {&role::b_q}},
    {"self.key.weight", {&role::w_k}, transposed_there},     {"self.key.bias", {&role::b_k}},
    {"self.value.weight", {&role::w_v}, transposed_there},   {"self.value.bias", {&role::b_v}},
    {"output.dense.weight", {&role::w_o}, transposed_there}, {"output.dense.bias", {&role::b_o}},
};
constexpr Renamed bert_feed_forward[] = {
    {"intermediate.dense.weight", {&role::w_1}, transposed_there},
    {"intermediate.dense.bias", {&role::b_1}},
    {"output.dense.weight", {&role::w_2}, transposed_there},
    {"output.dense.bias", {&role::b_2}},
};
template <const auto& norm>
constexpr RenamedPart bert_layer[] = {
    {"attention.", self_attention, bert_attention},
    {"attention.output.LayerNorm.", norm_1, norm},
    {"", feed_forward, bert_feed_forward},
    {"output.LayerNorm.", norm_2, norm},
};
template <const auto& norm>
constexpr RenamedPart bert_words[] = {{"word_embeddings.", itself, words_there}, {"LayerNorm.", last_norm, norm}};
constexpr RenamedPart bert_types[] = {{"token_type_embeddings.", itself, words_there}};
constexpr RenamedPart bert_places[] = {{"position_embeddings.", itself, places_there}};
template <const auto& norm>
constexpr RenamedSection bert[] = {
    {"encoder.layer.#.", &scope::encoder, "#.", bert_layer<norm>, true},
    {"embeddings.", &scope::source_embedding, "", bert_words<norm>, true},
    {"embeddings.", &scope::source_types, "", bert_types, true},
    {"embeddings.", &scope::source_positions, "", bert_places, true},
};
constexpr Renamed masked_bias[] = {{"bias", {&role::b}, as_it_is, always},
                                   {"decoder.bias", {&role::b}, as_it_is, shared}};
template <const auto& norm>
constexpr RenamedPart bert_output[] = {
    {"transform.dense.", transform, dense}, {"transform.LayerNorm.", last_norm, norm}, {"", itself, masked_bias}};
constexpr RenamedPart masked_tied[] = {{"decoder.", itself, shared_words}};
constexpr RenamedPart masked_own[] = {{"decoder.", itself, own_words_there}};
template <const auto& norm>
constexpr RenamedSection bert_tied[] = {
    {"cls.predictions.", &scope::output, "", bert_output<norm>, true},
    {"cls.predictions.", &scope::source_embedding, "", masked_tied, false},
};
constexpr RenamedSection bert_own[] = {
    {"cls.predictions.", &scope::output, "", bert_output<torch_norm>, true},
    {"cls.predictions.", &scope::output, "", masked_own, true},
};
constexpr RenamedPart roberta_output[] = {
    {"dense.", transform, dense}, {"layer_norm.", last_norm, torch_norm}, {"", itself, masked_bias}};
constexpr RenamedSection roberta_tied[] = {
    {"lm_head.", &scope::output, "", roberta_output, true},
    {"lm_head.", &scope::source_embedding, "", masked_tied, false},
};
constexpr RenamedSection roberta_own[] = {
    {"lm_head.", &scope::output, "", roberta_output, true},
    {"lm_head.", &scope::output, "", masked_own, true},
};
constexpr std::string_view of_first_word[] = {"pooler.dense.weight", "pooler.dense.bias"},
                           of_first_word_of_bert[] = {"bert.pooler.dense.weight", "bert.pooler.dense.bias",
                                                      "cls.seq_relationship.weight", "cls.seq_relationship.bias"},
                           of_first_word_of_roberta[] = {"roberta.pooler.dense.weight", "roberta.pooler.dense.bias"};

constexpr Renamed distilbert_attention[] = {
    {"q_lin.weight", {&role::w_q}, transposed_there},   {"q_lin.bias", {&role::b_q}},
    {"k_lin.weight", {&role::w_k}, transposed_there},   {"k_lin.bias", {&role::b_k}},
    {"v_lin.weight", {&role::w_v}, transposed_there},   {"v_lin.bias", {&role::b_v}},
    {"out_lin.weight", {&role::w_o}, transposed_there}, {"out_lin.bias", {&role::b_o}},
};
constexpr Renamed distilbert_feed_forward[] = {
    {"lin1.weight", {&role::w_1}, transposed_there},
    {"lin1.bias", {&role::b_1}},
    {"lin2.weight", {&role::w_2}, transposed_there},
    {"lin2.bias", {&role::b_2}},
};
constexpr RenamedPart distilbert_layer[] = {
    {"attention.", self_attention, distilbert_attention},
    {"sa_layer_norm.", norm_1, torch_norm},
    {"ffn.", feed_forward, distilbert_feed_forward},
    {"output_layer_norm.", norm_2, torch_norm},
};
constexpr RenamedSection distilbert[] = {
    {"transformer.layer.#.", &scope::encoder, "#.", distilbert_layer, true},
    {"embeddings.", &scope::source_embedding, "", bert_words<torch_norm>, true},
    {"embeddings.", &scope::source_positions, "", bert_places, true},
};
constexpr Renamed distilbert_bias[] = {{"bias", {&role::b}, as_it_is, always}};
constexpr RenamedPart distilbert_output[] = {{"vocab_transform.", transform, dense},
                                             {"vocab_layer_norm.", last_norm, torch_norm},
                                             {"vocab_projector.", itself, distilbert_bias}};
constexpr RenamedPart distilbert_shared[] = {{"vocab_projector.", itself, shared_words}};
constexpr RenamedPart distilbert_own_words[] = {{"vocab_projector.", itself, own_words_there}};
constexpr RenamedSection distilbert_tied[] = {
    {"", &scope::output, "", distilbert_output, true},
    {"", &scope::source_embedding, "", distilbert_shared, false},
};
constexpr RenamedSection distilbert_own[] = {
    {"", &scope::output, "", distilbert_output, true},
    {"", &scope::output, "", distilbert_own_words, true},
};

// ViT: a convolution whose windows do not overlap is a linear layer on each patch.
constexpr Renamed vit_attention[] = {
    {"attention.query.weight", {&role::w_q}, transposed_there},
    {"attention.query.bias", {&role::b_q}, as_it_is, sometimes},
    {"attention.key.weight", {&role::w_k}, transposed_there},
    {"attention.key.bias", {&role::b_k}, as_it_is, sometimes},
    {"attention.value.weight", {&role::w_v}, transposed_there},
    {"attention.value.bias", {&role::b_v}, as_it_is, sometimes},
    {"output.dense.weight", {&role::w_o}, transposed_there},
    {"output.dense.bias", {&role::b_o}},
};
constexpr RenamedPart vit_layer[] = {
    {"attention.", self_attention, vit_attention},
    {"layernorm_before.", norm_1, torch_norm},
    {"", feed_forward, bert_feed_forward},
    {"layernorm_after.", norm_2, torch_norm},
};
constexpr bool kernel = true;
constexpr Renamed vit_patches[] = {
    {"weight", {&role::w}, transposed_there, always, Packing::equal, kernel},
    {"bias", {&role::b}, as_it_is, always},
};
constexpr Renamed vit_class[] = {{"cls_token", {&role::class_token}, as_it_is, always}};
constexpr Renamed vit_places[] = {{"position_embeddings", {&role::table}}};
constexpr RenamedPart vit_last_norm[] = {{"layernorm.", last_norm, torch_norm}};
constexpr RenamedPart vit_words[] = {{"patch_embeddings.projection.", itself, vit_patches}, {"", itself, vit_class}};
constexpr RenamedPart vit_places_part[] = {{"", itself, vit_places}};
constexpr RenamedPart vit_output[] = {{"classifier.", itself, dense}};
constexpr RenamedSection vit[] = {
    {"encoder.layer.#.", &scope::encoder, "#.", vit_layer, true},
    {"", &scope::encoder, "", vit_last_norm, true},
    {"embeddings.", &scope::source_embedding, "", vit_words, true},
    {"embeddings.", &scope::source_positions, "", vit_places_part, true},
};
constexpr RenamedSection vit_classifier[] = {{"", &scope::output, "", vit_output, true}};
constexpr std::string_view unread_by_vit[] = {"pooler.dense.weight", "pooler.dense.bias", "embeddings.mask_token"};

constexpr BroughtField of_vit[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},      {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},        {"scale_embeddings", false},
    {"tied_output", false},   {"epsilon", 1e-12, assumed}, {"causal_encoder", false},
    {"first_output", true},
};
template <bool is_tied>
constexpr BroughtField of_bert[] = {
    {"norm", "post"},     {"norm_kind", "layer"},      {"activation", "gelu", assumed}, {"positions", "learned"},
    {"scale", "sqrt-dk"}, {"scale_embeddings", false}, {"tied_output", is_tied},        {"epsilon", 1e-12, assumed},
};
template <bool is_tied>
constexpr BroughtField of_roberta[] = {
    {"norm", "post"},         {"norm_kind", "layer"},     {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},       {"scale_embeddings", false},
    {"tied_output", is_tied}, {"epsilon", 1e-5, assumed}, {"first_position", 2.0, assumed},
};

}  // namespace

std::vector<ForeignLayout> layouts_of_encoders() {
  return {
      {"BERT", "bert.", bert<torch_norm>, bert_tied<torch_norm>, of_bert<true>, sizes_there, {}, of_first_word_of_bert},
      {"BERT", "bert.", bert<torch_norm>, bert_own, of_bert<false>, sizes_there, {}, of_first_word_of_bert},
      {"BERT", "bert.", bert<old_norm>, bert_tied<old_norm>, of_bert<true>, sizes_there, {}, of_first_word_of_bert},
      {"the encoder of BERT", "", bert<torch_norm>, {}, of_bert<false>, sizes_there, {}, of_first_word},
      {"the encoder of BERT", "", bert<old_norm>, {}, of_bert<false>, sizes_there, {}, of_first_word},
      {"RoBERTa",
       "roberta.",
       bert<torch_norm>,
       roberta_tied,
       of_roberta<true>,
       sizes_there,
       {},
       of_first_word_of_roberta},
      {"RoBERTa",
       "roberta.",
       bert<torch_norm>,
       roberta_own,
       of_roberta<false>,
       sizes_there,
       {},
       of_first_word_of_roberta},
      {"DistilBERT", "distilbert.", distilbert, distilbert_tied, of_bert<true>},
      {"DistilBERT", "distilbert.", distilbert, distilbert_own, of_bert<false>},
      {"DistilBERT", "", distilbert, {}, of_bert<false>},
      {"ViT", "vit.", vit, vit_classifier, of_vit},
      {"ViT", "", vit, {}, of_vit, sizes_there, {}, unread_by_vit},
  };
}

}  // namespace attn::foreign
