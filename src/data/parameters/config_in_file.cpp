#include "data/parameters/config_in_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/files/gguf.hpp"
#include "data/files/json.hpp"
#include "data/files/llama2c.hpp"
#include "data/parameters/config_keys.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

// A value of the metadata behind the name of its architecture, and the member of a config.json that says the same. What
// it means, and whether a family heeds it, is told by the family.
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
    {"rope.freq_base_swa", "rope_local_base_freq"},
    {"use_parallel_residual", "use_parallel_residual"},
    {"vocab_size", "vocab_size"},
};

// Values that are put together to a member, whatever that is.
constexpr GgufMember gguf_parts[] = {
    {"attention.value_length", "head_dim"},  {"rope.dimension_count", "partial_rotary_factor"},
    {"rope.dimension_count", "rotary_pct"},  {"rope.scaling.type", "rope_scaling"},
    {"rope.scaling.factor", "rope_scaling"}, {"rope.scale_linear", "rope_scaling"},
};

// Of scaled positions that are not read, of the order in which the tensors were written, and of images.
constexpr std::string_view gguf_without_effect[] = {"rope.scaling.original_context_length", "rope.scaling.finetuned",
                                                    "tensor_data_layout", "mm.tokens_per_image"};
constexpr std::string_view gguf_tokens[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"};
// The file as a whole, how its numbers were chosen, and how it was split.
constexpr std::string_view gguf_beginnings_without_effect[] = {"general.", "quantize.", "split."};
constexpr std::string_view beginning_of_tokenizers = "tokenizer.";

// What such files have that a config.json of the family would not say: the files are converted, and matrices change
// with it.
struct GgufFamily {
  std::string_view architecture;  // "general.architecture"
  std::string_view type;          // "model_type" of a config.json
  std::span<const ImpliedField> brings = {};
  // The layers of the largest model, whose scores alone are divided by √(d_model / h); 0: there is none.  (llama.cpp,
  // llama-model.cpp)
  double largest = 0;
  bool turns_whole_heads = false;  // llama.cpp refuses others
};
constexpr ImpliedField in_pairs[] = {
    {&recipe_field::positions, "rotary"}};  // the rows of queries and keys stand in another order
constexpr ImpliedField one_is_added[] = {{&recipe_field::norm_kind, "rms"}};  // to γ, when the file is made
constexpr GgufFamily gguf_families[] = {
    {"llama", "llama", in_pairs, 0, true},
    {"gptneox", "gpt_neox"},
    {"gemma", "gemma", one_is_added},
    {"gemma2", "gemma2", one_is_added, 46},
    {"gemma3", "gemma3_text", one_is_added, 62},
};

Json json_of_gguf(const GgufValue& value, const std::string& place) {
  return std::visit(
      [&](const auto& one) -> Json {
        using Kind = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::is_same_v<Kind, GgufList>) {
          fail("{} differs from layer to layer, which is not read yet", place);
        } else if constexpr (std::is_same_v<Kind, std::int64_t>) {
          return one < 0 ? Json(one) : Json(static_cast<std::uint64_t>(one));
        } else {
          return one;
        }
      },
      value);
}

void replace_brought(std::vector<ImpliedField>& brings, std::span<const ImpliedField> others) {
  for (const ImpliedField& other : others) {
    std::erase_if(brings, [&](const ImpliedField& field) { return field.field == other.field; });
    brings.push_back(other);
  }
}

// The metadata of one file, by names behind that of its architecture.
class GgufMetadata {
 public:
  GgufMetadata(const GgufFile& file, std::string_view architecture, const std::string& where)
      : file_(file), architecture_(architecture), where_(where) {}

  std::string name(std::string_view key) const { return fmt::format("{}.{}", architecture_, key); }
  const GgufValue* value(std::string_view key) const {
    const auto found = file_.metadata.find(name(key));
    return found == file_.metadata.end() ? nullptr : &found->second;
  }
  Json json(std::string_view key) const { return json_of_gguf(*value(key), fmt::format("{}: {}", where_, name(key))); }
  /// A whole number from 1; 0: there is none.
  std::uint64_t size(std::string_view key) const {
    return value(key) ? size_of({json(key), fmt::format("{}: {}", where_, name(key))}, most_) : 0;
  }
  /// 0: there is none, or it is 0.
  double number(std::string_view key) const {
    if (!value(key)) return 0;
    const Json found = json(key);
    if (found.is_number() && std::isfinite(found.get<double>()) && found.get<double>() >= 0) return found.get<double>();
    fail("{}: {} must be a number, 0 or more", where_, name(key));
  }
  std::string text(std::string_view key) const {
    return value(key) ? string_of({json(key), fmt::format("{}: {}", where_, name(key))}) : std::string();
  }

