#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

constexpr SchemaPart relative_positions{&scope::relative_positions, 0, {}};

// T5: the buckets of distances stand in the first layer, for all of its side.
constexpr Renamed t5_attention[] = {
    {"q.weight", {&role::w_q}, transposed_there},
    {"k.weight", {&role::w_k}, transposed_there},
    {"v.weight", {&role::w_v}, transposed_there},
    {"o.weight", {&role::w_o}, transposed_there},
};
constexpr Renamed t5_feed_forward[] = {{"wi.weight", {&role::w_1}, transposed_there},
                                       {"wo.weight", {&role::w_2}, transposed_there}};
constexpr Renamed t5_gated[] = {{"wi_0.weight", {&role::w_gate}, transposed_there, always},
                                {"wi_1.weight", {&role::w_1}, transposed_there},
                                {"wo.weight", {&role::w_2}, transposed_there}};
template <const auto& inner>
constexpr RenamedPart t5_encoder_layer[] = {
    {"layer.0.SelfAttention.", self_attention, t5_attention},
    {"layer.0.layer_norm.", norm_1, norm_without_shift},
    {"layer.1.DenseReluDense.", feed_forward, inner},
    {"layer.1.layer_norm.", norm_2, norm_without_shift},
};
template <const auto& inner>
constexpr RenamedPart t5_decoder_layer[] = {
    {"layer.0.SelfAttention.", self_attention, t5_attention},
    {"layer.0.layer_norm.", norm_1, norm_without_shift},
    {"layer.1.EncDecAttention.", cross_attention, t5_attention},
    {"layer.1.layer_norm.", norm_2, norm_without_shift},
    {"layer.2.DenseReluDense.", feed_forward, inner},
    {"layer.2.layer_norm.", norm_3, norm_without_shift},
};
constexpr RenamedPart t5_distances[] = {{"relative_attention_bias.", relative_positions, places_there}};
constexpr RenamedPart t5_last_norm[] = {{"final_layer_norm.", last_norm, norm_without_shift}};
constexpr RenamedPart t5_words[] = {{"shared.", itself, words_there}};
constexpr RenamedPart embed_tokens[] = {{"embed_tokens.", itself, shared_words}};
template <const auto& inner>
constexpr RenamedSection t5_encoder[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.block.0.layer.0.SelfAttention.", &scope::encoder, "", t5_distances, true},
    {"encoder.block.#.", &scope::encoder, "#.", t5_encoder_layer<inner>, true},
    {"encoder.", &scope::encoder, "", t5_last_norm, true},
};
template <const auto& inner>
constexpr RenamedSection t5[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.block.0.layer.0.SelfAttention.", &scope::encoder, "", t5_distances, true},
    {"encoder.block.#.", &scope::encoder, "#.", t5_encoder_layer<inner>, true},
    {"encoder.", &scope::encoder, "", t5_last_norm, true},
    {"", &scope::target_embedding, "", t5_words, true},
    {"decoder.", &scope::target_embedding, "", embed_tokens, false},
    {"decoder.block.0.layer.0.SelfAttention.", &scope::decoder, "", t5_distances, true},
    {"decoder.block.#.", &scope::decoder, "#.", t5_decoder_layer<inner>, true},
    {"decoder.", &scope::decoder, "", t5_last_norm, true},
};
// A table that some files have, and nothing reads.
constexpr std::string_view unread_by_t5[] = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};

