#include "data/tokenizer/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "data/tokenizer/tokenizer.hpp"

namespace attn {

TokenizerSettings::TokenizerSettings(const Json& object, std::string place)
    : object_(&object), place_(std::move(place)) {
  if (!object.is_object()) fail("{}: an object in braces is expected here: get the file anew", place_);
}

const Json* TokenizerSettings::find(std::string_view name) const {
  const auto found = object_->find(std::string(name));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void TokenizerSettings::refuse(std::string_view name, std::string_view expected) const {
  fail("{}: \"{}\" must be {}: get the file anew", place_, name, expected);
}

std::string TokenizerSettings::type() const { return text_or("type", ""); }

std::string TokenizerSettings::text(std::string_view name) const {
  const Json* const value = find(name);
  if (!value || !value->is_string()) refuse(name, "a string");
  return value->get<std::string>();
}

std::string TokenizerSettings::text_or(std::string_view name, std::string_view usual) const {
  return find(name) ? text(name) : std::string(usual);
}

bool TokenizerSettings::flag_or(std::string_view name, bool usual) const {
  const Json* const value = find(name);
  if (!value) return usual;
  if (!value->is_boolean()) refuse(name, "true or false");
  return value->get<bool>();
}

std::optional<std::size_t> TokenizerSettings::count(std::string_view name) const {
  const Json* const value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number_unsigned()) refuse(name, "a whole number, 0 or more");
  return value->get<std::size_t>();
}

std::size_t TokenizerSettings::count_or(std::string_view name, std::size_t usual) const {
  return count(name).value_or(usual);
}

std::vector<TokenizerSettings> TokenizerSettings::list(std::string_view name) const {
  std::vector<TokenizerSettings> all;
  const Json* const value = find(name);
  if (!value) return all;
  if (!value->is_array()) refuse(name, "a list");
  std::size_t number = 0;
  for (const Json& element : *value) all.emplace_back(element, fmt::format("{}: \"{}\" {}", place_, name, ++number));
  return all;
}

TokenizerSettings TokenizerSettings::object(std::string_view name) const {
  const Json* const value = find(name);
  if (!value) refuse(name, "an object");
  return {*value, fmt::format("{}: \"{}\"", place_, name)};
}

void refuse_type(const TokenizerSettings& settings, std::string_view what, const std::vector<std::string>& known) {
  const std::string type = settings.type();
  if (type.empty()) settings.refuse("type", "a string");
  fail("{}: the {} '{}' is not read yet. These are: {}", settings.place(), what, shown_text(type),
       fmt::join(known, ", "));
}

}  // namespace attn
