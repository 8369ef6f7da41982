#include "data/parameters/families.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

// --- rows

namespace {

// What a name of an activation there is called here.
struct ActivationThere {
  std::string_view theirs, ours;
};
constexpr ActivationThere activations_there[] = {
    {"relu", "relu"},           {"gelu", "gelu"}, {"gelu_new", "gelu-tanh"}, {"gelu_pytorch_tanh", "gelu-tanh"},
    {"gelu_fast", "gelu-tanh"}, {"silu", "silu"}, {"swish", "silu"},         {"tanh", "tanh"},
};

FieldValue activation_there(const JsonMember& member, ModelConfig&) {
  const std::string theirs = string_of(member);
  const auto found = std::ranges::find(activations_there, theirs, &ActivationThere::theirs);
  if (found == std::end(activations_there))
    fail("{}: the activation {} is not read yet", member.place, in_quotes(theirs));
  return found->ours;
}

constexpr std::string_view gpt2_layouts[] = {"GPT-2"};
constexpr BroughtField gpt2_has[] = {
    {"norm", "pre"},      {"norm_kind", "layer"},      {"positions", "learned"},
    {"scale", "sqrt-dk"}, {"scale_embeddings", false}, {"causal_decoder", true},
};
constexpr ConfigField gpt2_fields[] = {
    {"layer_norm_epsilon", "epsilon"},
    {"activation_function", "activation", activation_there},
    {"tie_word_embeddings", "tied_output"},
};

constexpr ModelFamily families[] = {
    {"gpt2", "GPT-2", gpt2_layouts, gpt2_has, gpt2_fields},
    {.type = "mixtral", .title = "Mixtral", .layouts = {}, .unread = "experts"},
};

// A size, by the names that families have for it.
struct ConfigSize {
  std::string_view key;
  std::size_t ModelConfig::*size;
};
constexpr ConfigSize sizes[] = {
    {"num_attention_heads", &ModelConfig::heads}, {"n_head", &ModelConfig::heads},
    {"num_heads", &ModelConfig::heads},           {"num_key_value_heads", &ModelConfig::key_heads},
    {"head_dim", &ModelConfig::head_size},        {"d_kv", &ModelConfig::head_size},
};

}  // namespace

std::span<const ModelFamily> model_families() { return families; }

// --- reading

namespace {

// A member, or a member of a member behind a dot; null where there is none.
const Json* member_of(const Json& object, std::string_view key) {
  const std::size_t dot = key.find('.');
  const auto found = object.find(std::string(key.substr(0, dot)));
  if (found == object.end() || found->is_null()) return nullptr;
  if (dot == std::string_view::npos) return &*found;
  return found->is_object() ? member_of(*found, key.substr(dot + 1)) : nullptr;
}

std::size_t size_in(const JsonMember& member) {
  constexpr std::uint64_t most = 65536;
  if (member.value.is_number_unsigned() && member.value.get<std::uint64_t>() >= 1 &&
      member.value.get<std::uint64_t>() <= most)
    return member.value.get<std::size_t>();
  fail("{} must be a whole number from 1 to {}", member.place, most);
}

std::size_t token_in(const JsonMember& member) {
  if (member.value.is_number_unsigned()) return member.value.get<std::size_t>();
  fail("{} must be the id of a token", member.place);
}

// One, or a list of several.
std::vector<std::size_t> tokens_in(const JsonMember& member) {
  if (!member.value.is_array()) return {token_in(member)};
  std::vector<std::size_t> tokens;
  for (const Json& token : member.value) tokens.push_back(token_in({token, member.place}));
  return tokens;
}

FieldValue value_in(const Json& value, ModelConfig& config) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return std::string_view(config.texts.emplace_back(value.get<std::string>()));
  return {};
}

const ModelFamily& family_of(const Json& file, const std::string& where) {
  const Json* const type = member_of(file, "model_type");
  if (!type) fail("{} does not say which model it is: it has no \"model_type\"", where);
  const std::string name = string_of({*type, fmt::format("{}: \"model_type\"", where)});
  const auto family = std::ranges::find(families, name, &ModelFamily::type);
  if (family == std::end(families)) {
    std::vector<std::string> known;
    for (const ModelFamily& row : families) {
      if (row.unread.empty()) known.emplace_back(row.title);
    }
    fail("{}: this is a model of the family {}, which is not read yet: these are read: {}", where, in_quotes(name),
         listed(known));
  }
  if (!family->unread.empty()) fail("{}: this is {}: {} are not read yet", where, family->title, family->unread);
  return *family;
}

}  // namespace

ModelConfig read_config(std::string_view bytes, const std::string& where) {
  const Json file = parse_json(bytes, where);
  if (!file.is_object()) fail("{} is not an object, as the config.json of a model is", where);
  ModelConfig config{.family = &family_of(file, where)};
  const auto member = [&](std::string_view key) -> std::optional<JsonMember> {
    const Json* const found = member_of(file, key);
    if (!found) return std::nullopt;
    return JsonMember{*found, fmt::format("{}: \"{}\"", where, key)};
  };
  for (const ConfigSize& row : sizes) {
    if (const auto found = member(row.key)) config.*row.size = size_in(*found);
  }
  if (const auto start = member("decoder_start_token_id")) config.start = token_in(*start);
  if (const auto ends = member("eos_token_id")) config.ends = tokens_in(*ends);
  std::ranges::copy(config.family->brings, std::back_inserter(config.brings));
  for (const ConfigField& row : config.family->fields) {
    const auto found = member(row.key);
    if (!found) continue;
    const FieldValue value = row.meaning ? row.meaning(*found, config) : value_in(found->value, config);
    std::erase_if(config.brings, [&](const BroughtField& field) { return field.field == row.field; });
    config.brings.push_back({row.field, value});
  }
  return config;
}

}  // namespace attn
