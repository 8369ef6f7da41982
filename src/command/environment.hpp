#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "command/long_work.hpp"
#include "render/style.hpp"

namespace attn {

/// The world around the program, as far as it decides what a command says and how it looks.
struct Environment {
  std::function<std::optional<std::string>(const char*)> variable;
  bool output_is_terminal = false;
  bool input_is_terminal = false;
  std::size_t terminal_width = 0;                   // of standard output; 0: unknown
  std::function<std::optional<Rgb>()> ground = {};  // what the terminal says of its background
  std::function<std::uint32_t()> new_seed = {};     // another one each time; empty: there is none
  LongWork* work = nullptr;                         // for work that may take long; null: nobody waits
};

}  // namespace attn
