#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/json.hpp"
#include "data/parameters/families.hpp"

namespace attn {

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
  std::size_t words = 0;                  // likewise
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