 private:
  static constexpr std::uint64_t most_ = std::uint64_t{1} << 32;

  const GgufFile& file_;
  std::string_view architecture_;
  const std::string& where_;
};

// How many numbers of a head are turned: a config.json says their share.
void say_rotated(Json& config, const GgufMetadata& metadata, std::uint64_t head, bool turns_whole_heads,
                 const std::string& where) {
  const std::uint64_t rotated = metadata.size("rope.dimension_count");
  if (rotated == 0 || head == 0) return;
  if (rotated > head || (turns_whole_heads && rotated != head))
    fail("{}: {} is {}, and a head has {}: get the file again", where, metadata.name("rope.dimension_count"), rotated,
         count_of(head, "number"));
  for (const char* member : {"rotary_pct", "partial_rotary_factor"})
    config[member] = static_cast<double>(rotated) / static_cast<double>(head);
}

// The factor has two names. Without a type the scaling is linear.  (llama.cpp, llama-model.cpp)
void say_scaling(Json& config, const GgufMetadata& metadata) {
  const bool is_old = !metadata.value("rope.scaling.factor");
  const double factor = metadata.number(is_old ? "rope.scale_linear" : "rope.scaling.factor");
  const std::string type = metadata.value("rope.scaling.type") ? metadata.text("rope.scaling.type") : "linear";
  if (type == "none" || (type == "linear" && factor == 0)) return;
  config["rope_scaling"] = {{"rope_type", type}, {"factor", factor}};
}

// Other sizes follow from that of the embeddings.
void require_width(const GgufFile& file, const GgufMetadata& metadata, const std::string& where) {
  const std::uint64_t width = metadata.size("embedding_length");
  const auto table = std::ranges::find(file.tensors, "token_embd.weight", &GgufTensor::name);
  if (width == 0 || table == file.tensors.end() || table->sizes.empty() || table->sizes.back() == width) return;
  fail("{}: {} is {}, and the embeddings of token_embd.weight have {}: get the file again", where,
       metadata.name("embedding_length"), width, count_of(table->sizes.back(), "number"));
}

// What such a file says with other sizes than a config.json.
void say_with_other_sizes(Json& config, const GgufMetadata& metadata, const GgufFamily* family,
                          const std::string& where) {
  const std::uint64_t heads = metadata.size("attention.head_count"), width = metadata.size("embedding_length");
  const double equal_part = heads > 0 ? static_cast<double>(width) / static_cast<double>(heads) : 0;
  const std::uint64_t of_key = metadata.size("attention.key_length");
  if (of_key == 0 && heads > 0 && width % heads != 0)
    fail("{}: {} is {} and does not divide {}, which is {}: get the file again", where,
         metadata.name("attention.head_count"), heads, metadata.name("embedding_length"), width);
  const std::uint64_t head = of_key > 0 ? of_key : heads > 0 ? width / heads : 0;
  if (const std::uint64_t of_value = metadata.size("attention.value_length");
      of_value > 0 && head > 0 && of_value != head)
    fail("{}: keys have {} and values {}, and they are read only where these are equal", where,
         count_of(head, "number"), of_value);
  say_rotated(config, metadata, head, family && family->turns_whole_heads, where);
  // Gemma's scores are divided by the root of the size of a head.
  const bool is_largest =
      family && family->largest > 0 && static_cast<double>(metadata.size("block_count")) == family->largest;
  if (head > 0) config["query_pre_attn_scalar"] = is_largest ? equal_part : static_cast<double>(head);
  say_scaling(config, metadata);
}

