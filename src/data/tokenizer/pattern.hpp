#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "data/tokenizer/aligned_text.hpp"

namespace attn {

/// A part of a text that a pattern matches, or that lies between two of these.
struct PatternPart {
  ByteRange range;
  bool is_match = false;
};

using TakePart = std::function<void(const PatternPart& part)>;

/// Finds the parts of a text, and hands them on: all of it, in order. What it takes is counted as work, which grows
/// with the text. Throws InputError: an expression that takes too much of it.
using FindParts = std::function<void(std::string_view text, const TakePart& take)>;

/// Where a regular expression of a file matches. It is read by PCRE2, with the meaning of \s and \w that they have in
/// Unicode. Throws InputError, which names `where`: no expression.
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

/// Hands on the ranges into which a text falls, in order.
void split_text(std::string_view text, const FindParts& find, SplitBehavior behavior,
                const std::function<void(ByteRange)>& take);

/// Puts a text in the place of each match.
void replace_matches(AlignedText& text, const FindParts& find, std::string_view by);

}  // namespace attn
