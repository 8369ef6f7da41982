#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// Whether a sign may stand in a name.
inline bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// C++ with blanks in place of comments and of what stands in quotes; and the texts in quotes, each with its place.
struct Code {
  std::string text;
  std::vector<std::pair<std::size_t, std::string>> quoted = {};
};

inline Code code_of(std::string_view text) {
  Code code = {std::string(text)};
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (code.text[i] != '\n') code.text[i] = ' ';
    }
  };
  // As in 1'000, and not in U'x'.
  const auto parts_digits = [&](std::size_t at) {
    while (at > 0 && is_of_name(text[at - 1])) --at;
    return text[at] >= '0' && text[at] <= '9';
  };
  for (std::size_t at = text.find_first_of("/\"'"), end = 0; at < text.size(); at = text.find_first_of("/\"'", end)) {
    const std::string_view rest = text.substr(at);
    end = at + 1;
    if (rest.starts_with("//")) {
      end = std::min(text.find('\n', at), text.size());
      blank(at, end);
    } else if (rest.starts_with("/*")) {
      end = std::min(text.find("*/", at), text.size() - 2) + 2;
      blank(at, end);
    } else if (rest.front() == '"' && at > 0 && text[at - 1] == 'R') {
      const std::size_t open = text.find('(', at);
      const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
      end = std::min(text.find(close, open), text.size() - close.size()) + close.size();
      code.quoted.emplace_back(at, text.substr(open + 1, end - close.size() - open - 1));
      blank(at + 1, end - 1);
    } else if (rest.front() == '"' || (rest.front() == '\'' && !parts_digits(at))) {
      while (end < text.size() && text[end] != rest.front()) end += text[end] == '\\' ? 2U : 1U;
      end = std::min(end + 1, text.size());
      if (rest.front() == '"') code.quoted.emplace_back(at, text.substr(at + 1, end - at - 2));
      blank(at + 1, end - 1);
    }
  }
  return code;
}

}  // namespace attn
