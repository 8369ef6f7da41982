#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

// The layers of Llama, and of what has the same names in Hugging Face: some have biases, or norms of q and k. A linear
// layer is stored as (out, in).  (Touvron et al. 2023, LLaMA: Open and Efficient Foundation Language Models, section 2)
constexpr Renamed llama_attention[] = {
    {"o_proj.weight", {&role::w_o}, transposed_there, always},
    {"q_proj.weight", {&role::w_q}, transposed_there, always},
    {"k_proj.weight", {&role::w_k}, transposed_there, always},
    {"v_proj.weight", {&role::w_v}, transposed_there, always},
    {"q_proj.bias", {&role::b_q}, as_it_is, sometimes},
    {"k_proj.bias", {&role::b_k}, as_it_is, sometimes},
    {"v_proj.bias", {&role::b_v}, as_it_is, sometimes},
    {"o_proj.bias", {&role::b_o}, as_it_is, sometimes},
    {"q_norm.weight", {&role::gamma_q}, as_it_is, sometimes},
    {"k_norm.weight", {&role::gamma_k}, as_it_is, sometimes},
};
constexpr Renamed phi3_attention[] = {
    {"o_proj.weight", {&role::w_o}, transposed_there, always},
    {"qkv_proj.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always, Packing::grouped},
};
constexpr Renamed llama_feed_forward[] = {
    {"gate_proj.weight", {&role::w_gate}, transposed_there, always},
    {"up_proj.weight", {&role::w_1}, transposed_there, always},
    {"down_proj.weight", {&role::w_2}, transposed_there, always},
    {"gate_proj.bias", {&role::b_gate}, as_it_is, sometimes},
    {"up_proj.bias", {&role::b_1}, as_it_is, sometimes},
    {"down_proj.bias", {&role::b_2}, as_it_is, sometimes},
};
constexpr Renamed phi3_feed_forward[] = {
    {"gate_up_proj.weight", {&role::w_gate, &role::w_1}, transposed_there, always},
    {"down_proj.weight", {&role::w_2}, transposed_there, always},
};

template <const auto& attention, const auto& layer>
constexpr RenamedPart pre_norm_layer[] = {
    {"self_attn.", self_attention, attention},
    {"input_layernorm.", norm_1, norm_without_shift},
    {"mlp.", feed_forward, layer},
    {"post_attention_layernorm.", norm_2, norm_without_shift},
};
constexpr RenamedPart gemma2_layer[] = {
    {"self_attn.", self_attention, llama_attention},
    {"input_layernorm.", norm_1, norm_without_shift},
    {"post_attention_layernorm.", post_norm_1, norm_without_shift},
    {"mlp.", feed_forward, llama_feed_forward},
    {"pre_feedforward_layernorm.", norm_2, norm_without_shift},
    {"post_feedforward_layernorm.", post_norm_2, norm_without_shift},
};
constexpr RenamedPart olmo2_layer[] = {
    {"self_attn.", self_attention, llama_attention},
    {"post_attention_layernorm.", norm_1, norm_without_shift},
    {"mlp.", feed_forward, llama_feed_forward},
    {"post_feedforward_layernorm.", norm_2, norm_without_shift},
};
constexpr Renamed llama_words[] = {{"embed_tokens.weight", {&role::e}}};
constexpr RenamedPart llama_words_part[] = {{"", itself, llama_words}};
constexpr RenamedPart llama_last_norm[] = {{"norm.", last_norm, norm_without_shift}};
template <const auto& layer>
constexpr RenamedSection like_llama[] = {
    {"layers.#.", &scope::decoder, "#.", layer, true},
    {"", &scope::decoder, "", llama_last_norm, true},
    {"", &scope::target_embedding, "", llama_words_part, true},
};

template <bool is_tied>
constexpr BroughtField of_llama[] = {
    {"norm", "pre"},
    {"norm_kind", "rms", assumed},
    {"activation", "silu", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", false, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};
template <bool is_tied>
constexpr BroughtField of_gemma2[] = {
    {"norm", "before-and-after"},
    {"norm_kind", "rms-plus-1", assumed},
    {"activation", "gelu-tanh", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", true, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};
template <bool is_tied>
constexpr BroughtField of_olmo2[] = {
    {"norm", "after"},
    {"norm_kind", "rms", assumed},
    {"activation", "silu", assumed},
    {"positions", "rotary-halves"},
    {"scale", "sqrt-dk", assumed},
    {"scale_embeddings", false, assumed},
    {"tied_output", is_tied},
    {"causal_decoder", true},
};

// A decoder is saved with its output layer, without it where that is the embedding, or without what is around it.
struct Saved {
  std::string_view name;
  std::span<const RenamedSection> sections;
  std::span<const BroughtField> with_own_output, with_tied_output;
};
constexpr Saved saved_like_llama[] = {
    {"Llama", like_llama<pre_norm_layer<llama_attention, llama_feed_forward>>, of_llama<false>, of_llama<true>},
    {"Phi-3", like_llama<pre_norm_layer<phi3_attention, phi3_feed_forward>>, of_llama<false>, of_llama<true>},
    {"Gemma 2", like_llama<gemma2_layer>, of_gemma2<false>, of_gemma2<true>},
    {"OLMo 2", like_llama<olmo2_layer>, of_olmo2<false>, of_olmo2<true>},
};

}  // namespace

std::vector<ForeignLayout> layouts_of_llama() {
  std::vector<ForeignLayout> all;
  for (const auto& [name, sections, with_own_output, with_tied_output] : saved_like_llama) {
    all.push_back({name, "model.", sections, own_head, with_own_output, own_sizes});
    all.push_back({name, "model.", sections, {}, with_tied_output, own_sizes});
    all.push_back({name, "", sections, {}, with_tied_output, own_sizes});
  }
  return all;
}

}  // namespace attn::foreign
