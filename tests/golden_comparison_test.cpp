#include <doctest/doctest.h>

#include "golden.hpp"

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
