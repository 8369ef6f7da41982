#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "data/files/input_report.hpp"
#include "data/files/json.hpp"
#include "data/parameters/config_in_file.hpp"
#include "data/parameters/config_keys.hpp"
#include "data/parameters/parameters.hpp"
#include "data/problem/model_file.hpp"
#include "gguf_written.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

// What becomes of each member of a config.json and of each key of a GGUF: it is read, compared with the tensors, known
// to change no number, or named in a warning.

namespace {

constexpr std::size_t d = 8, inner = 12, vocabulary = 11, table = 16, half = d / 2;

// Tensors by their names in a file, with different numbers.
class Tensors {
 public:
  void add(const std::string& name, std::size_t rows, std::size_t columns) {
    all_.emplace(name, filled({rows, columns}, [&] { return std::sin(number_ += 1.0); }));
  }
  void linear(const std::string& name, std::size_t out, std::size_t in, bool has_bias = true) {
    add(name + ".weight", out, in);
    if (has_bias) add(name + ".bias", 1, out);
  }
  void norm(const std::string& name, bool shifts = true, std::size_t size = d) {
    add(name + ".weight", 1, size);
    if (shifts) add(name + ".bias", 1, size);
  }
  const ParameterSet& all() const { return all_; }

 private:
  double number_ = 0;
  ParameterSet all_;
};

Tensors gpt2(const Json&) {
  Tensors all;
  all.add("transformer.wte.weight", vocabulary, d);
  all.add("transformer.wpe.weight", table, d);
  all.norm("transformer.ln_f");
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    all.norm(layer + "ln_1");
    all.norm(layer + "ln_2");
    for (const auto& [name, in, out] : std::vector<std::tuple<std::string, std::size_t, std::size_t>>{
             {"attn.c_attn", d, 3 * d}, {"attn.c_proj", d, d}, {"mlp.c_fc", d, inner}, {"mlp.c_proj", inner, d}}) {
      all.add(layer + name + ".weight", in, out);
      all.add(layer + name + ".bias", 1, out);
    }
  }
  return all;
}

Tensors gpt_neo(const Json&) {
  Tensors all;
  all.add("transformer.wte.weight", vocabulary, d);
  all.add("transformer.wpe.weight", table, d);
  all.norm("transformer.ln_f");
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    all.norm(layer + "ln_1");
    all.norm(layer + "ln_2");
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) all.linear(layer + "attn.attention." + name, d, d, false);
    all.linear(layer + "attn.attention.out_proj", d, d);
    all.linear(layer + "mlp.c_fc", inner, d);
    all.linear(layer + "mlp.c_proj", d, inner);
  }
  return all;
}

Tensors gpt_neox(const Json&) {
  Tensors all;
  all.add("gpt_neox.embed_in.weight", vocabulary, d);
  all.add("embed_out.weight", vocabulary, d);
  all.norm("gpt_neox.final_layer_norm");
  for (const std::string layer : {"gpt_neox.layers.0.", "gpt_neox.layers.1."}) {
    all.norm(layer + "input_layernorm");
    all.norm(layer + "post_attention_layernorm");
    all.linear(layer + "attention.query_key_value", 3 * d, d);
    all.linear(layer + "attention.dense", d, d);
    all.linear(layer + "mlp.dense_h_to_4h", inner, d);
    all.linear(layer + "mlp.dense_4h_to_h", d, inner);
  }
  return all;
}

// Two heads of four numbers, which share one of keys and values.
Tensors like_llama(const Json& config) {
  const std::string type = config.at("model_type");
  const bool is_gemma = type.starts_with("gemma"), has_two = type == "gemma2" || type == "gemma3_text";
  Tensors all;
  all.add("model.embed_tokens.weight", vocabulary, d);
  all.norm("model.norm", false);
  if (!is_gemma) all.add("lm_head.weight", vocabulary, d);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    if (type != "olmo2") all.norm(layer + "input_layernorm", false);
    all.norm(layer + "post_attention_layernorm", false);
    if (has_two) all.norm(layer + "pre_feedforward_layernorm", false);
    if (has_two || type == "olmo2") all.norm(layer + "post_feedforward_layernorm", false);
    const std::string attention = layer + "self_attn.";
    if (type == "phi3") {
      all.linear(attention + "qkv_proj", d + 2 * half, d, false);
      all.linear(layer + "mlp.gate_up_proj", 2 * inner, d, false);
    } else {
      all.linear(attention + "q_proj", d, d, type == "qwen2");
      all.linear(attention + "k_proj", half, d, type == "qwen2");
      all.linear(attention + "v_proj", half, d, type == "qwen2");
      all.linear(layer + "mlp.gate_proj", inner, d, false);
      all.linear(layer + "mlp.up_proj", inner, d, false);
    }
    if (type == "qwen3" || type == "gemma3_text") {
      all.norm(attention + "q_norm", false, half);
      all.norm(attention + "k_norm", false, half);
    }
    if (type == "olmo2") {
      all.norm(attention + "q_norm", false, d);
      all.norm(attention + "k_norm", false, half);
    }
    all.linear(attention + "o_proj", d, d, false);
    all.linear(layer + "mlp.down_proj", d, inner, false);
  }
  return all;
}

