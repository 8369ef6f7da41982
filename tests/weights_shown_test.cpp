#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "process.hpp"

// Attention weights in other forms: where each head attends, and the sentence as each head weighs it.

using namespace attn;

namespace {

// The line of a head in the map of these weights.
std::string line_of_head(Words words, const std::string& head) {
  words.insert(words.begin(), "map");
  const std::string out = accepted(words).out;
  const std::size_t at = out.find("  " + head + "  ");
  REQUIRE_MESSAGE(at != std::string::npos, out);
  return out.substr(at, out.find('\n', at) - at);
}

// Each query is one of the keys.
const Words three_words = {"--tokens", "a b c", "--key-tokens", "a b c"};

std::string label_of(const std::string& weights, Words more = {}) {
  Words words = {"--weights", weights, "--v", weights};
  words.insert(words.end(), more.begin(), more.end());
  return line_of_head(words, "weights");
}

Json map_of(Words words) {
  words.insert(words.begin(), "map");
  words.insert(words.end(), {"--format", "json"});
  return parse_json(accepted(words).out, "map");
}

}  // namespace

TEST_CASE("a head is labelled by the key that has most of its weight") {
  check_has(label_of("1 0 0; 1 0 0; 0.8 0.1 0.1"), "first word");
  check_has(label_of("0.2 0.8 0; 0.1 0 0.9; 0.2 0.2 0.6", three_words), "next word");
  check_has(label_of("0.8 0.1 0.1; 0.9 0.1 0; 0.1 0.9 0", three_words), "previous word");
  check_has(label_of("0.9 0.1 0; 0.1 0.9 0; 0.2 0.2 0.6", three_words), "itself");
  check_has(label_of("0.33 0.33 0.34; 0.33 0.34 0.33; 0.34 0.33 0.33"), "evenly");
  check_has(label_of("0.1 0.1 0.8; 0.45 0.1 0.45; 0.45 0.45 0.1"), "by content");
  check_has(label_of("0 0 1 0; 0 0 0 1; 1 0 0 0; 0 1 0 0", {"--tokens", "a b a b", "--key-tokens", "a b a b"}),
            "same word");
}

TEST_CASE("of two kinds of keys with the same share the first one in the list of rules counts") {
  // Two queries, each with half of its weight on itself; the first key is also the one before the second
  // query.
  check_has(label_of("0.99 0.01; 1 0", {"--tokens", "a b", "--key-tokens", "a b"}), "previous word");
}

TEST_CASE("queries with one permitted key or none are not counted") {
  const Json map = map_of({"--scores", "1 2 3; 3 2 1; 1 9 1", "--causal"});
  CHECK(map["arrays"]["map"][0][0] == 2.0);
  check_has(accepted({"map", "--scores", "1 2 3; 3 2 1; 1 9 1", "--causal"}).out,
            "A query with one permitted key has no choice");
  const std::string without = accepted({"map", "--scores", "1 2; 3 1", "--mask", "0 0; 1 1"}).out;
  check_has(without, "Queries whose keys are all masked have no weights");
  check_has(accepted({"map", "--scores", "5"}).out, "no choice");
}

TEST_CASE("the entropy is that of the weights, beside that of equal weights over the permitted keys") {
  const Json map = map_of({"--scores", "0 0; 0 1.0986122886681098", "--mask", "1 1; 1 1"});
  const Json& row = map["arrays"]["map"][0];
  const double of_second = -(0.25 * std::log2(0.25) + 0.75 * std::log2(0.75));
  CHECK(row[1].get<double>() == doctest::Approx((1.0 + of_second) / 2));
  CHECK(row[2] == 1.0);
}

TEST_CASE("every kind of model has a map, and the word that follows chooses it") {
  for (const Words& words :
       {Words{"map", "encoder"}, Words{"map", "decoder"}, Words{"map", "transformer"}, Words{"map", "align"},
        Words{"map", "softmax"}, Words{"map", "transformer", "--kind", "decoder-only"}, Words{"walk", "--map"}})
    check_has(accepted(words).out, "Attention map");
  CHECK(accepted({"map", "encoder", "--seed", "3"}).out == accepted({"encoder", "--map", "--seed", "3"}).out);
  check_has(accepted({"map", "encoder", "--help"}).out, "attn encoder");
  refuses({"map", "encdoer"}, "unknown command 'encdoer' (did you mean 'encoder'?)");
  refuses({"map", "--x", "1 2; 3 4", "--wq", "1 0; 0 1"}, "no attention weights here");
  refuses({"map", "align", "--variant", "none"}, "no attention weights here");
  refuses({"encoder", "--map", "--from", "1"}, "--from");
}

TEST_CASE("of many heads a line for each is shown, and of those that are chosen a picture") {
  const std::string all = accepted({"map", "encoder", "--layers", "9"}).out;
  check_has(all, "18 heads, with the labels");
  check_lacks(all, "│");
  const std::string some = accepted({"map", "encoder", "--layers", "9", "--only", "encoder.3.*"}).out;
  check_has(some, "2 heads, with the labels");
  check_has(some, "│");
  refuses({"map", "encoder", "--only", "encoder.output"}, "none of these matrices are attention weights");
}

TEST_CASE("the map of 144 heads and 200 words has at most 250 lines") {
  const std::string out = accepted({"map", "transformer", "--kind", "decoder-only", "--layers", "12", "--heads", "12",
                                    "--d-model", "24", "--n", "200", "--width", "80"})
                              .out;
  check_has(out, "144 heads, with");
  CHECK(std::ranges::count(out, '\n') <= 250);
}

TEST_CASE("a query's weights are shown below the words of any model") {
  for (const Words& words : {Words{"encoder", "--from", "cat"}, Words{"transformer", "--from", "2"},
                             Words{"align", "--from", "house"}, Words{"walk", "--from", "Machines"}})
    check_has(accepted(words).out, "below each word its weight in percent");
  refuses({"encoder", "--from", "dog"}, "--from dog: there is no such word");
}

TEST_CASE("of a long sentence the words with the largest weights stay") {
  std::string scores = "0", words = "w1";
  for (int j = 2; j <= 200; ++j) {
    scores += j == 120 ? " 9" : " 0";
    words += " w" + std::to_string(j);
  }
  const Words line = {"softmax", "--scores", scores, "--key-tokens", words, "--from", "1", "--width", "80"};
  const std::string shown = accepted(line).out;
  check_has(shown, "w120");
  check_has(in_one_line(shown), "of 200 words with small weights left out (--full)");
  check_lacks(shown, "w199");
  Words full = line;
  full.emplace_back("--full");
  check_has(accepted(full).out, "w199");
}

TEST_CASE("a map counts only queries whose weights are shares of 1, and pictures nothing as blank") {
  const std::string given = run_attn({"map", "--weights", "2 -1; 0.5 0.5"}).out;
  CHECK(given.find("negative, or do not sum to 1, are not counted") != std::string::npos);
  CHECK(given.find("125 %") == std::string::npos);
  CHECK(given.find("1.00 of 1.00") != std::string::npos);
  const std::string masked = run_attn({"map", "--scores", "-inf -inf; -inf -inf"}).out;
  CHECK(masked.find("no query counted") != std::string::npos);
  CHECK(masked.find("has no choice") == std::string::npos);
  CHECK(masked.find("1 │    │") != std::string::npos);
}
