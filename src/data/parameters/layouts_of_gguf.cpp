#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

// GGUF (llama.cpp, gguf-py/gguf/constants.py): one set of names for all families. What the family has is there.
constexpr Renamed gguf_attention[] = {
    {"attn_qkv.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, packed},
    {"attn_q.weight", {&role::w_q}, transposed_there, separate},
    {"attn_k.weight", {&role::w_k}, transposed_there, separate},
    {"attn_v.weight", {&role::w_v}, transposed_there, separate},
    {"attn_output.weight", {&role::w_o}, transposed_there, always},
    {"attn_qkv.bias", {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes},
    {"attn_q.bias", {&role::b_q}, as_it_is, sometimes},
    {"attn_k.bias", {&role::b_k}, as_it_is, sometimes},
    {"attn_v.bias", {&role::b_v}, as_it_is, sometimes},
    {"attn_output.bias", {&role::b_o}, as_it_is, sometimes},
    {"attn_q_norm.weight", {&role::gamma_q}, as_it_is, sometimes},
    {"attn_k_norm.weight", {&role::gamma_k}, as_it_is, sometimes},
};
constexpr Renamed gguf_feed_forward[] = {
    {"ffn_gate.weight", {&role::w_gate}, transposed_there, sometimes},
    {"ffn_up.weight", {&role::w_1}, transposed_there, always},
    {"ffn_up.bias", {&role::b_1}, as_it_is, sometimes},
    {"ffn_down.weight", {&role::w_2}, transposed_there, always},
    {"ffn_down.bias", {&role::b_2}, as_it_is, sometimes},
};
constexpr Renamed gguf_phi3_attention[] = {
    {"attn_qkv.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::grouped},
    {"attn_output.weight", {&role::w_o}, transposed_there, always},
};
constexpr Renamed gguf_phi3_feed_forward[] = {
    {"ffn_up.weight", {&role::w_gate, &role::w_1}, transposed_there, always},
    {"ffn_down.weight", {&role::w_2}, transposed_there, always},
};
template <const auto& attention, const auto& layer>
constexpr RenamedPart gguf_layer[] = {
    {"attn_norm.", norm_1, torch_norm},
    {"", self_attention, attention},
    {"ffn_norm.", norm_2, torch_norm},
    {"", feed_forward, layer},
};
constexpr RenamedPart gguf_gemma2_layer[] = {
    {"attn_norm.", norm_1, norm_without_shift},
    {"", self_attention, gguf_attention},
    {"post_attention_norm.", post_norm_1, norm_without_shift},
    {"ffn_norm.", norm_2, norm_without_shift},
    {"", feed_forward, gguf_feed_forward},
    {"post_ffw_norm.", post_norm_2, norm_without_shift},
};
constexpr RenamedPart gguf_olmo2_layer[] = {
    {"", self_attention, gguf_attention},
    {"post_attention_norm.", norm_1, norm_without_shift},
    {"", feed_forward, gguf_feed_forward},
    {"post_ffw_norm.", norm_2, norm_without_shift},
};
constexpr Renamed gguf_words[] = {{"token_embd.weight", {&role::e}}};
constexpr Renamed gguf_places[] = {{"position_embd.weight", {&role::table}, as_it_is, sometimes}};
constexpr Renamed gguf_output[] = {{"output.weight", {&role::w}, transposed_there, sometimes}};
constexpr RenamedPart gguf_last_norm[] = {{"output_norm.", last_norm, torch_norm}};
constexpr RenamedPart gguf_words_part[] = {{"", itself, gguf_words}};
constexpr RenamedPart gguf_places_part[] = {{"", itself, gguf_places}};
constexpr RenamedPart gguf_output_part[] = {{"", itself, gguf_output}};
template <const auto& layer>
constexpr RenamedSection gguf[] = {
    {"blk.#.", &scope::decoder, "#.", layer, true},
    {"", &scope::decoder, "", gguf_last_norm, true},
    {"", &scope::target_embedding, "", gguf_words_part, true},
    {"", &scope::target_positions, "", gguf_places_part, false},
    {"", &scope::output, "", gguf_output_part, false},
};

}  // namespace

std::vector<ForeignLayout> layouts_of_gguf() {
  return {
      {"GGUF", "", gguf<gguf_layer<gguf_attention, gguf_feed_forward>>, {}, {}, own_sizes},
      {"GGUF", "", gguf<gguf_layer<gguf_phi3_attention, gguf_phi3_feed_forward>>, {}, {}, own_sizes},
      {"GGUF", "", gguf<gguf_gemma2_layer>, {}, {}, own_sizes},
      {"GGUF", "", gguf<gguf_olmo2_layer>, {}, {}, own_sizes},
  };
}

}  // namespace attn::foreign
