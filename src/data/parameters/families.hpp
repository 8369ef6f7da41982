#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/files/json.hpp"
#include "data/parameters/layout.hpp"

namespace attn {

struct ModelConfig;

/// A member of a config.json, and the field of a recipe that it sets.
struct ConfigField {
  std::string_view key;      // "rms_norm_eps"
  const RecipeField* field;  // null: the meaning sets what there is to set
  /// What the member means there; null: it is the value itself. What is made of it for that is kept in the config.
  /// Throws InputError for a value that is not read yet.
  FieldValue (*meaning)(const JsonMember& member, ModelConfig& config) = nullptr;
  /// What null means there; nothing: that it is not said.
  FieldValue of_null = {};
  /// Where it is an object: the members that are understood, of objects in it as well.
  std::span<const std::string_view> members = {};
};

/// A member of a config.json that is a size, and where the config keeps it. Tensors tell most sizes as well, and both
/// must agree.
struct ConfigSize {
  std::string_view key;  // "hidden_size"
  std::size_t ModelConfig::*size;
  std::uint64_t most = 65536;
};

/// Which biases linear layers have, where the family or the config says it; nothing: the tensors tell it.
struct SaidBiases {
  std::optional<bool> of_queries = {};  // and of keys and values
  std::optional<bool> of_attention_output = {};
  std::optional<bool> of_feed_forward = {};
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
  std::string_view recipe = {};               // what all its models have, by the name that it has in layouts.txt
  std::span<const ConfigField> fields = {};   // what config.json says
  std::string_view unread = {};               // what of it is not read: "experts"; empty: it is read
  LayersWithWindow windows = {};
  std::span<const std::string_view> without_effect = {};  // members that change no number, beside those of all families
  SaidBiases biases = {};                                 // of all its models
  std::span<const ConfigSize> sizes = {};                 // in place of those of all families
  std::span<const ImpliedField> brings = {};              // its recipe, as it is read of layouts.txt
};

/// gpt2, … A new one is a row, and in layouts.txt the names of its tensors and its recipe. The row itself is no text,
/// since most of what a config.json says is read by a function.
std::span<const ModelFamily> model_families();

// The rows of each kind.
std::span<const ModelFamily> families_of_decoders();
std::span<const ModelFamily> families_of_encoders();
std::span<const ModelFamily> families_of_encoder_decoders();
std::span<const ModelFamily> families_not_read();

}  // namespace attn
