#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/json.hpp"
#include "data/parameters/parameters.hpp"

namespace attn {

struct ModelConfig;

/// A member of a config.json, and the field of a recipe that it sets.
struct ConfigField {
  std::string_view key;    // "rms_norm_eps"
  std::string_view field;  // the name of a row of recipe_fields(); empty: the meaning sets what there is to set
  /// What the member means there; null: it is the value itself. What is made of it for that is kept in the config.
  /// Throws InputError for a value that is not read yet.
  FieldValue (*meaning)(const JsonMember& member, ModelConfig& config) = nullptr;
  /// What null means there; nothing: that it is not said.
  FieldValue of_null = {};
};

/// Which layers of a family have a window.
struct LayersWithWindow {
  double usual = 0.0;                                                  // where nothing is said of the window; 0: none
  bool (*is_local)(std::size_t layer, std::size_t pattern) = nullptr;  // layers count from 0; null: all
  std::string_view pattern_key = {};                                   // the member that says the pattern
  std::size_t usual_pattern = 0;
  std::string_view switch_key = {};  // a flag without which there is none
};

/// A family of models, as it lies on disk in a folder with a config.json.
struct ModelFamily {
  std::string_view type;                      // "model_type" there: "gpt2"
  std::string_view title;                     // "GPT-2"
  std::span<const std::string_view> layouts;  // the names of rows of layouts() that its tensors may have
  std::span<const BroughtField> brings = {};  // what all its models have
  std::span<const ConfigField> fields = {};   // what config.json says
  std::string_view unread = {};               // what of it is not read: "experts"; empty: it is read
  LayersWithWindow windows = {};
};

/// gpt2, … A new one is a row, and rows of layouts() for the names of its tensors.
std::span<const ModelFamily> model_families();

/// What a config.json says. Its texts outlive the values of the fields.
struct ModelConfig {
  const ModelFamily* family = nullptr;
  std::vector<BroughtField> brings = {};
  std::size_t heads = 0;
  std::optional<std::size_t> start = {};  // the token that a decoder begins with, from 0
  std::vector<std::size_t> ends = {};     // those that end a text
  std::optional<bool> is_tied = {};       // whether the output layer is the embedding; nothing: it does not say
  std::size_t buckets = 0;                // of distances; 0: it does not say
  std::size_t key_heads = 0;              // 0: as many
  std::size_t head_size = 0;              // 0: d_model / heads
  std::size_t layers = 0;                 // 0: it does not say how many
  std::string window_layers = {};         // those that it names, as the field of a recipe does; empty: it names none

  /// Sets a field, in place of what is said of it so far.
  void set(std::string_view field, const FieldValue& value);
  std::deque<std::string> texts = {};
};

/// Throws InputError: no JSON, without a model_type, a family that is not known or not read, which it names, a member
/// of the wrong kind.
ModelConfig read_config(std::string_view bytes, const std::string& where);
/// The same of a config that was read, or that another kind of file says.
ModelConfig config_from(const Json& file, const std::string& where);

}  // namespace attn
