#include "data/parameters/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/files/cell_values.hpp"
#include "data/parameters/config_keys.hpp"
#include "data/parameters/meanings.hpp"

namespace attn {

namespace {

// A member; null where there is none, and where it is null unless that is asked for.
const Json* member_of(const Json& object, std::string_view key, bool with_null = false) {
  const auto found = object.find(std::string(key));
  return found == object.end() || (found->is_null() && !with_null) ? nullptr : &*found;
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
         list_in_words(known));
  }
  if (!family->unread.empty()) fail("{}: this is {}: {} are not read yet", where, family->title, family->unread);
  return *family;
}

constexpr std::uint64_t most_layers = 65536;

// Which layers have a window: as the config names them, or as the family has them. A window that is not said is the
// usual one.
void take_windows(ModelConfig& config, const Json& file, const std::string& where) {
  const LayersWithWindow& windows = config.family->windows;
  const auto has_window = [&] {
    return std::ranges::find(config.brings, &recipe_field::window, &ImpliedField::field) != config.brings.end();
  };
  const Json* const is_on = windows.switch_key.empty() ? nullptr : member_of(file, windows.switch_key);
  const bool is_off = !windows.switch_key.empty() &&
                      (!is_on || !flag_of({*is_on, fmt::format("{}: \"{}\"", where, windows.switch_key)}));
  if (is_off) config.set(recipe_field::window, 0.0);
  if (!has_window() && windows.usual != 0.0) config.set(recipe_field::window, windows.usual);
  if (!has_window()) return;
  if (config.window_layers.empty() && windows.is_local) {
    const Json* const said = windows.pattern_key.empty() ? nullptr : member_of(file, windows.pattern_key);
    const std::size_t pattern =
        said ? size_of({*said, fmt::format("{}: \"{}\"", where, windows.pattern_key)}, most_layers)
             : windows.usual_pattern;
    if (config.layers == 0)
      fail("{} does not say how many layers there are, and so not which of them have a window", where);
    std::vector<std::string> local;
    for (std::size_t i = 0; i < config.layers; ++i) {
      if (windows.is_local(i, pattern)) local.push_back(std::to_string(i + 1));
    }
    config.window_layers = local.empty() ? "none" : fmt::format("{}", fmt::join(local, ", "));
  }
  if (config.window_layers == "none") config.set(recipe_field::window, 0.0);
  if (config.window_layers == "none" || config.window_layers.empty()) return;
  config.set(recipe_field::window_layers, std::string_view(config.texts.emplace_back(config.window_layers)));
}

using PlaceOfMember = std::function<std::string(std::string_view key)>;

// Members of an object that is a value, and of objects in it, which no row names.
void take_members_within(ModelConfig& config, const Json& object, const std::string& key,
                         std::span<const std::string_view> known) {
  for (const auto& [name, value] : object.items()) {
    const std::string whole = fmt::format("{}.{}", key, name);
    if (value.is_null()) continue;
    if (std::ranges::find(known, name) == known.end()) {
      config.keys.unknown.push_back(whole);
    } else if (value.is_object()) {
      take_members_within(config, value, whole, known);
    }
  }
}

// What becomes of each member. One that is null says nothing.
void take_keys(ModelConfig& config, const Json& file) {
  for (const auto& [key, value] : file.items()) {
    const KeyEffect effect = effect_of(key, *config.family);
    ConfigKeys& keys = config.keys;
    if (effect == KeyEffect::used) {
      keys.used.push_back(key);
    } else if (effect == KeyEffect::none || value.is_null()) {
      keys.without_effect.push_back(key);
    } else {
      keys.unknown.push_back(key);
    }
    const auto row = std::ranges::find(config.family->fields, key, &ConfigField::key);
    if (row != config.family->fields.end() && value.is_object()) take_members_within(config, value, key, row->members);
  }
}

// Several members may say one size, by several names.
void take_sizes(ModelConfig& config, const Json& file, const PlaceOfMember& place_of) {
  std::vector<std::pair<const ConfigSize*, std::string>> taken;
  for (const auto& [key, value] : file.items()) {
    const ConfigSize* const row = size_said_by(key, *config.family);
    if (!row || value.is_null()) continue;
    const std::size_t size = size_of({value, place_of(key)}, row->most);
    for (const auto& [other, place] : taken) {
      if (other->size == row->size && config.*row->size != size)
        fail("{} is {}, and {} is {}: they must be equal", place_of(key), size, place, config.*row->size);
    }
    config.*row->size = size;
    taken.emplace_back(row, in_quotes(key));
  }
}

