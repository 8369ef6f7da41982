#include "page/document/document_outputs.hpp"

#include <algorithm>
#include <charconv>

#include "core/math/rounding.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

bool is_in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

// A number, a word, or any other single byte.
struct TextOrNumber {
  std::string_view text;
  bool number = false;
  int decimals = 0;
  int exponent = 0;
};

TextOrNumber number_of(std::string_view text) {
  TextOrNumber token;
  token.number = true;
  std::size_t end = digits_at(text, 0);
  if (end < text.size() && text[end] == '.') {
    const std::size_t decimals = digits_at(text, end + 1);
    if (decimals > 0) end += 1 + decimals;
    token.decimals = static_cast<int>(decimals);
  }
  if (end < text.size() && text[end] == 'e') {
    const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 1 : 0;
    const std::size_t digits = digits_at(text, end + 1 + sign);
    if (digits > 0 && digits < 4) {
      const char* const first = text.data() + end + 1 + (text[end + 1] == '+' ? 1 : 0);
      end += 1 + sign + digits;
      std::from_chars(first, text.data() + end, token.exponent);
    }
  }
  token.text = text.substr(0, end);
  return token;
}

TextOrNumber token_of(std::string_view text) {
  if (is_digit(text.front())) return number_of(text);
  std::size_t end = 1;
  if (is_in_name(text.front())) {
    while (end < text.size() && (is_in_name(text[end]) || is_digit(text[end]))) ++end;
  }
  TextOrNumber token;
  token.text = text.substr(0, end);
  return token;
}

double value_of(const TextOrNumber& token) {
  double value = 0.0;
  std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
  return value;
}

bool differ_in_last_bits(const TextOrNumber& one, const TextOrNumber& other) {
  return Rounding::to_part(1e-12, 0.0).same(value_of(one), value_of(other));
}

bool differ_in_last_digit(const TextOrNumber& one, const TextOrNumber& other) {
  // Only a number that is written out to its last bits is that long.
  constexpr std::size_t longest_rounded = 12;
  const bool exact = std::max(one.text.size(), other.text.size()) > longest_rounded;
  if (exact && differ_in_last_bits(one, other)) return true;
  const bool printed_alike = one.decimals == other.decimals && one.exponent == other.exponent;
  const Rounding rounding = Rounding::to_decimals(one.decimals - one.exponent).of_both();
  return printed_alike && one.decimals > 0 && rounding.same(value_of(one), value_of(other));
}

// Whether the texts are the same except for numbers that differ no more than this.
bool same_but_for_numbers(std::string_view one, std::string_view other,
                          bool (*may_differ)(const TextOrNumber& one, const TextOrNumber& other)) {
  while (!one.empty() && !other.empty()) {
    const TextOrNumber a = token_of(one), b = token_of(other);
    const bool same = a.text == b.text || (a.number && b.number && may_differ(a, b));
    if (!same) return false;
    one.remove_prefix(a.text.size());
    other.remove_prefix(b.text.size());
  }
  return one.empty() && other.empty();
}

// For both texts how many lines at their beginning are alike, or at their end.
template <class Lines>
std::size_t alike_beginning(const Lines& one, const Lines& other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other, is_same_output).in1 - one.begin());
}

// Length of the longest common sequence of the lines from i and from j on: the classical table.
class CommonLines {
 public:
  CommonLines(std::vector<std::string> one, std::vector<std::string> other)
      : one_(std::move(one)), other_(std::move(other)), width_(other_.size() + 1) {
    constexpr std::size_t most = std::size_t{1} << 22;
    if ((one_.size() + 1) > most / width_) return;
    table_.resize((one_.size() + 1) * width_);
    for (std::size_t i = one_.size(); i-- > 0;) {
      for (std::size_t j = other_.size(); j-- > 0;) {
        length(i, j) = is_same_output(one_[i], other_[j]) ? length(i + 1, j + 1) + 1
                                                          : std::max(length(i + 1, j), length(i, j + 1));
      }
    }
  }

  std::vector<std::string> marked() {
    std::vector<std::string> lines;
    std::size_t i = 0, j = 0;
    while (i < one_.size() || j < other_.size()) {
      if (i < one_.size() && j < other_.size() && !table_.empty() && is_same_output(one_[i], other_[j])) {
        lines.push_back("  " + one_[i++]);
        ++j;
      } else if (i < one_.size() && (j == other_.size() || table_.empty() || length(i + 1, j) >= length(i, j + 1))) {
        lines.push_back("- " + one_[i++]);
      } else {
        lines.push_back("+ " + other_[j++]);
      }
    }
    return lines;
  }

 private:
  std::size_t& length(std::size_t i, std::size_t j) { return table_[i * width_ + j]; }

  std::vector<std::string> one_, other_;
  std::size_t width_;
  std::vector<std::size_t> table_;  // empty: too long to compare, and all of it differs
};

// Only the lines near a change.
std::vector<std::string> lines_near_changes(const std::vector<std::string>& lines) {
  constexpr std::size_t around = 3;
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, around));
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(std::min(i + around + 1, lines.size()));
    const bool near = std::any_of(begin, end, [](const std::string& line) { return line.front() != ' '; });
    if (near) {
      kept.push_back(lines[i]);
    } else if (kept.empty() || kept.back() != "  …") {
      kept.emplace_back("  …");
    }
  }
  return kept;
}

}  // namespace

bool is_same_output(std::string_view one, std::string_view other) {
  return same_but_for_numbers(one, other, differ_in_last_digit);
}

bool alike_at_full_precision(std::string_view one, std::string_view other) {
  return same_but_for_numbers(one, other, differ_in_last_bits);
}

std::vector<std::string> line_difference(const std::vector<std::string>& old_lines,
                                         const std::vector<std::string>& new_lines) {
  const std::size_t begin = alike_beginning(old_lines, new_lines);
  const auto from = static_cast<std::ptrdiff_t>(begin);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < begin; ++i) all.push_back("  " + old_lines[i]);
  CommonLines common({old_lines.begin() + from, old_lines.end()}, {new_lines.begin() + from, new_lines.end()});
  for (std::string& line : common.marked()) all.push_back(std::move(line));
  return lines_near_changes(all);
}

}  // namespace attn
