#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/environment.hpp"
#include "command/options.hpp"
#include "problem/option_values.hpp"

namespace attn {

/// A command line after parsing: the options that were given, and the words that are no options.
struct Arguments : OptionValues {
  std::vector<std::string> words;
  std::string_view default_example = {};  // where no problem is given; empty: the first
  const Environment* environment = nullptr;

  /// The patterns of --only as one, whose alternatives are separated by |.
  std::optional<std::string> only() const;
  /// Whether only some matrices are shown, or one cell is explained, instead of the whole page.
  bool narrows() const { return has(option::only) || has(option::explain); }
  /// Shows the progress of long work.
  void tell(std::string_view stage) const;
};

}  // namespace attn
