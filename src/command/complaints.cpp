#include "command/complaints.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "data/files/json.hpp"

namespace attn {
namespace {

constexpr std::string_view json_format = "json";

std::string as_line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json known(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

bool asks_for_json(std::span<char* const> line) {
  const std::string_view name = option::format.name;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view word = line[i];
    if (word == name && i + 1 < line.size() && line[i + 1] == json_format) return true;
    if (word.starts_with(name) && word.substr(name.size()).starts_with('=') &&
        word.substr(name.size() + 1) == json_format)
      return true;
  }
  return false;
}

std::string error_as_json(std::string_view sentence, const About& about, const ExitCode& code) {
  Json error;
  error["message"] = std::string(sentence);
  error["exit_code"] = code.code;
  error["option"] = known(about.option);
  error["file"] = known(about.file);
  error["hint"] = known(about.hint);
  return as_line({{"error", std::move(error)}});
}

std::string sentence_as_json(std::string_view kind, std::string_view sentence) {
  return as_line({{std::string(kind), {{"message", std::string(sentence)}}}});
}

}  // namespace attn