Tensors like_bert(const Json& config) {
  const std::string type = config.at("model_type");
  const bool is_bert = type == "bert";
  const std::string before = is_bert ? "bert." : "roberta.";
  Tensors all;
  all.add(before + "embeddings.word_embeddings.weight", vocabulary, d);
  all.add(before + "embeddings.position_embeddings.weight", table, d);
  all.add(before + "embeddings.token_type_embeddings.weight", is_bert ? 2 : 1, d);
  all.norm(before + "embeddings.LayerNorm");
  for (const char* number : {"0", "1"}) {
    const std::string layer = before + "encoder.layer." + number + ".";
    for (const char* name :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"})
      all.linear(layer + name, d, d);
    all.norm(layer + "attention.output.LayerNorm");
    all.linear(layer + "intermediate.dense", inner, d);
    all.linear(layer + "output.dense", d, inner);
    all.norm(layer + "output.LayerNorm");
  }
  const std::string output = is_bert ? "cls.predictions." : "lm_head.";
  all.linear(output + (is_bert ? "transform.dense" : "dense"), d, d);
  all.norm(output + (is_bert ? "transform.LayerNorm" : "layer_norm"));
  all.add(output + "bias", 1, vocabulary);
  return all;
}

Tensors distilbert(const Json&) {
  Tensors all;
  all.add("distilbert.embeddings.word_embeddings.weight", vocabulary, d);
  all.add("distilbert.embeddings.position_embeddings.weight", table, d);
  all.norm("distilbert.embeddings.LayerNorm");
  for (const std::string layer : {"distilbert.transformer.layer.0.", "distilbert.transformer.layer.1."}) {
    for (const char* name : {"q_lin", "k_lin", "v_lin", "out_lin"}) all.linear(layer + "attention." + name, d, d);
    all.norm(layer + "sa_layer_norm");
    all.linear(layer + "ffn.lin1", inner, d);
    all.linear(layer + "ffn.lin2", d, inner);
    all.norm(layer + "output_layer_norm");
  }
  all.linear("vocab_transform", d, d);
  all.norm("vocab_layer_norm");
  all.add("vocab_projector.bias", 1, vocabulary);
  return all;
}

Tensors t5(const Json&) {
  Tensors all;
  all.add("shared.weight", vocabulary, d);
  for (const std::string side : {"encoder", "decoder"}) {
    const bool crosses = side == "decoder";
    for (const std::string number : {"0", "1"}) {
      const std::string block = side + ".block." + number + ".layer.";
      const auto attention = [&](const std::string& name) {
        for (const char* map : {"q", "k", "v", "o"}) all.add(block + name + "." + map + ".weight", d, d);
      };
      attention("0.SelfAttention");
      if (number == "0") all.add(block + "0.SelfAttention.relative_attention_bias.weight", 8, 2);
      all.norm(block + "0.layer_norm", false);
      if (crosses) attention("1.EncDecAttention");
      if (crosses) all.norm(block + "1.layer_norm", false);
      const std::string last = block + (crosses ? "2." : "1.");
      all.add(last + "DenseReluDense.wi.weight", inner, d);
      all.add(last + "DenseReluDense.wo.weight", d, inner);
      all.norm(last + "layer_norm", false);
    }
    all.norm(side + ".final_layer_norm", false);
  }
  return all;
}

Tensors bart(const Json&) {
  Tensors all;
  all.add("model.shared.weight", vocabulary, d);
  for (const std::string side : {"encoder", "decoder"}) {
    all.norm("model." + side + ".layernorm_embedding");
    all.add("model." + side + ".embed_positions.weight", table, d);
    for (const std::string number : {"0", "1"}) {
      const std::string layer = "model." + side + ".layers." + number + ".";
      for (const std::string attention : {"self_attn", "encoder_attn"}) {
        if (attention == "encoder_attn" && side == "encoder") continue;
        for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"})
          all.linear(layer + attention + "." + name, d, d);
        all.norm(layer + attention + "_layer_norm");
      }
      all.linear(layer + "fc1", inner, d);
      all.linear(layer + "fc2", d, inner);
      all.norm(layer + "final_layer_norm");
    }
  }
  return all;
}

Tensors vit(const Json&) {
  Tensors all;
  all.add("vit.embeddings.cls_token", 1, d);
  all.add("vit.embeddings.position_embeddings", 10, d);
  all.linear("vit.embeddings.patch_embeddings.projection", d, 12);
  for (const std::string layer : {"vit.encoder.layer.0.", "vit.encoder.layer.1."}) {
    for (const char* name : {"attention.attention.query", "attention.attention.key", "attention.attention.value",
                             "attention.output.dense"})
      all.linear(layer + name, d, d);
    all.norm(layer + "layernorm_before");
    all.norm(layer + "layernorm_after");
    all.linear(layer + "intermediate.dense", inner, d);
    all.linear(layer + "output.dense", d, inner);
  }
  all.norm("vit.layernorm");
  all.linear("classifier", 5, d);
  return all;
}

// Configs with the members that those of such models have, and sizes as those of the tensors.
struct Typical {
  const char* config;
  Tensors (*tensors)(const Json& config);
};
const Typical typical[] = {
    {R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu_new",
"attn_pdrop": 0.1, "bos_token_id": 10, "embd_pdrop": 0.1, "eos_token_id": 10, "initializer_range": 0.02,
"layer_norm_epsilon": 1e-5, "n_ctx": 16, "n_embd": 8, "n_head": 2, "n_inner": 12, "n_layer": 2, "n_positions": 16,
"resid_pdrop": 0.1, "reorder_and_upcast_attn": false, "scale_attn_by_inverse_layer_idx": false,
"scale_attn_weights": true, "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
"summary_type": "cls_index", "summary_use_proj": true, "task_specific_params": {"text-generation": {"do_sample": true,
"max_length": 50}}, "torch_dtype": "float32", "transformers_version": "4.40.0", "use_cache": true,
"_num_labels": 1, "vocab_size": 11})",
     gpt2},
    {R"({"model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "activation_function": "gelu_new",
"attention_dropout": 0, "attention_layers": ["global", "local"], "attention_types": [[["global", "local"], 1]],
"bos_token_id": 10, "classifier_dropout": 0.1, "embed_dropout": 0, "eos_token_id": 10, "gradient_checkpointing": false,
"hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12, "layer_norm_epsilon": 1e-5,
"max_position_embeddings": 16, "num_heads": 2, "num_layers": 2, "resid_dropout": 0, "summary_activation": null,
"summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_type": "cls_index", "summary_use_proj": true,
"tokenizer_class": "GPT2Tokenizer", "transformers_version": "4.28.1", "use_cache": true, "vocab_size": 11,
"window_size": 256})",
     gpt_neo},
    {R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "attention_bias": true,
"attention_dropout": 0.0, "bos_token_id": 0, "classifier_dropout": 0.1, "eos_token_id": 0, "hidden_act": "gelu",
"hidden_dropout": 0.0, "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12, "layer_norm_eps": 1e-5,
"max_position_embeddings": 2048, "num_attention_heads": 2, "num_hidden_layers": 2, "rope_scaling": null,
"rotary_emb_base": 10000, "rotary_pct": 0.5, "tie_word_embeddings": false, "torch_dtype": "float16",
"transformers_version": "4.24.0", "use_cache": true, "use_parallel_residual": true, "vocab_size": 11})",
     gpt_neox},
    {R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
"bos_token_id": 1, "eos_token_id": [2, 3], "head_dim": 4, "hidden_act": "silu", "hidden_size": 8,
"initializer_range": 0.02, "intermediate_size": 12, "is_llama_config": true, "max_position_embeddings": 131072,
"mlp_bias": false, "num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 1, "pad_token_id": 2,
"pretraining_tp": 1, "rms_norm_eps": 1e-5, "rope_interleaved": false, "rope_scaling": {"factor": 32.0,
"high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
"rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
"transformers.js_config": {"dtype": "q4"}, "transformers_version": "4.45.0", "use_cache": true, "vocab_size": 11})",
     like_llama},
    {R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
"eos_token_id": 2, "head_dim": 4, "hidden_act": "silu", "hidden_size": 8, "initializer_range": 0.02,
"intermediate_size": 12, "max_position_embeddings": 32768, "num_attention_heads": 2, "num_hidden_layers": 2,
"num_key_value_heads": 1, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "sliding_window": 4096,
"tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.34.0", "use_cache": true,
"vocab_size": 11})",
     like_llama},
    {R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
"eos_token_id": 2, "hidden_act": "silu", "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12,
"max_position_embeddings": 32768, "max_window_layers": 21, "num_attention_heads": 2, "num_hidden_layers": 2,
"num_key_value_heads": 1, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "sliding_window": 32768,
"tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.43.1", "use_cache": true,
"use_mrope": false, "use_sliding_window": false, "vocab_size": 11})",
     like_llama},
    {R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2, "head_dim": 4, "hidden_act": "silu", "hidden_size": 8,
"initializer_range": 0.02, "intermediate_size": 12, "max_position_embeddings": 40960, "max_window_layers": 28,
"num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 1, "rms_norm_eps": 1e-6, "rope_scaling": null,
"rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
"transformers_version": "4.51.0", "use_cache": true, "use_sliding_window": false, "vocab_size": 11})",
     like_llama},
    {R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
"bos_token_id": 2, "eos_token_id": 1, "head_dim": 4, "hidden_act": "gelu", "hidden_activation": null, "hidden_size": 8,
"initializer_range": 0.02, "intermediate_size": 12, "max_position_embeddings": 8192, "num_attention_heads": 2,
"num_hidden_layers": 2, "num_key_value_heads": 1, "pad_token_id": 0, "rms_norm_eps": 1e-6, "rope_scaling": null,
"rope_theta": 10000.0, "torch_dtype": "bfloat16", "transformers_version": "4.38.0", "use_cache": true,
"vocab_size": 11})",
     like_llama},
    {R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "attn_logit_softcapping": 50.0, "bos_token_id": 2, "cache_implementation": "hybrid",
"eos_token_id": 1, "final_logit_softcapping": 30.0, "head_dim": 4, "hidden_act": "gelu_pytorch_tanh",
"hidden_activation": "gelu_pytorch_tanh", "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12,
"max_position_embeddings": 8192, "num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 1,
"pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "sliding_window": 4096,
"sliding_window_size": 4096, "torch_dtype": "float32", "transformers_version": "4.42.4", "use_cache": true,
"vocab_size": 11, "_attn_implementation": "eager"})",
     like_llama},
    {R"({"model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "attention_bias": false,
"attention_dropout": 0.0, "attn_logit_softcapping": null, "bos_token_id": 2, "cache_implementation": "hybrid",
"eos_token_id": [1, 10], "final_logit_softcapping": null, "head_dim": 4, "hidden_activation": "gelu_pytorch_tanh",
"hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12, "layer_types": ["sliding_attention",
"full_attention"], "max_position_embeddings": 32768, "num_attention_heads": 2, "num_hidden_layers": 2,
"num_key_value_heads": 1, "pad_token_id": 0, "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-6,
"rope_local_base_freq": 10000, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": 512,
"sliding_window_pattern": 6, "_sliding_window_pattern": 6, "torch_dtype": "bfloat16",
"transformers_version": "4.50.0", "use_bidirectional_attention": false, "use_cache": true, "vocab_size": 11})",
     like_llama},
    {R"({"model_type": "phi3", "_name_or_path": "Phi-3-mini", "architectures": ["Phi3ForCausalLM"],
"attention_bias": false, "attention_dropout": 0.0, "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"},
"bos_token_id": 1, "embd_pdrop": 0.0, "eos_token_id": 10, "full_attn_mod": 1, "hidden_act": "silu", "hidden_size": 8,
"initializer_range": 0.02, "intermediate_size": 12, "interpolate_factor": 1, "lm_head_bias": false,
"max_position_embeddings": 4096, "mlp_bias": false, "num_attention_heads": 2, "num_hidden_layers": 2,
"num_key_value_heads": 1, "original_max_position_embeddings": 4096, "pad_token_id": 10, "partial_rotary_factor": 1.0,
"resid_pdrop": 0.0, "rms_norm_eps": 1e-5, "rope_scaling": null, "rope_theta": 10000.0, "sliding_window": 2047,
"tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.40.2", "use_cache": true,
"vocab_size": 11})",
     like_llama},
    {R"({"model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
"eos_token_id": 10, "hidden_act": "silu", "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12,
"max_position_embeddings": 4096, "num_attention_heads": 2, "num_hidden_layers": 2, "num_key_value_heads": 1,
"pad_token_id": 10, "rms_norm_eps": 1e-6, "rope_scaling": null, "rope_theta": 500000, "tie_word_embeddings": false,
"torch_dtype": "float32", "transformers_version": "4.47.0", "use_cache": true, "vocab_size": 11})",
     like_llama},
    {R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "attention_probs_dropout_prob": 0.1,
"classifier_dropout": null, "directionality": "bidi", "gradient_checkpointing": false, "hidden_act": "gelu",
"hidden_dropout_prob": 0.1, "hidden_size": 8, "initializer_range": 0.02, "intermediate_size": 12,
"layer_norm_eps": 1e-12, "max_position_embeddings": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
"pad_token_id": 0, "pooler_fc_size": 768, "pooler_num_attention_heads": 12, "pooler_num_fc_layers": 3,
"pooler_size_per_head": 128, "pooler_type": "first_token_transform", "position_embedding_type": "absolute",
"transformers_version": "4.6.0", "type_vocab_size": 2, "use_cache": true, "vocab_size": 11})",
     like_bert},
    {R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "attention_probs_dropout_prob": 0.1,
"bos_token_id": 0, "eos_token_id": 2, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 8,
"initializer_range": 0.02, "intermediate_size": 12, "layer_norm_eps": 1e-5, "max_position_embeddings": 16,
"num_attention_heads": 2, "num_hidden_layers": 2, "output_past": true, "pad_token_id": 1, "type_vocab_size": 1,
"vocab_size": 11})",
     like_bert},
    {R"({"model_type": "distilbert", "activation": "gelu", "architectures": ["DistilBertForMaskedLM"],
"attention_dropout": 0.1, "dim": 8, "dropout": 0.1, "hidden_dim": 12, "initializer_range": 0.02,
"max_position_embeddings": 16, "n_heads": 2, "n_layers": 2, "pad_token_id": 0, "qa_dropout": 0.1,
"seq_classif_dropout": 0.2, "sinusoidal_pos_embds": false, "tie_weights_": true, "transformers_version": "4.10.0",
"vocab_size": 11})",
     distilbert},
    {R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "classifier_dropout": 0.0, "d_ff": 12,
"d_kv": 4, "d_model": 8, "decoder_start_token_id": 0, "dense_act_fn": "relu", "dropout_rate": 0.1, "eos_token_id": 1,
"feed_forward_proj": "relu", "initializer_factor": 1.0, "is_encoder_decoder": true, "is_gated_act": false,
"layer_norm_epsilon": 1e-6, "n_positions": 512, "num_decoder_layers": 2, "num_heads": 2, "num_layers": 2,
"output_past": true, "pad_token_id": 0, "relative_attention_max_distance": 128, "relative_attention_num_buckets": 8,
"task_specific_params": {"summarization": {"num_beams": 4}}, "use_cache": true, "vocab_size": 11})",
     t5},
    {R"({"model_type": "bart", "_num_labels": 3, "activation_dropout": 0.1, "activation_function": "gelu",
"add_bias_logits": false, "add_final_layer_norm": false, "architectures": ["BartForConditionalGeneration"],
"attention_dropout": 0.1, "bos_token_id": 0, "classif_dropout": 0.1, "classifier_dropout": 0.0, "d_model": 8,
"decoder_attention_heads": 2, "decoder_ffn_dim": 12, "decoder_layerdrop": 0.0, "decoder_layers": 2,
"decoder_start_token_id": 2, "dropout": 0.1, "early_stopping": true, "encoder_attention_heads": 2,
"encoder_ffn_dim": 12, "encoder_layerdrop": 0.0, "encoder_layers": 2, "eos_token_id": 2, "extra_pos_embeddings": 2,
"force_bos_token_to_be_generated": true, "forced_bos_token_id": 0, "forced_eos_token_id": 2,
"gradient_checkpointing": false, "id2label": {"0": "LABEL_0"}, "init_std": 0.02, "is_encoder_decoder": true,
"label2id": {"LABEL_0": 0}, "length_penalty": 2.0, "max_length": 142, "max_position_embeddings": 14,
"min_length": 56, "no_repeat_ngram_size": 3, "normalize_before": false, "normalize_embedding": true, "num_beams": 4,
"num_hidden_layers": 2, "output_past": true, "pad_token_id": 1, "prefix": " ", "scale_embedding": false,
"static_position_embeddings": false, "task_specific_params": {}, "torch_dtype": "float32", "use_cache": true,
"vocab_size": 11})",
     bart},
    {R"({"model_type": "vit", "architectures": ["ViTForImageClassification"], "attention_probs_dropout_prob": 0.0,
"encoder_stride": 16, "hidden_act": "gelu", "hidden_dropout_prob": 0.0, "hidden_size": 8, "id2label": {"0": "cat"},
"image_size": 6, "initializer_range": 0.02, "intermediate_size": 12, "label2id": {"cat": 0}, "layer_norm_eps": 1e-12,
"num_attention_heads": 2, "num_channels": 3, "num_hidden_layers": 2, "patch_size": 2, "pooler_act": "tanh",
"pooler_output_size": 768, "qkv_bias": true, "transformers_version": "4.13.0"})",
     vit},
};

