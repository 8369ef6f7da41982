#include <doctest/doctest.h>

#include "page/document/document_outputs.hpp"

using namespace attn;

TEST_CASE("numbers may differ by one unit of the last digit that is printed") {
  CHECK(is_same_output("a 0.8808 b", "a 0.8809 b"));
  CHECK(is_same_output("1.2500e+30", "1.2501e+30"));
  CHECK_FALSE(is_same_output("0.8808", "0.8810"));
  CHECK_FALSE(is_same_output("0.88", "0.880"));
  CHECK_FALSE(is_same_output("0.88", "-0.88"));
  CHECK_FALSE(is_same_output("1.2500e+30", "1.2500e+31"));
}

TEST_CASE("whole numbers and words must be the same") {
  CHECK_FALSE(is_same_output("[2×4]", "[2×5]"));
  CHECK_FALSE(is_same_output("head.1.q", "head.2.q"));
  CHECK_FALSE(is_same_output("x1", "x2"));
  CHECK_FALSE(is_same_output("a", "a "));
  CHECK_FALSE(is_same_output("", "a"));
  CHECK(is_same_output("", ""));
}

TEST_CASE("numbers at full precision may differ in their last bits") {
  CHECK(is_same_output("0.1", "0.10000000000000001"));
  CHECK(is_same_output("1", "0.9999999999999999"));
  CHECK(is_same_output("1e-09", "1.00000000000001e-09"));
  CHECK_FALSE(is_same_output("0.1", "0.1000000001"));
}

TEST_CASE("a difference shows the lines that differ and those around them") {
  using Lines = std::vector<std::string>;
  CHECK(line_difference({"a", "b", "c"}, {"a", "x", "c"}) == Lines{"  a", "- b", "+ x", "  c"});
  CHECK(line_difference({}, {"a"}) == Lines{"+ a"});
  CHECK(line_difference({"a"}, {}) == Lines{"- a"});
  CHECK(line_difference({"1", "2", "3", "4", "5", "6"}, {"1", "2", "3", "4", "5", "7"}) ==
        Lines{"  …", "  3", "  4", "  5", "- 6", "+ 7"});
  CHECK(line_difference({"0.8808", "b"}, {"0.8809", "c"}) == Lines{"  0.8808", "- b", "+ c"});
  CHECK(line_difference({"a", "b"}, {"b"}) == Lines{"- a", "  b"});
}

TEST_CASE("texts too long to compare line by line differ as a whole") {
  const std::vector<std::string> one(3000, "a"), other(3000, "b");
  CHECK(line_difference(one, other).size() == 6000);
}
