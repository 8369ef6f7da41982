#include "data/parameters/described.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/support/error.hpp"
#include "data/files/cells.hpp"
#include "data/files/gguf.hpp"
#include "data/files/json.hpp"
#include "data/files/llama2c.hpp"

namespace attn {

namespace {

// A value of the metadata behind the name of its architecture, and the member of a config.json that says the same.
struct GgufMember {
  std::string_view key;
  std::string_view member;
};
constexpr GgufMember gguf_members[] = {
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.sliding_window", "sliding_window"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"rope.freq_base", "rope_theta"},
    {"use_parallel_residual", "use_parallel_residual"},
};

// What such files have that a config.json of the family would not say: the files are converted, and matrices change
// with it.
struct GgufFamily {
  std::string_view architecture;  // "general.architecture"
  std::string_view type;          // "model_type" of a config.json
  std::span<const BroughtField> brings = {};
  // The layers of the largest model, whose scores alone are divided by √(d_model / h); 0: there is none.  (llama.cpp,
  // llama-model.cpp)
  double largest = 0;
};
constexpr BroughtField in_pairs[] = {{"positions", "rotary"}};   // the rows of queries and keys stand in another order
constexpr BroughtField one_is_added[] = {{"norm_kind", "rms"}};  // to γ, when the file is made
constexpr GgufFamily gguf_families[] = {
    {"llama", "llama", in_pairs},
    {"gptneox", "gpt_neox"},
    {"gemma", "gemma", one_is_added},
    {"gemma2", "gemma2", one_is_added, 46},
    {"gemma3", "gemma3_text", one_is_added, 62},
};

Json json_of(const GgufValue& value, const std::string& place) {
  return std::visit(
      [&](const auto& one) -> Json {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(one)>, GgufList>)
          fail("{} differs from layer to layer, which is not read yet", place);
        else
          return one;
      },
      value);
}

void replace(std::vector<BroughtField>& brings, std::span<const BroughtField> others) {
  for (const BroughtField& other : others) {
    std::erase_if(brings, [&](const BroughtField& field) { return field.field == other.field; });
    brings.push_back(other);
  }
}

// What such a file says with other sizes than a config.json.
class OtherSizes {
 public:
  OtherSizes(const GgufFile& file, std::string_view architecture, double layers_of_largest)
      : file_(file), architecture_(architecture), layers_of_largest_(layers_of_largest) {}

  void say(Json& config) const {
    const double heads = number(".attention.head_count"), width = number(".embedding_length");
    const double equal_part = heads > 0 ? width / heads : 0, of_key = number(".attention.key_length");
    const double head = of_key > 0 ? of_key : equal_part;
    // Only a part of a head is rotated in some families, which say how large it is instead of which share.
    if (const double rotated = number(".rope.dimension_count"); rotated > 0 && head > 0)
      config["rotary_pct"] = rotated / head;
    // Gemma's scores are divided by the root of the size of a head.
    const bool is_largest = layers_of_largest_ > 0 && number(".block_count") == layers_of_largest_;
    if (head > 0) config["query_pre_attn_scalar"] = is_largest ? equal_part : head;
    const std::string_view* const scaling = file_.text(fmt::format("{}.rope.scaling.type", architecture_));
    if (scaling && *scaling != "none")
      config["rope_scaling"] = {{"rope_type", std::string(*scaling)}, {"factor", number(".rope.scaling.factor")}};
  }

 private:
  double number(std::string_view key) const {
    const auto found = file_.metadata.find(fmt::format("{}{}", architecture_, key));
    if (found == file_.metadata.end()) return 0;
    if (const auto* const whole = std::get_if<std::uint64_t>(&found->second)) return static_cast<double>(*whole);
    const auto* const real = std::get_if<double>(&found->second);
    return real ? *real : 0;
  }

  const GgufFile& file_;
  std::string_view architecture_;
  double layers_of_largest_;
};

}  // namespace

ModelConfig described_by_gguf(std::string_view bytes, const std::string& where) {
  const GgufFile file = read_gguf(bytes, where);
  if (file.tensors.empty()) fail("{} has no tensors: give a file with the parameters of a model", where);
  const std::string_view* const architecture = file.text("general.architecture");
  if (!architecture) fail("{} does not say which model it is: it has no general.architecture", where);
  const auto family = std::ranges::find(gguf_families, *architecture, &GgufFamily::architecture);
  const bool is_converted = family != std::end(gguf_families);
  Json config = Json::object();
  config["model_type"] = std::string(is_converted ? family->type : *architecture);
  for (const auto& [key, member] : gguf_members) {
    const std::string whole = fmt::format("{}.{}", *architecture, key);
    const auto found = file.metadata.find(whole);
    if (found != file.metadata.end())
      config[std::string(member)] = json_of(found->second, fmt::format("{}: {}", where, whole));
  }
  OtherSizes(file, *architecture, is_converted ? family->largest : 0).say(config);
  for (const char* token : {"bos_token_id", "eos_token_id"}) {
    const auto found = file.metadata.find(fmt::format("tokenizer.ggml.{}", token));
    if (found != file.metadata.end()) config[std::string(token)] = json_of(found->second, where);
  }
  config["tie_word_embeddings"] =
      std::ranges::find(file.tensors, "output.weight", &GgufTensor::name) == file.tensors.end();
  ModelConfig result = config_from(config, where);
  if (is_converted) replace(result.brings, family->brings);
  return result;
}

ModelConfig described_by_llama2c(std::string_view bytes, const std::string& where) {
  const Llama2cSizes sizes = llama2c_sizes(bytes);
  const Json config = {{"model_type", "llama"},
                       {"num_attention_heads", sizes.heads},
                       {"num_key_value_heads", sizes.key_heads},
                       {"bos_token_id", 1U},
                       {"eos_token_id", {1U, 2U}},
                       {"rms_norm_eps", 1e-5},
                       {"rope_theta", 10000.0},
                       {"tie_word_embeddings", sizes.is_tied}};
  ModelConfig result = config_from(config, where);
  replace(result.brings, in_pairs);
  return result;
}

}  // namespace attn