// A folder of such a model.
std::string written(const TemporaryFolder& folder, const Json& config, const ParameterSet& tensors) {
  folder.write("config.json", config.dump());
  folder.write("model.safetensors", written_by([&](Sink& sink) { write_safetensors(tensors, sink); }));
  return folder.path("");
}

std::vector<std::string> doubts_about(const Json& config, const ParameterSet& tensors) {
  const TemporaryFolder folder;
  const InputReports inputs;
  read_model(written(folder, config, tensors));
  return doubts_in(inputs.all());
}

std::string refused_model(const Json& config, const ParameterSet& tensors) {
  const TemporaryFolder folder;
  return refusal([&] { read_model(written(folder, config, tensors)); });
}

Json config_of(const Typical& one) { return Json::parse(one.config); }

// The one of a family.
const Typical& typical_of(std::string_view type) {
  return *std::ranges::find_if(typical, [&](const Typical& one) { return config_of(one)["model_type"] == type; });
}

std::string refused_change(std::string_view type, const Json& change) {
  const Typical& one = typical_of(type);
  Json config = config_of(one);
  config.update(change);
  return refused_model(config, one.tensors(config).all());
}

}  // namespace

TEST_SUITE("config keys") {
  TEST_CASE("a config as each family has it is read without a warning") {
    std::set<std::string> types;
    for (const Typical& one : typical) {
      const Json config = config_of(one);
      CAPTURE(config["model_type"]);
      types.insert(config["model_type"]);
      CHECK(doubts_about(config, one.tensors(config).all()) == std::vector<std::string>());
    }
    // mT5 is T5, and the other two are RoBERTa, under another name.
    const std::set<std::string_view> same = {"mt5", "xlm-roberta", "camembert"};
    for (const ModelFamily& family : model_families()) {
      if (family.unread.empty() && !same.contains(family.type)) CHECK(types.contains(std::string(family.type)));
    }
  }

  TEST_CASE("a size that is wrong by one is refused, for each member that says one and each family") {
    for (const Typical& one : typical) {
      const Json config = config_of(one);
      const ParameterSet tensors = one.tensors(config).all();
      const ModelFamily& family = *read_config(config.dump(), "config.json").family;
      std::size_t sizes = 0;
      for (const auto& [key, value] : config.items()) {
        const bool is_of_image = key == "patch_size" || key == "num_channels";
        if (!size_said_by(key, family) && !is_of_image) continue;
        ++sizes;
        Json changed = config;
        changed[key] = value.get<std::size_t>() + 1;
        const std::string sentence = refused_model(changed, tensors);
        CHECK_MESSAGE(!sentence.empty(), changed.dump());
      }
      CHECK(sizes >= 5);
    }
    CHECK(has(refused_change("vit", {{"image_size", 8}}), "the config says 17 positions, and the tensors have 10"));
  }

  TEST_CASE("a member that no row names is named in a warning, and its model is read") {
    for (const Typical& one : typical) {
      Json config = config_of(one);
      const ParameterSet tensors = one.tensors(config).all();
      config["residual_multiplier"] = 0.22;
      config["nothing_is_said"] = nullptr;
      const std::vector<std::string> doubts = doubts_about(config, tensors);
      REQUIRE(doubts.size() == 1);
      CHECK(has(doubts.front(),
                "the config says what is not understood and is ignored: 'residual_multiplier': if it "
                "changes how the model computes, the numbers here are not those of the model"));
    }
    const Typical& llama = typical_of("llama");
    Json config = config_of(llama);
    config["rope_scaling"]["mscale"] = 2.0;
    config["architectures"] = {"MyOwnModelOfWords"};
    const std::vector<std::string> doubts = doubts_about(config, llama.tensors(config).all());
    REQUIRE(doubts.size() == 1);
    CHECK(has(doubts.front(), "'rope_scaling.mscale' and 'architectures'"));
  }

  TEST_CASE("no member is a row twice, or both read and without effect") {
    for (const ModelFamily& family : model_families()) {
      CAPTURE(family.type);
      for (const ConfigField& row : family.fields) {
        CAPTURE(row.key);
        CHECK(effect_of(row.key, family) == KeyEffect::used);
        CHECK(std::ranges::find(family.without_effect, row.key) == family.without_effect.end());
      }
      for (const std::string_view key : family.without_effect) {
        CAPTURE(key);
        CHECK(effect_of(key, family) == KeyEffect::none);
      }
      CHECK(effect_of("no_such_key", family) == KeyEffect::unknown);
      CHECK(effect_of("", family) == KeyEffect::unknown);
    }
  }

  TEST_CASE("biases that are said and are not there, or the other way round, are those of another model") {
    CHECK(has(refused_change("llama", {{"attention_bias", true}}),
              "by the config there are biases of queries, and in layer 1 the tensors have none"));
    CHECK(
        has(refused_change("llama", {{"mlp_bias", true}}), "by the config there are biases of the feed-forward layer"));
    CHECK(has(refused_change("gpt_neox", {{"attention_bias", false}}),
              "by the config there are no biases of queries, and in layer 1 the tensors have some"));
    CHECK(has(refused_change("vit", {{"qkv_bias", false}}), "by the config there are no biases of queries"));
    const Typical& llama = typical_of("llama");
    Json config = config_of(typical_of("qwen2"));
    CHECK(
        has(refused_model(config, llama.tensors(config_of(llama)).all()), "by the config there are biases of queries"));
  }

  TEST_CASE("an output layer beside a tied one is told where its numbers are others") {
    const Typical& llama = typical_of("llama");
    Json config = config_of(llama);
    config["tie_word_embeddings"] = true;
    ParameterSet tensors = llama.tensors(config).all();
    const std::vector<std::string> doubts = doubts_about(config, tensors);
    REQUIRE(doubts.size() == 1);
    CHECK(has(
        doubts.front(),
        "the output layer is the embedding, and the matrix of an output layer that the file has beside it, with "
        "other numbers, is left out: if that matrix is meant, set \"tie_word_embeddings\" to false in config.json"));
    tensors.insert_or_assign("lm_head.weight", tensors.at("model.embed_tokens.weight"));
    CHECK(doubts_about(config, tensors).empty());
  }

  TEST_CASE("a class with another output, a value of another kind, and two sizes of one thing are refused") {
    CHECK(has(refused_change("llama", {{"architectures", {"LlamaForSequenceClassification"}}}),
              "\"architectures\" names 'LlamaForSequenceClassification', whose output is the classes of a text"));
    CHECK(has(refused_change("bert", {{"architectures", {"BertForImageClassification"}}}), "the classes of an image"));
    CHECK(has(refused_change("llama", {{"architectures", "LlamaForCausalLM"}}), "must be a list of strings"));
    CHECK(has(refused_change("llama", {{"hidden_size", "8"}}), "\"hidden_size\" must be a whole number"));
    CHECK(has(refused_change("llama", {{"hidden_size", 8.0}}), "\"hidden_size\" must be a whole number"));
    CHECK(has(refused_change("llama", {{"tie_word_embeddings", "no"}}), "must be true or false"));
    CHECK(has(refused_change("llama", {{"rms_norm_eps", {1}}}), "\"rms_norm_eps\""));
    CHECK(has(refused_change("qwen2", {{"use_sliding_window", "no"}}), "\"use_sliding_window\" must be true or false"));
    CHECK(has(refused_change("llama", {{"pruned_heads", {{"0", {1}}}}}), "heads that are left out"));
    CHECK(has(refused_change("llama", {{"n_embd", 9}}), "\"n_embd\" is 9, and 'hidden_size' is 8: they must be equal"));
  }

  TEST_CASE("--say-input lists what is read, what changes no number, and what is not understood") {
    const TemporaryFolder folder;
    Json config = config_of(typical_of("llama"));
    config["logit_scale"] = 2.0;
    const std::string path = written(folder, config, like_llama(config).all());
    const ProcessResult page =
        run_attn({"decoder", "--model", path, "--text", "1 2", "--only", "logits", "--format", "csv", "--say-input"});
    CHECK(page.code == 0);
    CHECK(has(page.errors, "keys: read from the config: 'model_type', 'architectures', "));
    CHECK(has(page.errors, "keys: these change no number: 'attention_dropout', "));
    CHECK(
        has(page.errors, "keys: the config says what is not understood and is ignored: 'logit_scale'; if it changes"));
    CHECK(has(page.errors, "warning: "));
  }
}