void take_config_field(ModelConfig& config, const Json& file, const ConfigField& row, const PlaceOfMember& place_of) {
  const Json* const value = member_of(file, row.key, true);
  if (!value) return;
  if (value->is_null()) {
    if (row.of_null != FieldValue()) config.set(*row.field, row.of_null);
    return;
  }
  const JsonMember found{*value, place_of(row.key)};
  const FieldValue meant = row.meaning ? row.meaning(found, config) : value_in(found.value, config);
  if (!row.field) return;
  ModelRecipe tried;
  row.field->take(tried, meant, found.place);
  config.set(*row.field, meant);
}

void take_fields(ModelConfig& config, const Json& file, const PlaceOfMember& place_of) {
  for (const std::span<const ConfigField> rows : {config.family->fields, fields_of_all_families()}) {
    for (const ConfigField& row : rows) take_config_field(config, file, row, place_of);
  }
}

// Which value each field has if a member is left out.
using SaidFields = std::map<const RecipeField*, FieldValue>;
SaidFields fields_without(std::string_view key, ModelConfig config, Json file, const PlaceOfMember& place_of) {
  file.erase(std::string(key));
  take_fields(config, file, place_of);
  SaidFields said;
  for (const ImpliedField& one : config.brings) said[one.field] = one.value;
  return said;
}

// An object may have an older and a newer name. Where both are there, either of them alone must say all.
void require_one_meaning(const ModelConfig& config, const Json& file, const PlaceOfMember& place_of,
                         const std::string& where) {
  std::vector<const ConfigField*> there;
  for (const ConfigField& row : config.family->fields) {
    if (!row.members.empty() && member_of(file, row.key)) there.push_back(&row);
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const ConfigField &one = *there[j], &other = *there[i];
      if (one.meaning != other.meaning ||
          fields_without(other.key, config, file, place_of) == fields_without(one.key, config, file, place_of))
        continue;
      fail("{}: \"{}\" and \"{}\" are two names of one setting, and they say different things: leave out one of them",
           where, one.key, other.key);
    }
  }
}

}  // namespace

// --- what it says

void ModelConfig::set(const RecipeField& field, const FieldValue& value) {
  std::erase_if(brings, [&](const ImpliedField& one) { return one.field == &field; });
  brings.push_back({&field, value});
}

ModelConfig read_config(std::string_view bytes, const std::string& where) {
  return config_from(parse_json(bytes, where), where);
}

ModelConfig config_from(const Json& file, const std::string& where, const MemberNames& called) {
  if (!file.is_object()) fail("{} is not an object, as the config.json of a model is", where);
  ModelConfig config{.family = &family_of(file, where)};
  config.biases = config.family->biases;
  const PlaceOfMember place_of = [&](std::string_view key) {
    const auto name = called.find(key);
    return name == called.end() ? fmt::format("{}: \"{}\"", where, key) : fmt::format("{}: {}", where, name->second);
  };
  const auto member = [&](std::string_view key) -> std::optional<JsonMember> {
    const Json* const found = member_of(file, key);
    if (!found) return std::nullopt;
    return JsonMember{*found, place_of(key)};
  };
  take_keys(config, file);
  if (const auto classes = member("architectures"); classes && !knows_classes(*classes, *config.family)) {
    std::erase(config.keys.used, "architectures");
    config.keys.unknown.emplace_back("architectures");
  }
  take_sizes(config, file, place_of);
  if (const auto start = member("decoder_start_token_id")) config.start = token_in(*start);
  if (const auto ends = member("eos_token_id")) config.ends = tokens_in(*ends);
  if (const auto tied = member("tie_word_embeddings")) config.is_tied = flag_of(*tied);
  // Which numbers are meant only the library knows that has rounded them.
  if (member("quantization_config"))
    fail("{}: the numbers of this model are quantized in a way that is not read yet: give the model as it was before",
         where);
  if (config.heads == 0) fail("{} does not say how many heads there are", where);
  std::ranges::copy(config.family->brings, std::back_inserter(config.brings));
  require_one_meaning(config, file, place_of, where);
  take_fields(config, file, place_of);
  take_windows(config, file, where);
  return config;
}

}  // namespace attn
