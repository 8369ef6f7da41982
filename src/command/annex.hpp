#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "command/form.hpp"

namespace attn {

/// An annex of the program: a folder of `src` with rooms, commands, options and forms of its own. It includes the rest
/// of the program, of which nothing but the table of annexes includes it: all that is known of it is its row.
struct Annex {
  std::string_view name;     // of its folder, and of the topic of help on its options
  std::string_view summary;  // of that topic
  std::vector<Command> (*commands)();
  std::span<const Form> (*forms)();  // whose options all commands with matrices take
  const OptionGroup& (*options)();   // that go with these
};

/// All annexes, in the order of help (src/annexes.cpp).
std::span<const Annex* const> annexes();

}  // namespace attn
