#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numbers>
#include <string>

#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "process.hpp"

using namespace attn;

namespace {

// A matrix of a page, by name.
Json matrix_of(Words words, const std::string& name) {
  words.insert(words.end(), {"--format", "json"});
  const Json page = parse_json(accepted(words).out, "page");
  REQUIRE(page["arrays"].contains(name));
  return page["arrays"][name];
}

}  // namespace

TEST_CASE("heads that are reshaped and transposed give what a loop gives, and without the transpose they do not") {
  for (const Words& words :
       std::vector<Words>{{"split-heads"},
                          {"split-heads", "--text", "the cat sat", "--heads", "2", "--d-model", "4"},
                          {"split-heads", "--text", "a", "--heads", "4", "--d-model", "8"},
                          {"split-heads", "--text", "a b c", "--memory-text", "d e f g h", "--heads", "3", "--d-model",
                           "6", "--d-v", "9"}}) {
    CAPTURE(command_line(words));
    CHECK(matrix_of(words, "at_once") == matrix_of(words, "in_a_loop"));
  }
  const Words cat = {"split-heads", "--text", "the cat sat", "--heads", "2", "--d-model", "4"};
  CHECK(matrix_of(cat, "wrong") != matrix_of(cat, "in_a_loop"));
  const Words one = {"split-heads", "--text", "the cat sat", "--heads", "1", "--d-model", "4"};
  CHECK(accepted(one).out.find("has pieces of") == std::string::npos);
  check_has(accepted(cat).out, "Head 2 has pieces of 2 of 3 words as queries: \"cat\" to \"sat\".");
}

TEST_CASE("the loop over heads is what multi-head attention computes") {
  const Words input = {"--text", "the cat sat", "--heads", "2", "--d-model", "4"};
  Words walk = {"walk"}, split = {"split-heads"};
  walk.insert(walk.end(), input.begin(), input.end());
  split.insert(split.end(), input.begin(), input.end());
  const Json concat = matrix_of(walk, "concat"), loop = matrix_of(split, "in_a_loop");
  REQUIRE(concat.size() == loop.size());
  for (std::size_t i = 0; i < concat.size(); ++i) {
    for (std::size_t j = 0; j < concat[i].size(); ++j)
      CHECK(std::fabs(concat[i][j].get<double>() - loop[i][j].get<double>()) < 1e-12);
  }
}

TEST_CASE("rearranged queries have the numbers of the right word and head") {
  const Words words = {"split-heads", "--q", "1 2 3 4; 5 6 7 8", "--k", "1 0 0 1", "--v", "1 2", "--heads", "2"};
  CHECK(matrix_of(words, "q_reshaped") == Json::parse("[[1,2],[3,4],[5,6],[7,8]]"));
  CHECK(matrix_of(words, "q_transposed") == Json::parse("[[1,2],[5,6],[3,4],[7,8]]"));
  CHECK(matrix_of(words, "q_wrong") == Json::parse("[[1,2],[3,4],[5,6],[7,8]]"));
  CHECK(matrix_of(words, "in_a_loop") == Json::parse("[[1,2],[1,2]]"));
}

TEST_CASE("heads are split of one sentence with queries, keys and values alone") {
  refuses({"split-heads", "--scores", "1 2"}, "needs the queries, keys and values");
  refuses({"split-heads", "--text", "a b", "--layers", "2"}, "one layer");
  refuses({"split-heads", "--text", "a b", "--text", "c"}, "one sentence");
}

TEST_CASE("kinds of positions are compared by what is learned and by their scores") {
  const Words words = {"compare-positions", "--n", "10", "--d", "4"};
  const Json learned = matrix_of(words, "learned"), scores = matrix_of(words, "scores");
  // none, sinusoidal, concatenated, learned, rotary, rotary-halves, relative-bias, relative-vectors, tree-bias,
  // tree-vectors
  REQUIRE(learned.size() == 10);
  CHECK(learned[3] == Json::parse("[40,80,0]"));
  CHECK(learned[6] == Json::parse("[9,9,1]"));
  CHECK(learned[7] == Json::parse("[36,36,1]"));
  CHECK(learned[8] == Json::parse("[5,5,1]"));
  CHECK(learned[9] == Json::parse("[20,20,1]"));
  for (const std::size_t row : {0, 1, 2, 4, 5}) CHECK(learned[row] == Json::parse("[0,0,1]"));
  const auto is_zero = [&](std::size_t row, std::size_t column) {
    return std::fabs(scores[row][column].get<double>()) < 1e-9;
  };
  for (std::size_t column = 0; column < 3; ++column) CHECK(is_zero(0, column));
  for (const std::size_t row : {1, 2, 3}) CHECK_FALSE(is_zero(row, 1));
  for (const std::size_t row : {4, 5, 6, 7}) {
    CHECK(is_zero(row, 1));
    CHECK_FALSE(is_zero(row, 0));
    CHECK_FALSE(is_zero(row, 2));
  }
  // A distance in a tree is the same in both directions, and pairs of one distance in the text do not share it.
  for (const std::size_t row : {8, 9}) {
    CHECK(is_zero(row, 2));
    CHECK_FALSE(is_zero(row, 1));
  }
  check_has(in_one_line(accepted(words).out), "has a row for each of 10 positions, and none for position 11");
}

TEST_CASE("periods of positions are those of the sinusoids") {
  const Json periods = matrix_of({"compare-positions", "--n", "10", "--d", "4"}, "periods");
  REQUIRE(periods.size() == 2);
  CHECK(periods[0][0].get<double>() == doctest::Approx(2.0 * std::numbers::pi));
  CHECK(periods[1][0].get<double>() == doctest::Approx(200.0 * std::numbers::pi));
  CHECK(periods[0][1] == 1);
  CHECK(periods[1][1].get<double>() == doctest::Approx(9.0 / (200.0 * std::numbers::pi)));
  // Position 20 is i = 19; the nearest of the first ten is the last one, ten hundredths of a radian before.
  CHECK(periods[1][2].get<double>() == doctest::Approx(2.0 * std::sin(0.05)));
  CHECK(accepted({"compare-positions", "--n", "2", "--d", "2"}).errors == "");
  refuses({"compare-positions", "--n", "1"}, "give 2 or more");
  refuses({"compare-positions", "--d", "3"}, "give an even one");
}

TEST_CASE("long sequences are counted by formula") {
  const Json table = matrix_of({"cost", "--n", "4", "--d", "8"}, "long");
  CHECK(table[0] == Json::parse("[16777216,131072,128,8388608]"));
  CHECK(table[3][2] == 8192);
}

TEST_CASE("what exchanging query and key changes is looked for in all pairs, also of two positions") {
  const std::string csv = run_attn({"compare-positions", "--n", "2", "--only", "scores", "--format", "csv"}).out;
  for (const char* kind : {"\"learned\"", "\"rotary\"", "\"relative-bias\"", "\"relative-vectors\""}) {
    const std::size_t begin = csv.find(kind);
    REQUIRE_MESSAGE(begin != std::string::npos, csv);
    const std::string row = csv.substr(begin, csv.find('\n', begin) - begin);
    CHECK_MESSAGE(std::stod(row.substr(row.rfind(',') + 1)) > 0.01, row);
  }
}

TEST_CASE("one head has no wrong reshape") {
  CHECK(run_attn({"split-heads", "--text", "a b c", "--heads", "1"}).out.find("wrong") == std::string::npos);
  CHECK(run_attn({"split-heads", "--text", "a b c", "--heads", "2"}).out.find("wrong") != std::string::npos);
}