// BART: both sides share the words.
constexpr Renamed bart_feed_forward[] = {
    {"fc1.weight", {&role::w_1}, transposed_there},
    {"fc1.bias", {&role::b_1}},
    {"fc2.weight", {&role::w_2}, transposed_there},
    {"fc2.bias", {&role::b_2}},
};
constexpr RenamedPart bart_encoder_layer[] = {
    {"self_attn.", self_attention, linear_projections<out_proj>},
    {"self_attn_layer_norm.", norm_1, torch_norm},
    {"", feed_forward, bart_feed_forward},
    {"final_layer_norm.", norm_2, torch_norm},
};
constexpr RenamedPart bart_decoder_layer[] = {
    {"self_attn.", self_attention, linear_projections<out_proj>},
    {"self_attn_layer_norm.", norm_1, torch_norm},
    {"encoder_attn.", cross_attention, linear_projections<out_proj>},
    {"encoder_attn_layer_norm.", norm_2, torch_norm},
    {"", feed_forward, bart_feed_forward},
    {"final_layer_norm.", norm_3, torch_norm},
};
constexpr RenamedPart bart_places[] = {{"embed_positions.", itself, places_there}};
constexpr RenamedPart bart_norm[] = {{"layernorm_embedding.", last_norm, torch_norm}};
constexpr RenamedSection bart[] = {
    {"", &scope::source_embedding, "", t5_words, true},
    {"encoder.", &scope::source_embedding, "", embed_tokens, false},
    {"encoder.", &scope::source_embedding, "", bart_norm, true},
    {"encoder.", &scope::source_positions, "", bart_places, true},
    {"encoder.layers.#.", &scope::encoder, "#.", bart_encoder_layer, true},
    {"", &scope::target_embedding, "", t5_words, true},
    {"decoder.", &scope::target_embedding, "", embed_tokens, false},
    {"decoder.", &scope::target_embedding, "", bart_norm, true},
    {"decoder.", &scope::target_positions, "", bart_places, true},
    {"decoder.layers.#.", &scope::decoder, "#.", bart_decoder_layer, true},
};
constexpr Renamed bart_bias[] = {{"final_logits_bias", {&role::b}, as_it_is, sometimes}};
constexpr RenamedPart bart_bias_part[] = {{"", itself, bart_bias}};
constexpr RenamedSection bart_tied[] = {{"", &scope::target_embedding, "", head_of_words, false},
                                        {"", &scope::output, "", bart_bias_part, false}};
constexpr RenamedSection bart_own[] = {{"", &scope::output, "", own_head_of_words, true},
                                       {"", &scope::output, "", bart_bias_part, false}};

template <bool is_tied, bool is_gated>
constexpr BroughtField of_t5[] = {
    {"norm", "pre"},          {"norm_kind", "rms"},       {"activation", is_gated ? "gelu-tanh" : "relu", assumed},
    {"positions", "none"},    {"scale", "none"},          {"scale_embeddings", false},
    {"tied_output", is_tied}, {"epsilon", 1e-6, assumed}, {"scale_output", is_tied},
    {"causal_decoder", true}, {"gated", is_gated},        {"max_distance", 128.0, assumed},
};
template <bool is_tied>
constexpr BroughtField of_bart[] = {
    {"norm", "post"},         {"norm_kind", "layer"}, {"activation", "gelu", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},   {"scale_embeddings", false, assumed},
    {"tied_output", is_tied}, {"epsilon", 1e-5},      {"first_position", 2.0},
    {"causal_decoder", true},
};

}  // namespace

std::vector<ForeignLayout> layouts_of_encoder_decoders() {
  return {
      {"T5", "", t5<t5_feed_forward>, tied_head, of_t5<true, false>, {}, {}, unread_by_t5},
      {"T5", "", t5<t5_feed_forward>, own_head, of_t5<false, false>, {}, {}, unread_by_t5},
      {"T5", "", t5<t5_gated>, own_head, of_t5<false, true>, {}, {}, unread_by_t5},
      {"T5", "", t5<t5_gated>, tied_head, of_t5<true, true>, {}, {}, unread_by_t5},
      {"the encoder of T5", "", t5_encoder<t5_feed_forward>, {}, of_t5<false, false>, {}},
      {"the encoder of T5", "", t5_encoder<t5_gated>, {}, of_t5<false, true>, {}},
      {"BART", "model.", bart, bart_tied, of_bart<true>},
      {"BART", "model.", bart, bart_own, of_bart<false>},
      {"BART", "", bart, {}, of_bart<true>},
  };
}

}  // namespace attn::foreign