// A model may be split into several files, which no index names.
void require_whole(const GgufFile& file, const std::string& where) {
  const auto count = file.metadata.find("split.count");
  if (count == file.metadata.end()) return;
  const std::string place = fmt::format("{}: split.count", where);
  const Json files = json_of_gguf(count->second, place);
  if (files == Json(0U)) return;
  if (const std::size_t number = size_of({files, place}, std::uint64_t{1} << 16); number > 1)
    fail("{} is one of {} files of a model: join them into one, with llama-gguf-split --merge, and give that file",
         where, number);
}

// The keys of the file by what became of the members that they say.
ConfigKeys keys_of(const GgufFile& file, std::string_view architecture, const ModelFamily& family) {
  ConfigKeys keys{.of = "metadata"};
  for (const auto& [name, value] : file.metadata) {
    const bool is_for_words = std::ranges::find(gguf_tokens, name) == std::end(gguf_tokens);
    if (is_for_words && name.starts_with(beginning_of_tokenizers)) {
      keys.of_tokenizer.emplace_back(name);
      continue;
    }
    const auto begins = [&name = name](std::string_view beginning) { return name.starts_with(beginning); };
    const std::string_view key = name.starts_with(architecture) && name.substr(architecture.size()).starts_with('.')
                                     ? name.substr(architecture.size() + 1)
                                     : std::string_view();
    KeyEffect effect = KeyEffect::unknown;
    for (const std::span<const GgufMember> rows :
         {std::span<const GgufMember>(gguf_members), std::span<const GgufMember>(gguf_parts)}) {
      for (const GgufMember& row : rows) {
        if (!key.empty() && row.key == key) effect = std::min(effect, effect_of(row.member, family));
      }
    }
    if (name == "general.architecture" || name == "general.alignment" ||
        std::ranges::find(gguf_tokens, name) != std::end(gguf_tokens))
      effect = KeyEffect::used;
    if (effect == KeyEffect::unknown && (std::ranges::find(gguf_without_effect, key) != std::end(gguf_without_effect) ||
                                         std::ranges::any_of(gguf_beginnings_without_effect, begins)))
      effect = KeyEffect::none;
    std::vector<std::string>& among = effect == KeyEffect::used   ? keys.used
                                      : effect == KeyEffect::none ? keys.without_effect
                                                                  : keys.unknown;
    among.emplace_back(name);
  }
  return keys;
}

}  // namespace

ModelConfig config_from_gguf(std::string_view bytes, const std::string& where) {
  const GgufFile file = read_gguf(bytes, where);
  if (file.tensors.empty()) fail("{} has no tensors: give a file with the parameters of a model", where);
  const std::string_view* const architecture = file.text("general.architecture");
  if (!architecture) fail("{} does not say which model it is: it has no general.architecture", where);
  const auto found = std::ranges::find(gguf_families, *architecture, &GgufFamily::architecture);
  const GgufFamily* const family = found == std::end(gguf_families) ? nullptr : &*found;
  require_whole(file, where);
  const GgufMetadata metadata(file, *architecture, where);
  Json config = Json::object();
  MemberNames called;
  config["model_type"] = std::string(family ? family->type : *architecture);
  for (const auto& [key, member] : gguf_members) {
    if (!metadata.value(key)) continue;
    config[std::string(member)] = metadata.json(key);
    called.emplace(member, metadata.name(key));
  }
  require_width(file, metadata, where);
  say_with_other_sizes(config, metadata, family, where);
  for (const std::string_view token : gguf_tokens) {
    const auto id = file.metadata.find(token);
    if (id == file.metadata.end()) continue;
    const std::string member(token.substr(token.rfind('.') + 1));
    config[member] = json_of_gguf(id->second, fmt::format("{}: {}", where, token));
    called.emplace(member, token);
  }
  config["tie_word_embeddings"] =
      std::ranges::find(file.tensors, "output.weight", &GgufTensor::name) == file.tensors.end();
  ModelConfig result = config_from(config, where, called);
  result.keys = keys_of(file, *architecture, *result.family);
  if (family) replace_brought(result.brings, family->brings);
  return result;
}

ModelConfig config_from_llama2c(std::string_view bytes, const std::string& where) {
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
  result.keys = {};  // the file has sizes alone
  replace_brought(result.brings, in_pairs);
  return result;
}

}  // namespace attn
