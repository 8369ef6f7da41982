#include "data/tokenizer/pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "core/support/error.hpp"
#include "core/support/utf8.hpp"

namespace attn {

namespace {

// --- expressions

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
constexpr std::uint32_t most_memory = 64 * 1024;  // KiB

// A step of PCRE2, and a character that it passes over.
constexpr std::uint64_t work_of_step = 32;
// How much an expression may take of a text.
constexpr std::uint64_t work_for_text = 100'000'000, work_for_byte = 5'000;

// What PCRE2 looks at is bounded by how much of the text it is given, and its steps by a limit. Both are small for
// words; where they do not suffice, a call counts.
constexpr std::size_t first_window = 16, most_window = 512;
constexpr std::uint32_t first_steps = 2, more_steps = 4, most_steps = 128;

// An expression, and the same with a call to us before each of its parts.
struct Expression {
  std::shared_ptr<const pcre2_code> code, counted;
  std::size_t unseen = 0;  // characters that it may pass over with no call
  bool is_anchored = false;
};

std::shared_ptr<const pcre2_code> compiled(const std::string& text, std::uint32_t options, const std::string& shown,
                                           const std::string& where) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | options, &error, &at, nullptr);
  if (!code) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    fail("{}: the regular expression '{}' cannot be read: {}. Get the file anew", where, shown,
         reinterpret_cast<const char*>(message.data()));
  }
  return {code, FreePcre2()};
}

// A part such as \p{L}{9} that fails passes over some characters before it does, and so does one that compares with
// what another has matched.
std::size_t unseen_in(std::string_view expression, const pcre2_code& code) {
  std::uint32_t last_group = 0;
  pcre2_pattern_info(&code, PCRE2_INFO_BACKREFMAX, &last_group);
  if (last_group > 0) return std::numeric_limits<std::size_t>::max();
  std::size_t most = 1;
  for (std::size_t at = 0; (at = expression.find('{', at)) != std::string_view::npos; ++at) {
    std::size_t number = 0;
    std::from_chars(expression.data() + at + 1, expression.data() + expression.size(), number);
    most = std::max(most, number);
  }
  return most;
}

Expression read_expression(const std::string& expression, const std::string& where) {
  if (expression.size() > longest_expression) {
    fail("{}: a regular expression has more than {} characters: this is no file of a tokenizer", where,
         longest_expression);
  }
  const std::string text = in_words_of_pcre2(expression);
  Expression read{.code = compiled(text, 0, expression, where),
                  .counted = compiled(text, PCRE2_AUTO_CALLOUT, expression, where)};
  read.unseen = unseen_in(text, *read.code);
  std::uint32_t options = 0;
  pcre2_pattern_info(read.code.get(), PCRE2_INFO_ALLOPTIONS, &options);
  read.is_anchored = (options & PCRE2_ANCHORED) != 0;
  return read;
}

// The matches of an expression in a text, one after the other.
class ExpressionSearch {
 public:
  ExpressionSearch(const Expression& expression, std::string_view text, const std::string& where)
      : expression_(expression),
        text_(text),
        where_(where),
        left_(work_for_text + work_for_byte * text.size()),
        data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (!data_ || !context_) throw std::bad_alloc();
    pcre2_set_heap_limit(context_.get(), most_memory);
  }

  // The next match from a byte on.
  std::optional<ByteRange> next(std::size_t from) {
    std::size_t window = first_window;
    while (window <= most_window && steps_ <= most_steps) {
      std::size_t end = std::min(text_.size(), from + window);
      while (end < text_.size() && continues_character(text_[end])) ++end;
      const bool is_all = end == text_.size();
      pcre2_set_match_limit(context_.get(), steps_);
      // A part of the text is enough where the match is found before its end is looked at.
      const int found = matched(*expression_.code, end, from, is_all ? 0 : PCRE2_PARTIAL_HARD);
      const ByteRange range = ends();
      const bool is_there = found >= 0 && (is_all || range.begin < end);
      const std::size_t last = found == PCRE2_ERROR_PARTIAL || is_there ? std::max(range.begin, from) : end;
      take_work((last - from + 1) * steps_ * (work_of_step + (end - from)));
      if (found == PCRE2_ERROR_MATCHLIMIT) {
        steps_ *= more_steps;
        easy_ = 0;
        continue;
      }
      require_no_error(found);
      if (is_there) return found_with_few_steps(range);
      if (found == PCRE2_ERROR_NOMATCH && (is_all || expression_.is_anchored)) return std::nullopt;
      if (found == PCRE2_ERROR_NOMATCH) {
        from = end;
        window = first_window;
      } else {
        if (found == PCRE2_ERROR_PARTIAL) from = last;
        window = 2 * (end - from + 1);
      }
    }
    steps_ = first_steps;
    return counted(from);
  }

 private:
  int matched(const pcre2_code& code, std::size_t end, std::size_t from, std::uint32_t options) {
    return pcre2_match(&code, reinterpret_cast<PCRE2_SPTR>(text_.data()), end, from, PCRE2_NO_UTF_CHECK | options,
                       data_.get(), context_.get());
  }

  ByteRange ends() const {
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data_.get());
    return {ends[0], ends[1]};
  }

  // What the last match has needed may be too much for the next ones.
  ByteRange found_with_few_steps(ByteRange range) {
    constexpr std::size_t enough = 64;
    if (++easy_ == enough) {
      steps_ = std::max(first_steps, steps_ / more_steps);
      easy_ = 0;
    }
    return range;
  }

  // The calls of a counted match.
  struct Calls {
    std::uint64_t left, work = 0;
    std::size_t at = 0, unseen = 0;
  };
  static int call(pcre2_callout_block* block, void* data) {
    Calls& calls = *static_cast<Calls*>(data);
    const std::size_t at = block->current_position;
    const std::size_t passed = at > calls.at ? at - calls.at : 0;
    const std::size_t ahead = block->subject_length - at;
    calls.work += work_of_step + passed + std::min(calls.unseen, ahead);
    calls.at = at;
    return calls.work > calls.left ? PCRE2_ERROR_CALLOUT : 0;
  }

  std::optional<ByteRange> counted(std::size_t from) {
    constexpr std::uint32_t no_limit = std::numeric_limits<std::uint32_t>::max();
    Calls calls{.left = std::min(left_, Budget::reading_left()), .at = from, .unseen = expression_.unseen};
    pcre2_set_match_limit(context_.get(), no_limit);
    pcre2_set_callout(context_.get(), call, &calls);
    const int found = matched(*expression_.counted, text_.size(), from, 0);
    pcre2_set_callout(context_.get(), nullptr, nullptr);
    take_work(calls.work);
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    require_no_error(found);
    return ends();
  }

  void take_work(std::uint64_t work) {
    Budget::take_reading(work);
    if (work > left_) refuse();
    left_ -= work;
  }

  void require_no_error(int found) const {
    if (found < 0 && found != PCRE2_ERROR_NOMATCH && found != PCRE2_ERROR_PARTIAL) refuse();
  }

  [[noreturn]] void refuse() const {
    fail("{}: a regular expression takes too many steps on this text: give a shorter text, or another tokenizer",
         where_);
  }

  const Expression& expression_;
  std::string_view text_;
  const std::string& where_;
  std::uint64_t left_;
  std::unique_ptr<pcre2_match_data, FreePcre2> data_;
  std::unique_ptr<pcre2_match_context, FreePcre2> context_;
  std::uint32_t steps_ = first_steps;
  std::size_t easy_ = 0;  // matches that steps_ was enough for
};

