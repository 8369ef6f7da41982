#include "data/tokenizer/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/support/error.hpp"

namespace attn {

// --- expressions

namespace {

// Inside of brackets.
constexpr std::string_view white_space_class = R"(\x09-\x0D\x{85}\p{Z})";
constexpr std::string_view word_class =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";

// PCRE2 takes \s, \w and \d for somewhat other characters than the libraries that tokenizers are written with: here
// they are what Unicode Technical Standard 18 says. Within brackets, the opposites stay what PCRE2 takes them for.
std::string in_words_of_pcre2(std::string_view expression) {
  std::string result;
  bool is_in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    if (c == '\\' && at + 1 < expression.size()) {
      const char what = expression[++at];
      const std::string_view of = what == 's' || what == 'S'   ? white_space_class
                                  : what == 'w' || what == 'W' ? word_class
                                  : what == 'd' || what == 'D' ? std::string_view(R"(\p{Nd})")
                                                               : std::string_view();
      const bool is_opposite = what == 'S' || what == 'W' || what == 'D';
      if (of.empty() || (is_in_class && is_opposite)) {
        result += c;
        result += what;
      } else if (is_in_class) {
        result += of;
      } else {
        result.append(is_opposite ? "[^" : "[").append(of) += ']';
      }
      continue;
    }
    if (c == '[' && !is_in_class) {
      is_in_class = true;
      // A bracket that closes right after the one that opens stands for itself.
      result += c;
      if (at + 1 < expression.size() && expression[at + 1] == '^') result += expression[++at];
      if (at + 1 < expression.size() && expression[at + 1] == ']') result += expression[++at];
      continue;
    }
    if (c == '[' && expression.substr(at).starts_with("[:")) {
      const std::size_t end = expression.find(":]", at);
      if (end != std::string_view::npos) {
        result += expression.substr(at, end + 2 - at);
        at = end + 1;
        continue;
      }
    }
    if (c == ']') is_in_class = false;
    result += c;
  }
  return result;
}

struct FreePcre2 {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

constexpr std::size_t longest_expression = 100'000;
// A search may take few steps at first, and if these do not suffice more and more, up to what the text allows in all of
// them together. What was in vain is counted. So the time grows with the text, whatever the expression is.
constexpr std::uint32_t first_steps = 2000, more_steps = 8;
constexpr std::size_t steps_for_byte = 64, steps_for_text = 10'000'000;
constexpr std::uint32_t most_memory = 64 * 1024;  // KiB

std::shared_ptr<const pcre2_code> compiled_expression(const std::string& expression, const std::string& where) {
  if (expression.size() > longest_expression) {
    fail("{}: a regular expression has more than {} characters: this is no file of a tokenizer", where,
         longest_expression);
  }
  const std::string text = in_words_of_pcre2(expression);
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* const code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                                         PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr);
  if (!code) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    fail("{}: the regular expression '{}' cannot be read: {}. Get the file anew", where, expression,
         reinterpret_cast<const char*>(message.data()));
  }
  return {code, FreePcre2()};
}

std::vector<PatternPart> parts_that_match(const pcre2_code* code, std::string_view text, const std::string& where) {
  const std::unique_ptr<pcre2_match_data, FreePcre2> data(pcre2_match_data_create(1, nullptr));
  const std::unique_ptr<pcre2_match_context, FreePcre2> context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw std::bad_alloc();
  pcre2_set_heap_limit(context.get(), most_memory);
  std::vector<PatternPart> parts;
  const std::size_t most_steps = steps_for_text + steps_for_byte * text.size();
  std::size_t begin = 0, from = 0, in_vain = 0;
  std::uint32_t steps = first_steps;
  while (from <= text.size()) {
    pcre2_set_match_limit(context.get(), steps);
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                  PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found == PCRE2_ERROR_MATCHLIMIT && (in_vain += steps) <= most_steps) {
      steps *= more_steps;
      continue;
    }
    steps = first_steps;
    if (found < 0) {
      fail("{}: a regular expression takes too many steps on this text: give a shorter text, or another tokenizer",
           where);
    }
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data.get());
    const std::size_t match_begin = ends[0], match_end = ends[1];
    // An empty match splits the text as well, unless it follows another match.
    const bool splits = match_end > match_begin || (match_end == match_begin && match_begin > begin);
    if (splits && match_begin >= begin) {
      if (match_begin > begin) parts.push_back({{begin, match_begin}, false});
      parts.push_back({{match_begin, match_end}, true});
      begin = match_end;
    }
    // Behind an empty match the search goes on with the next character.
    const std::size_t next = std::max(match_end, from);
    from = next > from ? next : from + (from < text.size() ? code_point_at(text, from).size : 1);
  }
  if (begin < text.size()) parts.push_back({{begin, text.size()}, false});
  return parts;
}

}  // namespace

