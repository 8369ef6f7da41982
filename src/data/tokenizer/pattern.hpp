#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/aligned.hpp"

namespace attn {

/// A part of a text that a pattern matches, or that lies between two of these.
struct PatternPart {
  ByteRange range;
  bool is_match = false;
};

/// Finds the parts of a text: all of it, in order. Throws InputError: an expression that takes too many steps.
using FindParts = std::function<std::vector<PatternPart>(std::string_view text)>;

/// Where a regular expression of a file matches. It is read by PCRE2, with the meaning of \s and \w that they have in
/// Unicode; how many steps it may take grows with the text. Throws InputError, which names `where`: no expression.
FindParts parts_by_expression(const std::string& expression, const std::string& where);
/// The version of PCRE2.
std::string version_of_expressions();
/// Where a text stands.
FindParts parts_by_text(std::string text);
/// Each character for which this holds.
FindParts parts_by_character(std::function<bool(char32_t)> holds);
/// What others match as what lies between, and the other way round.
FindParts inverted(FindParts find);

/// What becomes of the matches where a text is split.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// The ranges into which a text falls.
std::vector<ByteRange> split_ranges(const std::vector<PatternPart>& parts, SplitBehavior behavior);

/// The ranges of the matches alone.
std::vector<ByteRange> matches_of(const std::vector<PatternPart>& parts);

}  // namespace attn