// --- GGUF

namespace {

// A GPT-2 with what such a file says of it besides.
GgufWriter described_gpt2() {
  GgufWriter file = gguf_of_gpt2();
  file.say_text("general.name", "tiny");
  file.say_number("general.file_type", 0);
  file.say_number("gpt2.block_count", 1);
  file.say_number("gpt2.context_length", 4);
  file.say_number("gpt2.embedding_length", 2);
  file.say_number("gpt2.feed_forward_length", 8);
  file.say_number("gpt2.vocab_size", 3);
  return file;
}

// The tensors of a Llama: two heads of two numbers.
GgufWriter described_llama(const std::string& architecture = "llama") {
  GgufWriter file;
  file.say_text("general.architecture", architecture);
  file.say_number(architecture + ".attention.head_count", 2);
  file.say_number(architecture + ".attention.head_count_kv", 2);
  file.say_number(architecture + ".block_count", 1);
  file.say_number(architecture + ".context_length", 64);
  file.say_number(architecture + ".embedding_length", 4);
  file.say_number(architecture + ".feed_forward_length", 6);
  file.say(architecture + ".attention.layer_norm_rms_epsilon", 6, float_bytes(1e-5F));
  const auto add = [&](std::string_view name, std::uint64_t rows, std::uint64_t columns) {
    std::string bytes;
    for (std::uint64_t i = 0; i < rows * columns; ++i) bytes += float_bytes(std::sin(static_cast<float>(i + rows)));
    file.add(name, {columns, rows}, 0, bytes);
  };
  add("token_embd.weight", 5, 4);
  add("output_norm.weight", 1, 4);
  for (const char* norm : {"blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"}) add(norm, 1, 4);
  for (const char* map : {"q", "k", "v", "output"}) add(fmt::format("blk.0.attn_{}.weight", map), 4, 4);
  add("blk.0.ffn_gate.weight", 6, 4);
  add("blk.0.ffn_up.weight", 6, 4);
  add("blk.0.ffn_down.weight", 4, 6);
  return file;
}

std::string refused_gguf(const GgufWriter& file) {
  const TemporaryFolder folder;
  return refusal([&] { read_model(folder.write("x.gguf", file.bytes())); });
}

// Of a file in which something more is said.
std::string refused_llama(const std::function<void(GgufWriter& file)>& say) {
  GgufWriter file = described_llama();
  say(file);
  return refused_gguf(file);
}

std::vector<std::string> doubts_about_gguf(const GgufWriter& file) {
  const TemporaryFolder folder;
  const InputReports inputs;
  read_model(folder.write("x.gguf", file.bytes()));
  return doubts_in(inputs.all());
}

}  // namespace

