#include "data/parameters/foreign_layout.hpp"

namespace attn::foreign {

namespace {

// PyTorch's modules store maps as (out, in).
constexpr Renamed torch_attention[] = {
    {"in_proj_weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, packed},
    {"q_proj_weight", {&role::w_q}, transposed_there, separate},
    {"k_proj_weight", {&role::w_k}, transposed_there, separate},
    {"v_proj_weight", {&role::w_v}, transposed_there, separate},
    {"in_proj_bias", {&role::b_q, &role::b_k, &role::b_v}},
    {"out_proj.weight", {&role::w_o}, transposed_there, always},
    {"out_proj.bias", {&role::b_o}},
    {"bias_k", {&role::b_k}, as_it_is, never},
    {"bias_v", {&role::b_k}, as_it_is, never},
};
constexpr Renamed torch_feed_forward[] = {
    {"linear1.weight", {&role::w_1}, transposed_there},
    {"linear1.bias", {&role::b_1}},
    {"linear2.weight", {&role::w_2}, transposed_there},
    {"linear2.bias", {&role::b_2}},
};

// Parts by themselves.
constexpr Renamed lone_norm[] = {
    torch_norm[0], torch_norm[1], {role::gamma.leaf, {&role::gamma}}, {role::beta.leaf, {&role::beta}}};
struct LonePart {
  const ScopeKind& scope;
  std::span<const Renamed> tensors;
};
constexpr LonePart lone_parts[] = {{scope::norm, lone_norm}, {scope::feed_forward, torch_feed_forward}};

constexpr RenamedPart torch_encoder_layer[] = {
    {"self_attn.", self_attention, torch_attention},
    {"norm1.", norm_1, torch_norm},
    {"", feed_forward, torch_feed_forward},
    {"norm2.", norm_2, torch_norm},
};
constexpr RenamedPart torch_decoder_layer[] = {
    {"self_attn.", self_attention, torch_attention},
    {"norm1.", norm_1, torch_norm},
    {"multihead_attn.", cross_attention, torch_attention},
    {"norm2.", norm_2, torch_norm},
    {"", feed_forward, torch_feed_forward},
    {"norm3.", norm_3, torch_norm},
};
constexpr RenamedPart torch_last_norm[] = {{"norm.", last_norm, torch_norm}};

// Attentions by themselves, of many makers.
constexpr Renamed timm_attention[] = {
    {"qkv.weight", {&role::w_q, &role::w_k, &role::w_v}, transposed_there, always},
    {"qkv.bias", {&role::b_q, &role::b_k, &role::b_v}, as_it_is, sometimes},
    {"proj.weight", {&role::w_o}, transposed_there, always},
    {"proj.bias", {&role::b_o}, as_it_is, sometimes},
};
// The output layer stands in another module.
constexpr Renamed linear_by_name[] = {
    {"query.weight", {&role::w_q}, transposed_there, always}, {"key.weight", {&role::w_k}, transposed_there, always},
    {"value.weight", {&role::w_v}, transposed_there, always}, {"query.bias", {&role::b_q}, as_it_is, sometimes},
    {"key.bias", {&role::b_k}, as_it_is, sometimes},          {"value.bias", {&role::b_v}, as_it_is, sometimes},
};
constexpr RenamedSection torch_one_encoder_layer[] = {{"", &scope::encoder, "1.", torch_encoder_layer, true}};
constexpr RenamedSection torch_one_decoder_layer[] = {{"", &scope::decoder, "1.", torch_decoder_layer, true}};
constexpr RenamedSection torch_encoder[] = {
    {"layers.#.", &scope::encoder, "#.", torch_encoder_layer, true},
    {"", &scope::encoder, "", torch_last_norm, false},
};
constexpr RenamedSection torch_decoder[] = {
    {"layers.#.", &scope::decoder, "#.", torch_decoder_layer, true},
    {"", &scope::decoder, "", torch_last_norm, false},
};
constexpr RenamedSection torch_transformer[] = {
    {"encoder.layers.#.", &scope::encoder, "#.", torch_encoder_layer, true},
    {"encoder.", &scope::encoder, "", torch_last_norm, false},
    {"decoder.layers.#.", &scope::decoder, "#.", torch_decoder_layer, true},
    {"decoder.", &scope::decoder, "", torch_last_norm, false},
};

constexpr std::string_view linear_layers = "an attention of nn.Linear layers";

}  // namespace

std::vector<ForeignLayout> layouts_of_torch() {
  return {
      {.name = "nn.MultiheadAttention",
       .before = "",
       .sections = lone_attention<torch_attention>,
       .silent_on = "no key of zeros is added (add_zero_attn=False): the file does not say it"},
      {linear_layers, "", lone_attention<linear_projections<o_proj>>, {}, {}, {}},
      {linear_layers, "", lone_attention<linear_projections<out_proj>>, {}, {}, {}},
      {linear_layers, "", lone_attention<linear_by_name>, {}, {}, {}},
      {"an attention of timm", "", lone_attention<timm_attention>, {}, {}, {}},
      {"nn.TransformerEncoderLayer", "", torch_one_encoder_layer},
      {"nn.TransformerDecoderLayer", "", torch_one_decoder_layer},
      {"nn.TransformerEncoder", "", torch_encoder},
      {"nn.TransformerDecoder", "", torch_decoder},
      {"nn.Transformer", "", torch_transformer},
  };
}

}  // namespace attn::foreign

namespace attn {

std::vector<PartTensor> tensors_of_part(const ScopeKind& part) {
  std::vector<PartTensor> tensors;
  for (const foreign::LonePart& lone : foreign::lone_parts) {
    if (&lone.scope != &part) continue;
    for (const foreign::Renamed& row : lone.tensors) tensors.push_back({row.theirs, *row.ours[0], row.is_transposed});
  }
  return tensors;
}

}  // namespace attn
