#include <doctest/doctest.h>

#include "commands_tried.hpp"
#include "process.hpp"

// What a table gives up where there is no room, and in which order.

using namespace attn;

namespace {

// A row of numbers: the same one often, and another one at a place.
std::string numbers(int count, const std::string& usual, int place = 0, const std::string& other = "") {
  std::string row;
  for (int j = 1; j <= count; ++j) row += (j == place ? other : usual) + " ";
  return row;
}

std::string shown(const std::string& scores, const Words& more = {}) {
  return accepted(Words{"walk", "--scores", scores, "--only", "scores", "--width", "80"} + more).out;
}

}  // namespace

TEST_CASE("a wide table drops decimals before columns") {
  const std::string scores = numbers(14, "0.1234");
  const std::string narrow = shown(scores);
  check_has(narrow, "0.12");
  check_lacks(narrow, "0.1234");
  check_lacks(narrow, "left out");
  check_has(narrow, "rounded to 2 decimals (--full)");
  check_has(shown(scores, {"--full"}), "0.1234");
  check_has(shown(numbers(11, "7")), " 7");
  check_lacks(shown(numbers(11, "7")), "rounded");
}

TEST_CASE("decimals that were asked for stay, and columns go") {
  const std::string precise = shown(numbers(11, "0.1234"), {"--precision", "4"});
  check_has(precise, "0.1234");
  check_has(precise, "columns left out (--full)");
}

TEST_CASE("small numbers keep two digits of the largest one") {
  const std::string small = shown(numbers(11, "0.0034", 3, "0.0078"));
  check_has(small, "0.0078");
  check_has(small, "0.0034");
}

TEST_CASE("the columns with the largest weights stay, and those that a sentence names") {
  const std::string page = accepted({"softmax", "--scores", numbers(60, "0", 31, "9"), "--width", "80"}).out;
  check_has(page, "attends most to key 31");
  const std::string header = page.substr(page.find("weights │"), 160);
  check_has(header, " 31 ");
}

TEST_CASE("the rows that a sentence names stay in a long table") {
  std::string scores;
  for (int i = 1; i <= 60; ++i) scores += (i == 30 ? "0 9" : "0 0.5") + std::string(i < 60 ? "; " : "");
  const std::string page = accepted({"softmax", "--scores", scores, "--width", "80"}).out;
  check_has(page, "query 30");
  check_has(page, "\n  30 ");
}

TEST_CASE("a long name stands above its table, and a short one in it") {
  // Two sentences in two layers: names with three scopes.
  const Words words = {"walk", "--text", "a b", "--text", "b a", "--layers", "2", "--no-feed-forward"};
  const std::string one = accepted(words + Words{"--only", "sentence.1.layer.1.weights"}).out;
  check_has(one, "  sentence.1.layer.1.weights │");
  const std::string page = accepted(words + Words{"--heads", "2", "--only", "sentence.1.layer.1.head.1.weights"}).out;
  check_has(page, "  sentence.1.layer.1.head.1.weights\n    │");
}
