#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "page/page.hpp"
#include "render/style.hpp"

namespace attn {

/// How a block asks for its output; what is not given is text of 80 columns and 4 decimals.
struct BlockStyle {
  std::optional<std::string> format;
  std::optional<std::size_t> width;
  std::optional<int> precision;
};

/// What a command line has said.
struct Ran {
  std::string text;
  std::string_view format;           // that the text is in
  std::shared_ptr<const Page> page;  // and the computation behind it
  Style style = {};                  // that it was written in
  std::size_t width = 0;             // that the command itself asked for; 0: none
};

/// Runs the words of a command line as the program would, always in the same style: no color, no terminal.
/// Nothing is written. Throws InputError. Handed in by the commands, which the lessons do not know.
using Run = std::function<Ran(const std::vector<std::string>& words, const BlockStyle& style)>;

}  // namespace attn
