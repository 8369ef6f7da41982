#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lesson/place.hpp"
#include "lesson/run.hpp"

namespace attn {

/// What stands behind the word `attn` of a block.
struct Attributes {
  BlockStyle style;
  bool fails = false;               // an error is expected, and its sentence is the output
  bool hidden = false;              // the command lines are not shown where a lesson is taken
  std::vector<std::string> covers;  // lines of the checklist that its first command shows
};

/// Reads `format=markdown width=60 fails` and the like. Throws InputError with the place.
Attributes attributes_of(std::string_view text, const Place& place);

/// The words between commas or blanks.
std::vector<std::string> parted(std::string_view text, std::string_view separators);

}  // namespace attn
