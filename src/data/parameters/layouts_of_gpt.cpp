#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

// GPT-2: OpenAI's and Hugging Face's Conv1D stores maps as (in, out); minGPT's nn.Linear as (out, in).
// (Radford et al. 2019, Language Models are Unsupervised Multitask Learners, section 2.3)
template <bool is_transposed>
constexpr Renamed gpt2_attention[] = {
    {"c_attn.weight", {&role::w_q, &role::w_k, &role::w_v}, is_transposed},
    {"c_attn.bias", {&role::b_q, &role::b_k, &role::b_v}},
    {"c_proj.weight", {&role::w_o}, is_transposed, always},
    {"c_proj.bias", {&role::b_o}},
};
template <bool is_transposed>
constexpr Renamed gpt2_feed_forward[] = {
    {"c_fc.weight", {&role::w_1}, is_transposed},
    {"c_fc.bias", {&role::b_1}},
    {"c_proj.weight", {&role::w_2}, is_transposed},
    {"c_proj.bias", {&role::b_2}},
};
template <bool is_transposed>
constexpr RenamedPart gpt2_layer[] = {
    {"attn.", self_attention, gpt2_attention<is_transposed>},
    {"ln_1.", norm_1, torch_norm},
    {"mlp.", feed_forward, gpt2_feed_forward<is_transposed>},
    {"ln_2.", norm_2, torch_norm},
};
constexpr Renamed gpt2_words[] = {{"wte.weight", {&role::e}}};
constexpr Renamed gpt2_places[] = {{"wpe.weight", {&role::table}}};
constexpr RenamedPart gpt2_words_part[] = {{"", itself, gpt2_words}};
constexpr RenamedPart gpt2_places_part[] = {{"", itself, gpt2_places}};
constexpr RenamedPart gpt2_last_norm[] = {{"ln_f.", last_norm, torch_norm}};

template <bool is_transposed>
constexpr RenamedSection gpt2[] = {
    {"h.#.", &scope::decoder, "#.", gpt2_layer<is_transposed>, true},
    {"", &scope::decoder, "", gpt2_last_norm, true},
    {"", &scope::target_embedding, "", gpt2_words_part, true},
    {"", &scope::target_positions, "", gpt2_places_part, true},
};
// A block by itself computes as a layer of an encoder does that looks at no later word.
template <bool is_transposed>
constexpr RenamedSection gpt2_block[] = {{"", &scope::encoder, "1.", gpt2_layer<is_transposed>, true}};
template <bool is_tied>
constexpr BroughtField of_gpt2[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", is_tied}, {"causal_decoder", true},
};
constexpr BroughtField of_gpt2_block[] = {{"norm", "pre"},
                                          {"norm_kind", "layer"},
                                          {"activation", "gelu-tanh", assumed},
                                          {"scale", "sqrt-dk"},
                                          {"causal_encoder", true}};
constexpr BroughtField of_gpt2_attention[] = {{"causal_decoder", true}};

// GPT-Neo: the names of GPT-2, with projections of their own, as (out, in).
constexpr Renamed neo_attention[] = {
    {"attention.q_proj.weight", {&role::w_q}, transposed_there, always},
    {"attention.k_proj.weight", {&role::w_k}, transposed_there, always},
    {"attention.v_proj.weight", {&role::w_v}, transposed_there, always},
    {"attention.out_proj.weight", {&role::w_o}, transposed_there, always},
    {"attention.out_proj.bias", {&role::b_o}, as_it_is, sometimes},
};
constexpr RenamedPart neo_layer[] = {
    {"attn.", self_attention, neo_attention},
    {"ln_1.", norm_1, torch_norm},
    {"mlp.", feed_forward, gpt2_feed_forward<transposed_there>},
    {"ln_2.", norm_2, torch_norm},
};
constexpr RenamedSection gpt_neo[] = {
    {"h.#.", &scope::decoder, "#.", neo_layer, true},
    {"", &scope::decoder, "", gpt2_last_norm, true},
    {"", &scope::target_embedding, "", gpt2_words_part, true},
    {"", &scope::target_positions, "", gpt2_places_part, true},
};
constexpr BroughtField of_gpt_neo[] = {
    {"norm", "pre"},          {"norm_kind", "layer"},   {"activation", "gelu-tanh", assumed},
    {"positions", "learned"}, {"scale", "none"},        {"scale_embeddings", false},
    {"tied_output", true},    {"causal_decoder", true},
};

