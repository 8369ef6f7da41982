#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "golden.hpp"
#include "page/document/living.hpp"
#include "process.hpp"

namespace {

std::string_view first_line(std::string_view text) {
  return text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
}

std::string shown(std::string_view text) {
  return text.empty() ? "(the end)" : std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string difference(std::string_view expected, std::string_view found, Tolerance tolerance) {
  const auto alike = tolerance == Tolerance::last_digit ? attn::alike : attn::alike_at_full_precision;
  for (std::size_t line = 1; !expected.empty() || !found.empty(); ++line) {
    const bool ends = expected.empty() || found.empty();
    if (ends || !alike(first_line(expected), first_line(found))) {
      return "line " + std::to_string(line) + ":\n  expected: " + shown(expected) + "\n  found:    " + shown(found);
    }
    expected.remove_prefix(first_line(expected).size());
    found.remove_prefix(first_line(found).size());
  }
  return "";
}

bool updates_golden() {
  const char* const wish = std::getenv("ATTN_UPDATE_GOLDEN");
  return wish != nullptr && std::string_view(wish) == "1";
}

std::string golden_path(const std::string& name) { return std::string(ATTN_SOURCE_FOLDER) + "/tests/golden/" + name; }

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
  CHECK(difference("a\n", "a\nb\n", Tolerance::last_digit) == "line 2:\n  expected: (the end)\n  found:    b");
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
