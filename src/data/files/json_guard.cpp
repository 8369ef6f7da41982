#include "data/files/json_guard.hpp"

#include <algorithm>
#include <array>

#include "support/error.hpp"

namespace attn {

namespace {

constexpr std::size_t deepest = 100;
constexpr std::size_t most_values = std::size_t{1} << 24;  // each takes 16 bytes or more once parsed
constexpr std::size_t most_members = 100'000;              // each keeps its name

// Where the string that begins at `at` ends, or the text.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at, text.size());
}

}  // namespace

std::string place_in(std::string_view text, std::size_t at, const std::string& where) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  const auto column = std::ranges::count_if(before.substr(line_begin), begins_character) + 1;
  return fmt::format("{}:{}:{}", where, std::ranges::count(before, '\n') + 1, column);
}

void refuse_monstrous_json(std::string_view text, const std::string& where) {
  std::array<std::size_t, deepest + 1> members{};
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = end_of_string(text, at);
    if (c == '[' || c == '{') {
      if (depth == deepest) {
        fail("{}: brackets are nested more than {} deep: give rows of numbers", place_in(text, at, where),
             deepest);
      }
      members[++depth] = 0;
      ++values;
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ':' && ++members[depth] > most_members) {
      fail("{}: an object has more than {} members: split it into several files", place_in(text, at, where),
           most_members);
    }
    if (c == ',' && ++values > most_values) {
      fail("{}: there are more than {} values: use an .npy file for a matrix this large",
           place_in(text, at, where), most_values);
    }
  }
}

}  // namespace attn
