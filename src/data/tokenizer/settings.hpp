#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/json.hpp"

namespace attn {

/// An object of a tokenizer.json, and where it stands there, as messages tell it: `tokenizer.json: "normalizer"`.
class TokenizerSettings {
 public:
  /// Throws InputError: no object.
  TokenizerSettings(const Json& object, std::string place);

  const std::string& place() const { return place_; }
  /// Of the member "type"; empty: there is none.
  std::string type() const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Json* find(std::string_view name) const;  // null: there is none, or it is null

  // A member, or what stands for one that is not there. Throw InputError: it is of another kind, or is needed.
  std::string text(std::string_view name) const;
  std::string text_or(std::string_view name, std::string_view usual) const;
  bool flag_or(std::string_view name, bool usual) const;
  std::size_t count_or(std::string_view name, std::size_t usual) const;
  std::optional<std::size_t> count(std::string_view name) const;
  /// The objects of a list; none where it is not there.
  std::vector<TokenizerSettings> list(std::string_view name) const;
  TokenizerSettings object(std::string_view name) const;

  [[noreturn]] void refuse(std::string_view name, std::string_view expected) const;

 private:
  const Json* object_;
  std::string place_;
};

/// Throws InputError: what is not read yet is named, and nothing is guessed.
[[noreturn]] void refuse_type(const TokenizerSettings& settings, std::string_view what,
                              const std::vector<std::string>& known);

}  // namespace attn
