#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/json.hpp"
#include "data/parameters/families.hpp"

namespace attn {

/// The members of a config, by what becomes of them: read or compared with the tensors; known to change no number; of
/// the tokenizer, which is read for itself; or none of these.
struct ConfigKeys {
  std::vector<std::string> used = {}, without_effect = {}, of_tokenizer = {}, unknown = {};
  std::string_view of = "config";  // what has them
};

/// What a config.json says. Its texts outlive the values of the fields.
struct ModelConfig {
  const ModelFamily* family = nullptr;
  std::vector<ImpliedField> brings = {};
  std::size_t heads = 0;
  std::optional<std::size_t> start = {};  // the token that a decoder begins with, from 0
  std::vector<std::size_t> ends = {};     // those that end a text
  std::optional<bool> is_tied = {};       // whether the output layer is the embedding; nothing: it does not say
  std::size_t buckets = 0;                // of distances; 0: it does not say
  std::size_t key_heads = 0;              // 0: as many
  std::size_t head_size = 0;              // 0: d_model / heads
  std::size_t layers = 0;                 // 0: it does not say how many
  std::size_t decoder_layers = 0;         // behind an encoder
  std::size_t words = 0;                  // likewise, as all sizes below
  std::size_t d_model = 0;
  std::size_t d_ff = 0;
  std::size_t places = 0;        // rows of the table of learned positions
  std::size_t longest_text = 0;  // the same without rows before the first word
  std::size_t types = 0;         // of tokens
  std::size_t image = 0;         // pixels of a side
  std::size_t channels = 0;      // of an image
  std::size_t patch = 0;         // numbers of a patch
  SaidBiases biases = {};
  ConfigKeys keys = {};
  std::string window_layers = {};  // those that it names, as the field of a recipe does; empty: it names none

  /// Sets a field, in place of what is said of it so far.
  void set(const RecipeField& field, const FieldValue& value);
  std::deque<std::string> texts = {};
};

/// Throws InputError: no JSON, without a model_type, a family that is not known or not read, which it names, a member
/// of the wrong kind.
ModelConfig read_config(std::string_view bytes, const std::string& where);
/// What sentences call a member, where another kind of file says it by a name of its own.
using MemberNames = std::map<std::string, std::string, std::less<>>;
/// The same of a config that was read, or that another kind of file says.
ModelConfig config_from(const Json& file, const std::string& where, const MemberNames& called = {});

}  // namespace attn