TEST_SUITE("keys of GGUF") {
  TEST_CASE("what a file says as others do is read without a warning, and other keys are named in one") {
    CHECK(doubts_about_gguf(described_gpt2()).empty());
    GgufWriter file = described_llama();
    CHECK(doubts_about_gguf(file).empty());
    file.say_number("llama.rope.dimension_count", 2);
    CHECK(doubts_about_gguf(file).empty());
    for (const char* key : {"attention.clamp_kqv", "logit_scale", "attention.scale"})
      file.say(fmt::format("llama.{}", key), 6, float_bytes(2));
    file.say_number("llama.attention.sliding_window", 2);
    file.say_number("qwen2.block_count", 2);
    const std::vector<std::string> doubts = doubts_about_gguf(file);
    REQUIRE(doubts.size() == 1);
    CHECK(has(doubts.front(),
              "'llama.attention.clamp_kqv', 'llama.attention.scale', 'llama.attention.sliding_window', "
              "'llama.logit_scale' and 'qwen2.block_count'"));
  }

  TEST_CASE("what belongs to the tokenizer of a file is not said to change no number") {
    GgufWriter file = described_llama();
    file.say_number("tokenizer.ggml.padding_token_id", 0);
    const TemporaryFolder folder;
    const InputReports inputs;
    read_model(folder.write("x.gguf", file.bytes()));
    std::string all;
    for (const InputReport& input : inputs.all()) {
      for (const Assumption& one : input.assumed) all += one.sentence + "\n";
    }
    CHECK(has(all, "these belong to the tokenizer: 'tokenizer.ggml.padding_token_id'"));
  }

  TEST_CASE("a file as llama.cpp writes it for each family has no key that is not understood") {
    struct Written {
      std::string_view architecture;
      std::vector<std::string_view> keys = {};  // beside those of all
    };
    const std::vector<std::string_view> of_heads = {"attention.key_length", "attention.value_length"};
    const Written all[] = {
        {"gpt2"},
        {"gptneox", {"rope.dimension_count"}},
        {"llama", {"rope.dimension_count", "vocab_size", "attention.key_length", "attention.value_length"}},
        {"qwen2"},
        {"qwen3", of_heads},
        {"gemma", of_heads},
        {"gemma2", {"attention.key_length", "attention.value_length", "attention.sliding_window"}},
        {"gemma3", {"attention.key_length", "attention.value_length", "attention.sliding_window"}},
        {"phi3", {"rope.dimension_count", "attention.sliding_window", "rope.scaling.original_context_length"}},
        {"olmo2"},
    };
    for (const Written& written : all) {
      const std::string_view architecture = written.architecture;
      GgufWriter file;
      file.say_text("general.architecture", architecture);
      file.say_text("general.name", "of a family");
      file.say_text("general.license", "mit");
      file.say_number("general.quantization_version", 2);
      const auto name = [&](std::string_view key) { return fmt::format("{}.{}", architecture, key); };
      for (const char* key : {"context_length", "embedding_length", "feed_forward_length"})
        file.say_number(name(key), 16);
      for (const char* key : {"block_count", "attention.head_count"}) file.say_number(name(key), 2);
      const bool has_shifts = architecture.starts_with("gpt");
      file.say(name(has_shifts ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"), 6,
               float_bytes(1e-5F));
      if (architecture == "gptneox") file.say_flag(name("use_parallel_residual"), true);
      if (!has_shifts) {
        file.say_number(name("attention.head_count_kv"), 1);
        file.say(name("rope.freq_base"), 6, float_bytes(1e6F));
      }
      for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
        if (architecture == "gemma2") file.say(name(cap), 6, float_bytes(30));
      }
      for (const std::string_view key : written.keys) file.say_number(name(key), 8);
      file.say_text("tokenizer.ggml.model", "gpt2");
      file.say_number("tokenizer.ggml.eos_token_id", 1);
      file.say_text("tokenizer.chat_template", "");
      file.say_text("quantize.imatrix.file", "x");
      file.add("token_embd.weight", {16, 1}, 0, std::string(64, '\0'));
      CAPTURE(architecture);
      const std::string bytes = file.bytes();
      CHECK(config_from_gguf(bytes, "x.gguf").keys.unknown == std::vector<std::string>());
    }
  }

  TEST_CASE("one of several files of a model is refused") {
    CHECK(has(refused_llama([](GgufWriter& file) { file.say("split.count", 2, little_bytes(3, 2)); }),
              "x.gguf is one of 3 files of a model: join them into one"));
  }

  TEST_CASE("sizes that contradict the tensors, or are none, are refused by the name of their key") {
    for (const char* key : {"attention.head_count", "attention.head_count_kv", "block_count", "embedding_length",
                            "feed_forward_length"}) {
      CAPTURE(key);
      GgufWriter file = described_llama();
      const std::string name = GgufWriter::text(fmt::format("llama.{}", key));
      ++file.values[file.values.find(name) + name.size() + 4];
      CHECK(refused_gguf(file) != "");
    }
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_number("llama.vocab_size", 6); }),
              "the config says 6 words, and the tensors have 5"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_text("llama.vocab_size", "5"); }),
              "x.gguf: llama.vocab_size must be a whole number"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_whole("llama.attention.key_length", {2}); }),
              "llama.attention.key_length differs from layer to layer"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_number("llama.attention.value_length", 4); }),
              "keys have 2 numbers and values 4"));
    GgufWriter positions = gguf_of_gpt2();
    positions.say_number("gpt2.context_length", 5);
    CHECK(has(refused_gguf(positions), "the config says 5 positions, and the tensors have 4"));
  }

  TEST_CASE("the tensors of another family are refused by what they lack") {
    const std::pair<std::string, std::string> families[] = {
        {"gpt2", "GPT-2"}, {"bert", "BERT"}, {"roberta", "RoBERTa"}};
    for (const std::pair<std::string, std::string>& one : families) {
      CHECK(refused_gguf(described_llama(one.first))
                .ends_with("x.gguf: the positions of " + one.second +
                           " are learned, and the tensors have no table of them: give the files of one model"));
    }
    CHECK(
        has(refused_gguf(described_llama("gemma2")),
            "x.gguf has no 'decoder.1.post_norm_1.gamma' (1×4), which the norm \"before-and-after\" needs: give a file "
            "that has it (only the norm \"none\" needs no such parameters)"));
  }

  TEST_CASE("how many numbers of a head are turned, and scaled positions, count by both names") {
    for (const std::uint32_t rotated : {1U, 3U, 0U, 0x80000000U})
      CHECK(refused_llama([&](GgufWriter& file) { file.say_number("llama.rope.dimension_count", rotated); }) != "");
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_text("llama.rope.dimension_count", "2"); }),
              "llama.rope.dimension_count must be a whole number"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say("llama.rope.dimension_count", 6, float_bytes(NAN)); }),
              "llama.rope.dimension_count must be a whole number"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say("llama.rope.scale_linear", 6, float_bytes(NAN)); }),
              "llama.rope.scale_linear must be a number, 0 or more"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say("llama.rope.freq_base", 6, float_bytes(NAN)); }),
              "llama.rope.freq_base"));
    CHECK(has(refused_llama([](GgufWriter& file) { file.say_text("llama.rope.scaling.type", "yarn"); }), "'yarn'"));
    for (const char* key : {"llama.rope.scale_linear", "llama.rope.scaling.factor"}) {
      GgufWriter file = described_llama();
      file.say(key, 6, float_bytes(4));
      const TemporaryFolder folder;
      CHECK(read_model(folder.write("x.gguf", file.bytes())).model.recipe.scaling.factor == 4.0);
    }
  }

  TEST_CASE("tensors that overlap or begin off the alignment are refused") {
    const std::string name = GgufWriter::text("blk.0.attn_k.weight");
    const auto with_offset = [&](std::uint64_t offset) {
      GgufWriter file = described_llama();
      const std::size_t at = file.infos.find(name) + name.size() + 4 + 16 + 4;
      file.infos.replace(at, 8, little_bytes(offset, 8));
      return refused_gguf(file);
    };
    CHECK(has(with_offset(4),
              "the tensor 'blk.0.attn_k.weight' begins at byte 4, which is no multiple of the alignment"));
    CHECK(has(with_offset(0), "overlaps"));
    CHECK(has(with_offset(32), "overlaps"));
  }

  TEST_CASE("scores that are no numbers, and ids of tokens that are not there, are refused") {
    const auto with_words = [](const std::vector<float>& scores, std::uint32_t unknown) {
      GgufWriter file = described_llama();
      file.say_text("tokenizer.ggml.model", "llama");
      file.say_texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a", "b"});
      file.say_reals("tokenizer.ggml.scores", scores);
      file.say_whole("tokenizer.ggml.token_type", {2, 3, 3, 1, 1});
      file.say_number("tokenizer.ggml.unknown_token_id", unknown);
      return refused_gguf(file);
    };
    CHECK(has(with_words({0, 0, 0, NAN, 0}, 0), "tokenizer.ggml.scores must have finite numbers"));
    CHECK(has(with_words({0, 0, 0, 0, 0}, 77), "tokenizer.ggml.unknown_token_id must be the id of a token"));
  }
}