// GPT-NeoX: q, k and v of each head in turn.  (Black et al. 2022, GPT-NeoX-20B; its code)
constexpr Renamed neox_attention[] = {
    {"query_key_value.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::in_turn},
    {"query_key_value.bias", {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes, Packing::in_turn},
    {"dense.weight", {&role::w_o}, transposed_there, always},
    {"dense.bias", {&role::b_o}, as_it_is, sometimes},
};
constexpr Renamed neox_feed_forward[] = {
    {"dense_h_to_4h.weight", {&role::w_1}, transposed_there},
    {"dense_h_to_4h.bias", {&role::b_1}},
    {"dense_4h_to_h.weight", {&role::w_2}, transposed_there},
    {"dense_4h_to_h.bias", {&role::b_2}},
};
constexpr RenamedPart neox_layer[] = {
    {"attention.", self_attention, neox_attention},
    {"input_layernorm.", norm_1, torch_norm},
    {"mlp.", feed_forward, neox_feed_forward},
    {"post_attention_layernorm.", norm_2, torch_norm},
};
constexpr Renamed neox_words[] = {{"embed_in.weight", {&role::e}}};
constexpr RenamedPart neox_words_part[] = {{"", itself, neox_words}};
constexpr RenamedPart neox_last_norm[] = {{"final_layer_norm.", last_norm, torch_norm}};
constexpr RenamedSection gpt_neox[] = {
    {"layers.#.", &scope::decoder, "#.", neox_layer, true},
    {"", &scope::decoder, "", neox_last_norm, true},
    {"", &scope::target_embedding, "", neox_words_part, true},
};
constexpr Renamed neox_output[] = {{"embed_out.weight", {&role::w}, transposed_there, always}};
constexpr RenamedPart neox_output_part[] = {{"", itself, neox_output}};
constexpr RenamedSection neox_with_output[] = {{"", &scope::output, "", neox_output_part, true}};
constexpr BroughtField of_gpt_neox[] = {
    {"norm", "parallel", assumed},  {"norm_kind", "layer"},   {"activation", "gelu", assumed},
    {"positions", "rotary-halves"}, {"scale", "sqrt-dk"},     {"scale_embeddings", false},
    {"tied_output", false},         {"causal_decoder", true},
};

}  // namespace

std::vector<ForeignLayout> layouts_of_gpt() {
  return {
      {"an attention of GPT-2", "", lone_attention<gpt2_attention<as_it_is>>, {}, of_gpt2_attention},
      {"an attention of minGPT", "", lone_attention<gpt2_attention<transposed_there>>, {}, of_gpt2_attention},
      {"a block of GPT-2", "", gpt2_block<as_it_is>, {}, of_gpt2_block},
      {"a block of GPT-2", "", gpt2_block<transposed_there>, {}, of_gpt2_block},
      {"GPT-2", "transformer.", gpt2<as_it_is>, tied_head, of_gpt2<true>},
      {"GPT-2", "", gpt2<as_it_is>, tied_head, of_gpt2<true>},
      {"GPT-2", "transformer.", gpt2<as_it_is>, own_head, of_gpt2<false>},
      {"minGPT", "transformer.", gpt2<transposed_there>, own_head, of_gpt2<false>},
      {"minGPT", "", gpt2<transposed_there>, own_head, of_gpt2<false>},
      {"minGPT", "", gpt2<transposed_there>, {}, of_gpt2<false>},
      {"GPT-Neo", "transformer.", gpt_neo, tied_head, of_gpt_neo},
      {"GPT-Neo", "", gpt_neo, {}, of_gpt_neo},
      {"GPT-NeoX", "gpt_neox.", gpt_neox, neox_with_output, of_gpt_neox},
      {"GPT-NeoX", "", gpt_neox, {}, of_gpt_neox},
  };
}

}  // namespace attn::foreign
