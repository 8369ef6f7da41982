#include "parameters/layout.hpp"

#include <algorithm>

#include "parameters/parameters.hpp"

namespace attn {

namespace {

using enum Need;
using enum Presence;

// Rows [i·n/3, (i+1)·n/3), for i = 0, 1, 2.
std::vector<Matrix> thirds_of_rows(const Matrix& tensor) {
  const Shape shape{tensor.shape().rows / 3, tensor.shape().columns};
  std::vector<Matrix> thirds;
  for (std::size_t i = 0; i < 3; ++i) {
    thirds.push_back(Matrix(shape));
    std::ranges::copy(cells(tensor).subspan(i * shape.cells(), shape.cells()), cells(thirds.back()).begin());
  }
  return thirds;
}

std::vector<Matrix> as_it_is(Matrix tensor) {
  std::vector<Matrix> one;
  one.push_back(std::move(tensor));
  return one;
}

// PyTorch stores maps as (out, in).
std::vector<Matrix> turned(Matrix tensor) {
  return as_it_is(transposed(tensor));
}

std::vector<Matrix> unpacked_maps(Matrix tensor) {
  std::vector<Matrix> maps = thirds_of_rows(tensor);
  for (Matrix& map : maps) map = transposed(map);
  return maps;
}

// One row, three vectors side by side.
std::vector<Matrix> unpacked_vectors(Matrix tensor) {
  std::vector<Matrix> vectors = thirds_of_rows(transposed(tensor));
  for (Matrix& vector : vectors) vector = transposed(vector);
  return vectors;
}

constexpr Size one{1};
constexpr Size d_model{1, "d_model"};
constexpr Size d_ff{1, "d_ff"};
constexpr Size packed_d_model{3, "d_model"};
constexpr Size all_d_k{1, "h·d_k"};
constexpr Size all_d_v{1, "h·d_v"};
constexpr Size source_words{1, "source vocabulary"};
constexpr Size target_words{1, "target vocabulary"};

// --- our own names

constexpr TensorRow lone_attention[] = {
    {"w_q", {"w_q"}, as_it_is, d_model, all_d_k},
    {"w_k", {"w_k"}, as_it_is, {1, "input size of the keys"}, all_d_k},
    {"w_v", {"w_v"}, as_it_is, {1, "input size of the values"}, all_d_v},
    {"w_o", {"w_o"}, as_it_is, all_d_v, {1, "size of the output"}, sometimes},
    {"b_q", {"b_q"}, as_it_is, one, all_d_k, sometimes},
    {"b_k", {"b_k"}, as_it_is, one, all_d_k, sometimes},
    {"b_v", {"b_v"}, as_it_is, one, all_d_v, sometimes},
    {"b_o", {"b_o"}, as_it_is, one, {1, "size of the output"}, sometimes},
};

constexpr TensorRow attention[] = {
    {"w_q", {"w_q"}, as_it_is, d_model, all_d_k},        {"w_k", {"w_k"}, as_it_is, d_model, all_d_k},
    {"w_v", {"w_v"}, as_it_is, d_model, all_d_v},        {"w_o", {"w_o"}, as_it_is, all_d_v, d_model},
    {"b_q", {"b_q"}, as_it_is, one, all_d_k, sometimes}, {"b_k", {"b_k"}, as_it_is, one, all_d_k, sometimes},
    {"b_v", {"b_v"}, as_it_is, one, all_d_v, sometimes}, {"b_o", {"b_o"}, as_it_is, one, d_model, sometimes},
};

constexpr TensorRow feed_forward[] = {
    {"w_1", {"w_1"}, as_it_is, d_model, d_ff},
    {"b_1", {"b_1"}, as_it_is, one, d_ff, sometimes},
    {"w_2", {"w_2"}, as_it_is, d_ff, d_model},
    {"b_2", {"b_2"}, as_it_is, one, d_model, sometimes},
};

constexpr TensorRow norm[] = {
    {"gamma", {"gamma"}, as_it_is, one, d_model},
    {"beta", {"beta"}, as_it_is, one, d_model, sometimes},
};

// A model may be without norms in its layers, "norm": "none".
constexpr TensorRow layer_norm[] = {
    {"gamma", {"gamma"}, as_it_is, one, d_model, sometimes},
    {"beta", {"beta"}, as_it_is, one, d_model, sometimes},
};

constexpr TensorRow source_embedding[] = {{"e", {"e"}, as_it_is, source_words, d_model}};
constexpr TensorRow target_embedding[] = {{"e", {"e"}, as_it_is, target_words, d_model}};

constexpr TensorRow source_positions[] = {{"table", {"table"}, as_it_is, {1, "source positions"}, d_model}};
constexpr TensorRow target_positions[] = {{"table", {"table"}, as_it_is, {1, "target positions"}, d_model}};

constexpr TensorRow output[] = {
    {"w", {"w"}, as_it_is, d_model, target_words},
    {"b", {"b"}, as_it_is, one, target_words, sometimes},
};

constexpr Part encoder_layer[] = {
    {"self_attention.", "self_attention.", attention},
    {"norm_1.", "norm_1.", layer_norm},
    {"feed_forward.", "feed_forward.", feed_forward},
    {"norm_2.", "norm_2.", layer_norm},
};

constexpr Part decoder_layer[] = {
    {"self_attention.", "self_attention.", attention},   {"norm_1.", "norm_1.", layer_norm},
    {"cross_attention.", "cross_attention.", attention}, {"norm_2.", "norm_2.", layer_norm},
    {"feed_forward.", "feed_forward.", feed_forward},    {"norm_3.", "norm_3.", layer_norm},
};

constexpr Part lone_attention_part[] = {{"", "", lone_attention}};
constexpr Part norm_part[] = {{"", "", norm}};
constexpr Part source_embedding_part[] = {{"", "", source_embedding}};
constexpr Part target_embedding_part[] = {{"", "", target_embedding}};
constexpr Part source_positions_part[] = {{"", "", source_positions}};
constexpr Part target_positions_part[] = {{"", "", target_positions}};
constexpr Part output_part[] = {{"", "", output}};

constexpr Scope one_attention[] = {{"", "", lone_attention_part, required}};

constexpr Scope model[] = {
    {"encoder.#.", "encoder.#.", encoder_layer, optional},
    {"encoder.norm.", "encoder.norm.", norm_part, optional},
    {"decoder.#.", "decoder.#.", decoder_layer, optional},
    {"decoder.norm.", "decoder.norm.", norm_part, optional},
    {"source_embedding.", "source_embedding.", source_embedding_part, optional},
    {"target_embedding.", "target_embedding.", target_embedding_part, optional},
    {"source_positions.", "source_positions.", source_positions_part, optional},
    {"target_positions.", "target_positions.", target_positions_part, optional},
    {"output.", "output.", output_part, optional},
};

// Its layers have the parts of an encoder's: there is nothing else to look at.
constexpr Scope decoder_only_model[] = {
    {"decoder.#.", "decoder.#.", encoder_layer, required},
    {"decoder.norm.", "decoder.norm.", norm_part, optional},
    {"target_embedding.", "target_embedding.", target_embedding_part, optional},
    {"target_positions.", "target_positions.", target_positions_part, optional},
    {"output.", "output.", output_part, optional},
};

// --- PyTorch's names

constexpr TensorRow torch_attention[] = {
    {"in_proj_weight", {"w_q", "w_k", "w_v"}, unpacked_maps, packed_d_model, d_model, packed},
    {"q_proj_weight", {"w_q"}, turned, d_model, d_model, separate},
    {"k_proj_weight", {"w_k"}, turned, d_model, {1, "kdim"}, separate},
    {"v_proj_weight", {"w_v"}, turned, d_model, {1, "vdim"}, separate},
    {"in_proj_bias", {"b_q", "b_k", "b_v"}, unpacked_vectors, one, packed_d_model, with_biases},
    {"out_proj.weight", {"w_o"}, turned, d_model, d_model},
    {"out_proj.bias", {"b_o"}, as_it_is, one, d_model, with_biases},
    {"bias_k", {}, as_it_is, one, d_model, never},
    {"bias_v", {}, as_it_is, one, d_model, never},
};

constexpr TensorRow torch_feed_forward[] = {
    {"linear1.weight", {"w_1"}, turned, d_ff, d_model},
    {"linear1.bias", {"b_1"}, as_it_is, one, d_ff, with_biases},
    {"linear2.weight", {"w_2"}, turned, d_model, d_ff},
    {"linear2.bias", {"b_2"}, as_it_is, one, d_model, with_biases},
};

constexpr TensorRow torch_norm[] = {
    {"weight", {"gamma"}, as_it_is, one, d_model},
    {"bias", {"beta"}, as_it_is, one, d_model, with_biases},
};

constexpr Part torch_encoder_layer[] = {
    {"self_attn.", "self_attention.", torch_attention},
    {"norm1.", "norm_1.", torch_norm},
    {"", "feed_forward.", torch_feed_forward},
    {"norm2.", "norm_2.", torch_norm},
};

constexpr Part torch_decoder_layer[] = {
    {"self_attn.", "self_attention.", torch_attention},
    {"norm1.", "norm_1.", torch_norm},
    {"multihead_attn.", "cross_attention.", torch_attention},
    {"norm2.", "norm_2.", torch_norm},
    {"", "feed_forward.", torch_feed_forward},
    {"norm3.", "norm_3.", torch_norm},
};

constexpr Part torch_attention_part[] = {{"", "", torch_attention}};
constexpr Part torch_norm_part[] = {{"", "", torch_norm}};

constexpr Scope torch_multihead_attention[] = {{"", "", torch_attention_part, required}};
constexpr Scope torch_one_encoder_layer[] = {{"", "encoder.1.", torch_encoder_layer, required}};
constexpr Scope torch_one_decoder_layer[] = {{"", "decoder.1.", torch_decoder_layer, required}};

constexpr Scope torch_encoder[] = {
    {"layers.#.", "encoder.#.", torch_encoder_layer, required},
    {"norm.", "encoder.norm.", torch_norm_part, optional},
};

constexpr Scope torch_decoder[] = {
    {"layers.#.", "decoder.#.", torch_decoder_layer, required},
    {"norm.", "decoder.norm.", torch_norm_part, optional},
};

constexpr Scope torch_transformer[] = {
    {"encoder.layers.#.", "encoder.#.", torch_encoder_layer, required},
    {"encoder.norm.", "encoder.norm.", torch_norm_part, optional},
    {"decoder.layers.#.", "decoder.#.", torch_decoder_layer, required},
    {"decoder.norm.", "decoder.norm.", torch_norm_part, optional},
};

constexpr Layout table[] = {
    {own_layout, 1, one_attention},
    {own_layout, 1, model},
    {"attn decoder-only", 1, decoder_only_model},
    {"nn.MultiheadAttention", 0, torch_multihead_attention},
    {"nn.TransformerEncoderLayer", 0, torch_one_encoder_layer},
    {"nn.TransformerDecoderLayer", 0, torch_one_decoder_layer},
    {"nn.TransformerEncoder", 0, torch_encoder},
    {"nn.TransformerDecoder", 0, torch_decoder},
    {"nn.Transformer", 0, torch_transformer},
};

}  // namespace

std::span<const Layout> layouts() {
  return table;
}

bool is_parameter_name(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);  // npos + 1 is 0: all of it
  const auto holds_last = [&](const Part& part) {
    return std::ranges::find(part.tensors, last, &TensorRow::theirs) != part.tensors.end();
  };
  return std::ranges::any_of(
      model, [&](const Scope& scope) { return std::ranges::any_of(scope.parts, holds_last); });
}

}  // namespace attn
