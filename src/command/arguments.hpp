#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/environment.hpp"
#include "problem/request.hpp"

namespace attn {

/// A command line after parsing.
struct Arguments {
  std::vector<std::string> words;                           // what is not an option
  Request request;                                          // the fields of the problem
  std::string_view default_example = {};                    // where no problem is given; empty: the first
  std::map<std::string, std::string, std::less<>> options;  // the other options, by name without dashes
  const Environment* environment = nullptr;

  bool has(std::string_view option) const { return options.contains(option); }
  std::optional<std::string> text(std::string_view option) const;
  /// Tells whoever waits what long work is at.
  void tell(std::string_view stage) const;
  /// Throws InputError unless it is a whole number from `least` to `most`.
  std::optional<std::size_t> count(std::string_view option, std::size_t least, std::size_t most) const;
  /// Throws InputError when both options are given, each of which would make the other one idle.
  void exclude(std::string_view one, std::string_view other) const;
};

}  // namespace attn
