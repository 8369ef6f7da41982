#include "data/parameters/config_keys.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

// --- sizes

constexpr ConfigSize sizes_of_all_families[] = {
    {"num_attention_heads", &ModelConfig::heads},
    {"n_head", &ModelConfig::heads},
    {"num_heads", &ModelConfig::heads},
    {"n_heads", &ModelConfig::heads},
    {"encoder_attention_heads", &ModelConfig::heads},
    {"num_key_value_heads", &ModelConfig::key_heads},
    {"head_dim", &ModelConfig::head_size},
    {"d_kv", &ModelConfig::head_size},
    {"num_hidden_layers", &ModelConfig::layers},
    {"num_layers", &ModelConfig::layers},
    {"n_layer", &ModelConfig::layers},
    {"n_layers", &ModelConfig::layers},
    {"encoder_layers", &ModelConfig::layers},
    {"decoder_layers", &ModelConfig::decoder_layers},
    {"num_decoder_layers", &ModelConfig::decoder_layers},
    {"hidden_size", &ModelConfig::d_model, std::uint64_t{1} << 24},
    {"n_embd", &ModelConfig::d_model, std::uint64_t{1} << 24},
    {"d_model", &ModelConfig::d_model, std::uint64_t{1} << 24},
    {"dim", &ModelConfig::d_model, std::uint64_t{1} << 24},
    {"intermediate_size", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"n_inner", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"d_ff", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"hidden_dim", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"encoder_ffn_dim", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"decoder_ffn_dim", &ModelConfig::d_ff, std::uint64_t{1} << 24},
    {"vocab_size", &ModelConfig::words, std::uint64_t{1} << 24},
    {"max_position_embeddings", &ModelConfig::places, std::uint64_t{1} << 32},
    {"n_positions", &ModelConfig::places, std::uint64_t{1} << 32},
    {"type_vocab_size", &ModelConfig::types},
    {"relative_attention_num_buckets", &ModelConfig::buckets},
};

bool learns_positions(const ModelFamily& family) {
  return std::ranges::any_of(family.brings, [](const ImpliedField& brought) {
    return brought.field == &recipe_field::positions && brought.value == FieldValue("learned");
  });
}

// --- members that may have one value only

FieldValue nothing_in(const JsonMember& member, ModelConfig&) {
  if (!member.value.empty()) fail("{} names heads that are left out, which is not read yet", member.place);
  return {};
}

constexpr ConfigField one_value_fields[] = {
    {"add_cross_attention", nullptr, only_flag<false>},
    {"tie_encoder_decoder", nullptr, only_flag<false>},
    {"pruned_heads", nullptr, nothing_in},
};

// --- members that change no number

// What they are about, and their names. These are what the reference implementation has beside how a model computes.
constexpr std::string_view of_the_library[] = {
    "_name_or_path",     "name_or_path",         "transformers_version", "_commit_hash", "auto_map",
    "tokenizer_class",   "task_specific_params", "finetuning_task",      "problem_type", "id2label",
    "label2id",          "num_labels",           "_num_labels",          "prefix",       "return_dict",
    "output_attentions", "output_hidden_states", "output_past",          "torchscript",  "transformers.js_config",
    "unsloth_version",   "unsloth_fixed",
};
// In which type numbers are stored or computed, and what is kept in memory meanwhile.
constexpr std::string_view of_running[] = {
    "torch_dtype",
    "dtype",
    "use_bfloat16",
    "use_cache",
    "cache_implementation",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_flash_attn_2_enabled",
    "use_flash_attention_2",
    "gradient_checkpointing",
    "chunk_size_feed_forward",
    "pretraining_tp",
    "reorder_and_upcast_attn",
};
constexpr std::string_view of_training[] = {
    "initializer_range",
    "initializer_factor",
    "init_std",
    "dropout",
    "attention_dropout",
    "hidden_dropout",
    "activation_dropout",
    "classifier_dropout",
    "classif_dropout",
    "resid_dropout",
    "embed_dropout",
    "embd_dropout",
    "attn_pdrop",
    "embd_pdrop",
    "resid_pdrop",
    "dropout_rate",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "qa_dropout",
    "seq_classif_dropout",
    "encoder_layerdrop",
    "decoder_layerdrop",
    "tf_legacy_loss",
};
// Which word is written next is chosen here by options.
constexpr std::string_view of_generation[] = {
    "bos_token_id",
    "pad_token_id",
    "sep_token_id",
    "cls_token_id",
    "mask_token_id",
    "max_length",
    "min_length",
    "do_sample",
    "early_stopping",
    "num_beams",
    "num_beam_groups",
    "diversity_penalty",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "repetition_penalty",
    "length_penalty",
    "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size",
    "bad_words_ids",
    "num_return_sequences",
    "output_scores",
    "return_dict_in_generate",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "force_bos_token_to_be_generated",
    "remove_invalid_values",
    "exponential_decay_length_penalty",
    "suppress_tokens",
    "begin_suppress_tokens",
};
// The tensors tell it.
constexpr std::string_view of_kind[] = {"is_encoder_decoder", "is_decoder", "cross_attention_hidden_size"};
constexpr std::span<const std::string_view> without_effect[] = {of_the_library, of_running, of_training, of_generation,
                                                                of_kind};