void find_matches(const Expression& expression, std::string_view text, const std::string& where, const TakePart& take) {
  ExpressionSearch search(expression, text, where);
  std::size_t begin = 0, from = 0;
  while (from <= text.size()) {
    const std::optional<ByteRange> match = search.next(from);
    if (!match) break;
    // An empty match splits the text as well, unless it follows another match.
    const bool splits = match->end > match->begin || (match->end == match->begin && match->begin > begin);
    if (splits && match->begin >= begin) {
      if (match->begin > begin) take({{begin, match->begin}, false});
      take({*match, true});
      begin = match->end;
    }
    // Behind an empty match the search goes on with the next character.
    const std::size_t next = std::max(match->end, from);
    from = next > from ? next : from + (from < text.size() ? code_point_at(text, from).size : 1);
  }
  if (begin < text.size()) take({{begin, text.size()}, false});
}

// To look at each character once.
constexpr std::uint64_t work_of_looking = 4;

// --- splitting

// Whether a part goes on with the range before it; of the two, the one behind stands first here.
bool joins_range_before(SplitBehavior behavior, bool is_match, bool was_match) {
  switch (behavior) {
    case SplitBehavior::contiguous:
      return is_match == was_match;
    case SplitBehavior::merged_with_previous:
      return is_match && !was_match;
    case SplitBehavior::merged_with_next:
      return !is_match && was_match;
    default:
      return false;
  }
}

}  // namespace

// --- expressions

FindParts parts_by_expression(const std::string& expression, const std::string& where) {
  return [read = read_expression(expression, where), where](std::string_view text, const TakePart& take) {
    find_matches(read, text, where, take);
  };
}

FindParts parts_by_text(std::string what) {
  return [what = std::move(what)](std::string_view text, const TakePart& take) {
    Budget::take_reading(work_of_looking * text.size());
    std::size_t begin = 0;
    while (!what.empty()) {
      const std::size_t at = text.find(what, begin);
      if (at == std::string_view::npos) break;
      if (at > begin) take({{begin, at}, false});
      begin = at + what.size();
      take({{at, begin}, true});
    }
    if (begin < text.size()) take({{begin, text.size()}, false});
  };
}

FindParts parts_by_character(std::function<bool(char32_t)> holds) {
  return [holds = std::move(holds)](std::string_view text, const TakePart& take) {
    Budget::take_reading(work_of_looking * text.size());
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto [code, size] = code_point_at(text, at);
      if (holds(code)) {
        if (at > begin) take({{begin, at}, false});
        begin = at + size;
        take({{at, begin}, true});
      }
      at += size;
    }
    if (begin < text.size()) take({{begin, text.size()}, false});
  };
}

FindParts inverted(FindParts find) {
  return [find = std::move(find)](std::string_view text, const TakePart& take) {
    find(text, [&](const PatternPart& part) { take({part.range, !part.is_match}); });
  };
}

std::string version_of_expressions() {
  std::array<char, 64> version{};
  pcre2_config(PCRE2_CONFIG_VERSION, version.data());
  return version.data();
}

// --- splitting

void split_text(std::string_view text, const FindParts& find, SplitBehavior behavior,
                const std::function<void(ByteRange)>& take) {
  std::optional<ByteRange> pending;
  bool was_match = false;
  find(text, [&](const PatternPart& part) {
    if (behavior == SplitBehavior::removed && part.is_match) return;
    if (pending && joins_range_before(behavior, part.is_match, was_match)) {
      pending->end = part.range.end;
    } else {
      if (pending) take(*pending);
      pending = part.range;
    }
    was_match = part.is_match;
  });
  if (pending) take(*pending);
}

void replace_matches(AlignedText& text, const FindParts& find, std::string_view by) {
  text.replace(
      [&](const AlignedText::TakeRange& take) {
        find(text.text(), [&](const PatternPart& part) {
          if (part.is_match) take(part.range);
        });
      },
      by);
}

}  // namespace attn