FindParts parts_by_expression(const std::string& expression, const std::string& where) {
  return [code = compiled_expression(expression, where), where](std::string_view text) {
    return parts_that_match(code.get(), text, where);
  };
}

FindParts parts_by_text(std::string what) {
  return [what = std::move(what)](std::string_view text) {
    std::vector<PatternPart> parts;
    std::size_t begin = 0;
    while (!what.empty()) {
      const std::size_t at = text.find(what, begin);
      if (at == std::string_view::npos) break;
      if (at > begin) parts.push_back({{begin, at}, false});
      begin = at + what.size();
      parts.push_back({{at, begin}, true});
    }
    if (begin < text.size()) parts.push_back({{begin, text.size()}, false});
    return parts;
  };
}

FindParts parts_by_character(std::function<bool(char32_t)> holds) {
  return [holds = std::move(holds)](std::string_view text) {
    std::vector<PatternPart> parts;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto [code, size] = code_point_at(text, at);
      if (holds(code)) {
        if (at > begin) parts.push_back({{begin, at}, false});
        begin = at + size;
        parts.push_back({{at, begin}, true});
      }
      at += size;
    }
    if (begin < text.size()) parts.push_back({{begin, text.size()}, false});
    return parts;
  };
}

FindParts inverted(FindParts find) {
  return [find = std::move(find)](std::string_view text) {
    std::vector<PatternPart> parts = find(text);
    for (PatternPart& part : parts) part.is_match = !part.is_match;
    return parts;
  };
}

std::string version_of_expressions() {
  std::array<char, 64> version{};
  pcre2_config(PCRE2_CONFIG_VERSION, version.data());
  return version.data();
}

// --- splitting

std::vector<ByteRange> split_ranges(const std::vector<PatternPart>& parts, SplitBehavior behavior) {
  std::vector<ByteRange> ranges;
  bool was_match = false;
  switch (behavior) {
    case SplitBehavior::removed:
      for (const PatternPart& part : parts) {
        if (!part.is_match) ranges.push_back(part.range);
      }
      break;
    case SplitBehavior::isolated:
      for (const PatternPart& part : parts) ranges.push_back(part.range);
      break;
    case SplitBehavior::contiguous:
    case SplitBehavior::merged_with_previous:
      for (const PatternPart& part : parts) {
        const bool joins =
            behavior == SplitBehavior::contiguous ? part.is_match == was_match : part.is_match && !was_match;
        if (joins && !ranges.empty()) {
          ranges.back().end = part.range.end;
        } else {
          ranges.push_back(part.range);
        }
        was_match = part.is_match;
      }
      break;
    case SplitBehavior::merged_with_next:
      for (std::size_t i = parts.size(); i-- > 0;) {
        if (parts[i].is_match && !was_match && !ranges.empty()) {
          ranges.back().begin = parts[i].range.begin;
        } else {
          ranges.push_back(parts[i].range);
        }
        was_match = parts[i].is_match;
      }
      std::ranges::reverse(ranges);
      break;
  }
  return ranges;
}

std::vector<ByteRange> matches_of(const std::vector<PatternPart>& parts) {
  std::vector<ByteRange> ranges;
  for (const PatternPart& part : parts) {
    if (part.is_match) ranges.push_back(part.range);
  }
  return ranges;
}

}  // namespace attn