// --- members that are read wherever they are

constexpr std::string_view read_of_all_families[] = {
    "model_type",          "architectures",          "quantization_config",
    "tie_word_embeddings", "decoder_start_token_id", "eos_token_id"};

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

bool has_row(std::string_view key, std::span<const ConfigField> rows) {
  return std::ranges::find(rows, key, &ConfigField::key) != rows.end();
}

// --- classes

// What the name of a class ends in tells its output.
struct ClassEnding {
  std::string_view ending;
  std::string_view output;         // that is not read; empty: it is read
  std::string_view alone_in = {};  // the type of the one family in which this output is read
};
constexpr ClassEnding class_endings[] = {
    {"ForCausalLM", ""},
    {"LMHeadModel", ""},
    {"WithLMHead", ""},
    {"ForMaskedLM", ""},
    {"ForPreTraining", ""},
    {"ForConditionalGeneration", ""},
    {"DoubleHeadsModel", ""},
    {"EncoderModel", ""},
    {"ForImageClassification", "the classes of an image", "vit"},
    {"ForMaskedImageModeling", "the numbers of an image"},
    {"ForSequenceClassification", "the classes of a text"},
    {"ForTokenClassification", "the classes of words"},
    {"ForQuestionAnswering", "the place of an answer"},
    {"ForMultipleChoice", "a choice"},
    {"ForNextSentencePrediction", "whether a text follows another"},
    {"Model", ""},
};

}  // namespace

// --- sizes

const ConfigSize* size_said_by(std::string_view key, const ModelFamily& family) {
  for (const std::span<const ConfigSize> rows : {family.sizes, std::span<const ConfigSize>(sizes_of_all_families)}) {
    const auto row = std::ranges::find(rows, key, &ConfigSize::key);
    if (row == rows.end()) continue;
    // Positions that are waves or distances have no table.
    return row->size == &ModelConfig::places && !learns_positions(family) ? nullptr : &*row;
  }
  return nullptr;
}

// --- members that may have one value only

std::span<const ConfigField> fields_of_all_families() { return one_value_fields; }

KeyEffect effect_of(std::string_view key, const ModelFamily& family) {
  const LayersWithWindow& windows = family.windows;
  if (is_among(key, read_of_all_families) || has_row(key, family.fields) || has_row(key, one_value_fields) ||
      size_said_by(key, family) || (!key.empty() && (key == windows.pattern_key || key == windows.switch_key)))
    return KeyEffect::used;
  const bool is_of_positions = std::ranges::any_of(
      sizes_of_all_families, [&](const ConfigSize& row) { return row.key == key && row.size == &ModelConfig::places; });
  if (is_of_positions || is_among(key, family.without_effect) ||
      std::ranges::any_of(without_effect, [&](const auto& keys) { return is_among(key, keys); }))
    return KeyEffect::none;
  return KeyEffect::unknown;
}

// --- classes

bool knows_classes(const JsonMember& architectures, const ModelFamily& family) {
  bool are_known = true;
  for (const std::string& name : strings_of(architectures)) {
    const auto row =
        std::ranges::find_if(class_endings, [&](const ClassEnding& one) { return name.ends_with(one.ending); });
    are_known = are_known && row != std::end(class_endings);
    if (row == std::end(class_endings) || row->output.empty() || row->alone_in == family.type) continue;
    fail("{} names {}, whose output is {}, which is not read yet: give the model without this output",
         architectures.place, in_quotes(name), row->output);
  }
  return are_known;
}

}  // namespace attn
