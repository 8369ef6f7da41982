#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "commands_tried.hpp"
#include "page/render/table_layout.hpp"
#include "page/render/width.hpp"
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
  const std::string precise = shown(numbers(11, "2.1234"), {"--precision", "4"});
  check_has(precise, "2.1234");
  check_has(precise, "columns left out (--full)");
}

TEST_CASE("small numbers keep two digits of the largest one") {
  const std::string small = shown(numbers(11, "0.0034", 3, "0.0078"));
  check_has(small, ".0078");
  check_has(small, ".0034");
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

namespace {

const std::string man =
    "the old man who lived near the river went to the market because he wanted to buy some fresh bread and milk";

std::string weights_of(const std::string& text, const Words& more = {}) {
  return accepted(Words{"softmax", "--text", text, "--only", "weights", "--width", "80"} + more).out;
}

// The line of a table that begins with this label.
std::string line_of(const std::string& page, const std::string& label) {
  const std::size_t at = page.find("\n  " + label + " ");
  return at == std::string::npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

std::size_t numbers_in(const std::string& line) {
  std::istringstream stream(line.substr(std::min(line.find("│"), line.size())));
  std::string word;
  std::size_t count = 0;
  for (stream >> word; stream >> word;) ++count;
  return count;
}

}  // namespace

TEST_CASE("weights lose the zero before the point before anything else is cut") {
  const std::string page = weights_of("one two three four five six seven eight nine ten more and some others");
  check_has(page, " .0");
  check_lacks(page, "0.0");
  check_lacks(page, "left out");
  CHECK(numbers_in(line_of(page, "seven")) >= 14);
  // Decimals that were asked for stay.
  const std::string precise = weights_of("one two three four five six seven eight nine", {"--precision", "5"});
  check_has(precise, " .0");
  check_lacks(precise, "rounded");
}

TEST_CASE("22 words in 80 columns show all numbers") {
  const std::string page = weights_of(man);
  for (std::size_t i = 1; i <= 22; ++i) {
    const std::string row = line_of(page, (i < 10 ? " " : "") + std::to_string(i));
    INFO(row);
    CHECK(numbers_in(row) == 22);
    CHECK(display_width(row) <= 80);
  }
  check_has(in_one_line(page), "in percent; the columns are the words of the rows, in the same order");
  check_lacks(page, "…");
}

TEST_CASE("headers are cut to letters that tell the words apart, and otherwise numbered as the rows are") {
  const std::string apart =
      weights_of("alphabet betting gambling deltoid epsilon zetetic etching thetas iotas kappas lambda musical");
  check_has(apart, "alp");
  check_has(in_one_line(apart), "the columns are the words of the rows");
  const std::string alike = weights_of(
      "alphabet alphaben alphabes alphaber alphabek alphabel alphabem alphabeo alphabep alphabeq alphabex alphabez");
  check_has(alike, " 1 alphabet");
  check_has(alike, "12 alphabez");
}

TEST_CASE("columns that are other words than the rows are told in a line") {
  std::string scores, keys;
  for (int j = 1; j <= 20; ++j) {
    scores += std::to_string(j % 3) + " ";
    keys += "keyword" + std::to_string(j) + " ";
  }
  const std::string page = accepted({"softmax", "--scores", scores + ";" + scores, "--tokens", "one two",
                                     "--key-tokens", keys, "--width", "80"})
                               .out;
  check_has(in_one_line(page), "columns: 1 keyword1, 2 keyword2,");
}

TEST_CASE("more words than there are columns for stand in a picture, with the words as rows") {
  std::string text;
  for (int i = 1; i <= 40; ++i) text += "w" + std::to_string(i * 7) + " ";
  const std::string page = weights_of(text);
  check_has(page, "40 w280");
  check_has(page, "█");
  check_has(in_one_line(page), "shades in the place of numbers (--full)");
  check_has(weights_of(text, {"--full"}), "0.0");
  // Asked decimals are never replaced by shades.
  check_lacks(weights_of(text, {"--precision", "3"}), "shades");
}

TEST_CASE("rows of many words say the most probable, and nothing that rounds to 0") {
  const std::string page =
      accepted({"transformer", "--model", "coreference", "--only", "distribution", "--width", "80"}).out;
  check_has(page, "│ the most probable of 69 words");
  check_has(line_of(page, "it"), "it           │ animal 100 %");
  check_has(page, "what rounds to 0 % is not listed");
  check_lacks(page, " 0 %,");
  for (std::size_t at = 0; at < page.size(); at = page.find('\n', at) + 1)
    CHECK(display_width(page.substr(at, page.find('\n', at) - at)) <= 80);
  const std::string piped = accepted({"transformer", "--model", "coreference", "--only", "distribution"}).out;
  check_has(piped, "0.0000");
}

TEST_CASE("lists of the largest say which of several equal words, and cut no number") {
  const std::string ten = "one two three four five six seven eight nine ten ";
  const std::string text = ten + ten + ten + "one two three four five six seven eight nine end";
  const std::string page = accepted({"softmax", "--text", text, "--width", "40"}).out;
  check_has(page, "three (3) 12 %");
  check_has(page, "one (11)");
  const std::string narrow = accepted({"softmax", "--text", text, "--width", "20"}).out;
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) {
    const bool is_row = line.find("│ ") != std::string::npos && line.find('%') != std::string::npos;
    if (!is_row) continue;
    CHECK_MESSAGE((line.ends_with(" %") || line.ends_with("%, …")), line);
    CHECK_MESSAGE(display_width(line) <= 20, line);
  }
}

TEST_CASE("labels that are cut alike have their numbers, and each cut is marked") {
  const std::string text =
      "Donaudampfschifffahrtsgesellschaft internationalization Donaudampfschifffahrtsgemeinschaft x y z w v u t";
  const std::string page = accepted({"softmax", "--text", text, "--only", "weights", "--width", "130"}).out;
  check_has(page, "\n  Donaudampfschifffah… (1) │");
  check_has(page, "\n  Donaudampfschifffah… (3) │");
  check_has(page, "\n  internationalization ");
  check_has(page, " Donaudampfs… (1) internationaliz… Donaudampfs… (3) ");
  check_has(accepted({"softmax", "--text", text, "--only", "weights", "--width", "70"}).out, "… │");
}

TEST_CASE("without a zero before the point what rounds to 1 is no bare 1") {
  Digits digits{.decimals = 2, .spelling = Spelling::without_zero};
  const auto written = [&](double value) {
    std::string text;
    digits.append(text, value);
    return text;
  };
  CHECK(written(1.0) == "1");
  CHECK(written(0.99999) == "1.0");
  CHECK(written(0.07) == ".07");
  digits.decimals = 1;
  CHECK(written(0.99) == "1.0");
}
