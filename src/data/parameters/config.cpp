#include "data/parameters/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// A size, by the names that families have for it.
struct ConfigSize {
  std::string_view key;
  std::size_t ModelConfig::*size;
  std::uint64_t most = 65536;
};
constexpr ConfigSize sizes[] = {
    {"num_attention_heads", &ModelConfig::heads},
    {"n_head", &ModelConfig::heads},
    {"num_heads", &ModelConfig::heads},
    {"num_key_value_heads", &ModelConfig::key_heads},
    {"head_dim", &ModelConfig::head_size},
    {"d_kv", &ModelConfig::head_size},
    {"num_hidden_layers", &ModelConfig::layers},
    {"num_layers", &ModelConfig::layers},
    {"n_layer", &ModelConfig::layers},
    {"n_heads", &ModelConfig::heads},
    {"encoder_attention_heads", &ModelConfig::heads},
    {"relative_attention_num_buckets", &ModelConfig::buckets},
    {"vocab_size", &ModelConfig::words, std::uint64_t{1} << 24},
};

// A member; null where there is none, and where it is null unless that is asked for.
const Json* member_of(const Json& object, std::string_view key, bool with_null = false) {
  const auto found = object.find(std::string(key));
  return found == object.end() || (found->is_null() && !with_null) ? nullptr : &*found;
}

std::size_t size_in(const JsonMember& member, std::uint64_t most) {
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
  const auto family = std::ranges::find(model_families(), name, &ModelFamily::type);
  if (family == model_families().end()) {
    std::vector<std::string> known;
    for (const ModelFamily& row : model_families()) {
      if (row.unread.empty()) known.emplace_back(row.title);
    }
    fail("{}: this is a model of the family {}, which is not read yet: these are read: {}", where, in_quotes(name),
         listed(known));
  }
  if (!family->unread.empty()) fail("{}: this is {}: {} are not read yet", where, family->title, family->unread);
  return *family;
}

}  // namespace

void ModelConfig::set(std::string_view field, const FieldValue& value) {
  std::erase_if(brings, [&](const BroughtField& one) { return one.field == field; });
  brings.push_back({field, value});
}

namespace {

constexpr std::uint64_t most_layers = 65536;

// Which layers have a window: as the config names them, or as the family has them. A window that is not said is the
// usual one.
void take_windows(ModelConfig& config, const Json& file, const std::string& where) {
  const LayersWithWindow& windows = config.family->windows;
  const auto has = [&](std::string_view field) {
    return std::ranges::find(config.brings, field, &BroughtField::field) != config.brings.end();
  };
  const Json* const is_on = windows.switch_key.empty() ? nullptr : member_of(file, windows.switch_key);
  const bool is_off = !windows.switch_key.empty() && (!is_on || *is_on == false);
  if (is_off) config.set("window", 0.0);
  if (!has("window") && windows.usual != 0.0) config.set("window", windows.usual);
  if (!has("window")) return;
  if (config.window_layers.empty() && windows.is_local) {
    const Json* const said = windows.pattern_key.empty() ? nullptr : member_of(file, windows.pattern_key);
    const std::size_t pattern =
        said ? size_in({*said, fmt::format("{}: \"{}\"", where, windows.pattern_key)}, most_layers)
             : windows.usual_pattern;
    if (config.layers == 0)
      fail("{} does not say how many layers there are, and so not which of them have a window", where);
    std::vector<std::string> local;
    for (std::size_t i = 0; i < config.layers; ++i) {
      if (windows.is_local(i, pattern)) local.push_back(std::to_string(i + 1));
    }
    config.window_layers = local.empty() ? "none" : fmt::format("{}", fmt::join(local, ", "));
  }
  if (config.window_layers == "none") config.set("window", 0.0);
  if (config.window_layers == "none" || config.window_layers.empty()) return;
  config.set("window_layers", std::string_view(config.texts.emplace_back(config.window_layers)));
}

}  // namespace

ModelConfig read_config(std::string_view bytes, const std::string& where) {
  return config_from(parse_json(bytes, where), where);
}

ModelConfig config_from(const Json& file, const std::string& where) {
  if (!file.is_object()) fail("{} is not an object, as the config.json of a model is", where);
  ModelConfig config{.family = &family_of(file, where)};
  const auto member = [&](std::string_view key) -> std::optional<JsonMember> {
    const Json* const found = member_of(file, key);
    if (!found) return std::nullopt;
    return JsonMember{*found, fmt::format("{}: \"{}\"", where, key)};
  };
  for (const ConfigSize& row : sizes) {
    if (const auto found = member(row.key)) config.*row.size = size_in(*found, row.most);
  }
  if (const auto start = member("decoder_start_token_id")) config.start = token_in(*start);
  if (const auto ends = member("eos_token_id")) config.ends = tokens_in(*ends);
  if (const auto tied = member("tie_word_embeddings"); tied && tied->value.is_boolean())
    config.is_tied = tied->value.get<bool>();
  // Which numbers are meant only the library knows that has rounded them.
  if (member("quantization_config"))
    fail("{}: the numbers of this model are quantized in a way that is not read yet: give the model as it was before",
         where);
  if (config.heads == 0) fail("{} does not say how many heads there are", where);
  std::ranges::copy(config.family->brings, std::back_inserter(config.brings));
  for (const ConfigField& row : config.family->fields) {
    const Json* const value = member_of(file, row.key, true);
    if (!value) continue;
    if (value->is_null()) {
      if (row.of_null != FieldValue()) config.set(row.field, row.of_null);
      continue;
    }
    const JsonMember found{*value, fmt::format("{}: \"{}\"", where, row.key)};
    const FieldValue meant = row.meaning ? row.meaning(found, config) : value_in(found.value, config);
    if (row.field.empty()) continue;
    ModelRecipe tried;
    look_up(recipe_fields(), row.field, "choice of a recipe").take(tried, meant, found.place);
    config.set(row.field, meant);
  }
  take_windows(config, file, where);
  return config;
}

}  // namespace attn
