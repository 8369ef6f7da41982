#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "golden.hpp"
#include "process.hpp"

namespace {

// A number, a run of letters, or any other single byte.
struct Token {
  std::string_view text;
  bool number = false;
  std::size_t decimals = 0;  // digits after the point
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::size_t digits_from(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

Token number_at(std::string_view text) {
  Token token{.number = true};
  std::size_t end = digits_from(text, 0);
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    token.decimals = digits_from(text, end + 1);
    end += 1 + token.decimals;
  }
  if (end + 1 < text.size() && text[end] == 'e') {
    const std::size_t sign = text[end + 1] == '-' || text[end + 1] == '+' ? 1 : 0;
    const std::size_t exponent = digits_from(text, end + 1 + sign);
    if (exponent > 0) end += 1 + sign + exponent;
  }
  token.text = text.substr(0, end);
  return token;
}

Token token_at(std::string_view text) {
  if (is_digit(text.front())) return number_at(text);
  std::size_t end = 1;
  if (is_letter(text.front())) {
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  } else if (text.starts_with("\x1b[")) {
    end = std::min(text.find('m'), text.size() - 1) + 1;
  }
  return {text.substr(0, end)};
}

bool same(const Token& expected, const Token& found, Tolerance tolerance) {
  if (expected.text == found.text) return true;
  if (!expected.number || !found.number) return false;
  const double a = std::stod(std::string(expected.text)), b = std::stod(std::string(found.text));
  if (tolerance == Tolerance::relative)
    return std::fabs(a - b) <= 1e-12 * std::fmax(std::fabs(a), std::fabs(b));
  if (expected.decimals == 0 || expected.decimals != found.decimals) return false;
  return std::fabs(a - b) <= 1.001 * std::pow(10.0, -static_cast<double>(expected.decimals));
}

std::string line_around(std::string_view text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return std::string(text.substr(begin, text.find('\n', at) - begin));
}

}  // namespace

std::string difference(std::string_view expected, std::string_view found, Tolerance tolerance) {
  std::size_t e = 0, f = 0, line = 1;
  while (e < expected.size() && f < found.size()) {
    const Token one = token_at(expected.substr(e)), other = token_at(found.substr(f));
    if (!same(one, other, tolerance)) break;
    if (one.text == "\n") ++line;
    e += one.text.size();
    f += other.text.size();
  }
  if (e == expected.size() && f == found.size()) return "";
  return "line " + std::to_string(line) +
         ":\n  expected: " + (e < expected.size() ? line_around(expected, e) : "(the end)") +
         "\n  found:    " + (f < found.size() ? line_around(found, f) : "(the end)");
}

bool updates_golden() {
  const char* const wish = std::getenv("ATTN_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

std::string golden_path(const std::string& name) {
  return std::string(ATTN_SOURCE_FOLDER) + "/tests/golden/" + name;
}

void check_golden(const std::string& name, const std::string& found, Tolerance tolerance) {
  if (updates_golden()) std::ofstream(golden_path(name), std::ios::binary) << found;
  const std::string difference_found = difference(bytes_of(golden_path(name)), found, tolerance);
  CHECK_MESSAGE(difference_found.empty(),
                name << ", " << difference_found << "\n  ATTN_UPDATE_GOLDEN=1 accepts what was found");
}

TEST_CASE("a golden text differs from any other text, and the line that differs is shown") {
  CHECK(difference("a 1.25\n", "a 1.25\n", Tolerance::last_digit) == "");
  CHECK(difference("a\nb 1.25 c\n", "a\nb 1.25 d\n", Tolerance::last_digit) ==
        "line 2:\n  expected: b 1.25 c\n  found:    b 1.25 d");
  CHECK(difference("a\n", "a\nb\n", Tolerance::last_digit) ==
        "line 2:\n  expected: (the end)\n  found:    b");
  CHECK(difference("a  b", "a b", Tolerance::last_digit) != "");
  CHECK(difference("", "a", Tolerance::relative) != "");
  CHECK(difference("x1", "x2", Tolerance::relative) != "");
  CHECK(difference("\x1b[38;5;16m", "\x1b[38;5;17m", Tolerance::last_digit) != "");
}

TEST_CASE("a golden number may differ by one unit of the last digit printed, but not by two") {
  CHECK(difference("0.8808", "0.8809", Tolerance::last_digit) == "");
  CHECK(difference("0.8808", "0.8810", Tolerance::last_digit) != "");
  CHECK(difference("0.88", "0.880", Tolerance::last_digit) != "");
  CHECK(difference("-0.88", "0.88", Tolerance::last_digit) != "");
  CHECK(difference("7", "8", Tolerance::last_digit) != "");
}

TEST_CASE("a golden number at full precision may differ by 1e-12 of its size") {
  CHECK(difference("0.1", "0.10000000000001", Tolerance::relative) == "");
  CHECK(difference("1e-9", "1.00000000000001e-09", Tolerance::relative) == "");
  CHECK(difference("1", "0.9999999999999999", Tolerance::relative) == "");
  CHECK(difference("0.1", "0.1000000000002", Tolerance::relative) != "");
  CHECK(difference("1e-9", "1e-8", Tolerance::relative) != "");
}
