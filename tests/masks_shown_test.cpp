#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "command/errata/errata.hpp"
#include "commands_tried.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/positional_encoding.hpp"
#include "data/files/json.hpp"
#include "process.hpp"
#include "testing.hpp"
#include "texts.hpp"

using namespace attn;

namespace {

// A cell of a matrix that a page holds.
double cell(const Json& page, const std::string& name, std::size_t row, std::size_t column) {
  return page["arrays"][name][row][column].get<double>();
}

// The values of a table of quantities.
Json table(const Json& page, std::string_view title) {
  for (const Json& block : page["page"]) {
    if (block["type"] == "table" && block["title"] == title) return block["values"];
  }
  FAIL("there is no table " << title);
  return {};
}

std::string text(const Words& words) {
  const ProcessResult finished = run_attn(words);
  CHECK_MESSAGE(finished.code == 0, command_line(words) << finished.errors);
  return finished.out;
}

}  // namespace

TEST_CASE("where a masked key leaves next to no weight, dividing by what is left is told to be wrong") {
  const auto unwrapped = [](Words words) {
    words.insert(words.end(), {"--format", "json"});
    return run_attn(words).out;
  };
  CHECK(has(unwrapped({"compare-masks", "--scores", "1000 1", "--mask", "0 1"}),
            "here is 1. It is large only where masked keys"));
  CHECK(has(unwrapped({"compare-masks"}), "here is less than 1e-9."));
}

TEST_CASE("masking the scores and masking the weights and dividing by their sum are the same") {
  for (const Words& words : {Words{"compare-masks"}, Words{"compare-masks", "--causal"},
                             Words{"compare-masks", "--scores", "3 1 2; 0 5 1; -4 0 9", "--causal"},
                             Words{"compare-masks", "--scores", "1 2; 3 4", "--mask", "0 0; 1 1"},
                             Words{"compare-masks", "--text", "a b c", "--heads", "2", "--valid-length", "2"}}) {
    const Json compared = page(words);
    const Json &before = compared["arrays"]["before.weights"], &after = compared["arrays"]["after.weights"];
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t j = 0; j < before[i].size(); ++j)
        CHECK(close(before[i][j].get<double>(), after[i][j].get<double>(), 1e-12));
    }
  }
}

TEST_CASE("what is left of masked weights sums to less than one") {
  const Json compared = page({"compare-masks", "--scores", "0 0; 0 0", "--causal"});
  CHECK(cell(compared, "of_weights.left", 0, 0) == 0.5);
  CHECK(cell(compared, "of_weights.filled", 0, 1) == -1e6);
  CHECK(table(compared, "sum of the row")[0][1] == 0.5);
  CHECK(table(compared, "sum of the row")[1][1] == 1.0);
}

TEST_CASE("the higher the fill, the more leaks, and lowered scores give the masked keys everything") {
  const Json compared = page({"compare-masks", "--scores", "1 1; 0 0", "--causal"});
  const Json leaks = table(compared, "mask value");
  REQUIRE(leaks.size() == 7);
  for (std::size_t i = 0; i + 2 < leaks.size(); ++i) CHECK(leaks[i][0] <= leaks[i + 1][0]);
  // A fill of 0 beside a score of 1: 1 / (1 + e). Of −10⁶ beside −2·10⁶ + 1: all.
  CHECK(close(leaks[5][0].get<double>(), 1 / (1 + std::exp(1.0)), 1e-12));
  CHECK(leaks[0][0] == 0.0);
  CHECK(leaks[6][0] == 1.0);
}

TEST_CASE("padding, a causal mask and an arbitrary one hold together") {
  Matrix arbitrary = matrix({{1, 1, 1}, {0, 1, 1}, {1, 1, 1}});
  const std::size_t length[] = {2};
  const Matrix all = mask_by({rule_of(arbitrary), causal_rule(), valid_length_rule({3, 3}, length)}, {3, 3});
  CHECK(same(all, matrix({{1, 0, 0}, {0, 1, 0}, {1, 1, 0}})));
  const Json masked = page(
      {"mask", "--scores", "1 2 3; 4 5 6; 7 8 9", "--mask", "1 1 1; 0 1 1; 1 1 1", "--causal", "--valid-length", "2"});
  CHECK(masked["arrays"]["masked"][1][0] == "-Infinity");
  CHECK(masked["arrays"]["masked"][2] == Json({7.0, 8.0, "-Infinity"}));
}

TEST_CASE("a fill above real scores leaks, and a warning says so") {
  const ProcessResult finished =
      run_attn({"softmax", "--scores", "-3e6 0; -3e6 0", "--causal", "--mask-fill", "-1e6", "--format", "csv"});
  CHECK(finished.code == 0);
  CHECK(finished.out.starts_with("0,1\n"));
  CHECK(has(finished.errors, "masked keys of query 1 get weight 1:"));
}

TEST_CASE("what has no mask to compare is refused") {
  refuses({"compare-masks", "--scores", "1 2; 3 4"}, "needs a mask");
  refuses({"compare-masks", "--weights", "1 2; 3 4"}, "needs a mask");
  refuses({"compare-masks", "--scores", "1 2; 3 4", "--mask", "0 -1; 0 0"}, "needs a mask");
  refuses({"compare-masks", "--scores", "1 2", "--valid-length", "3"}, "this one masks none");
  refuses({"compare-masks", "--scores", "1 2", "--mask", "1 1"}, "this one masks none");
}

TEST_CASE("two words that are swapped are two places of one sentence") {
  const std::string swapped = text({"walk", "--example", "order", "--swap", "1,3"});
  CHECK(has(swapped, "nothing else"));
  CHECK(has(swapped, "the outputs can depend on word order"));
  for (const char* places : {"1", "", "1,2,3", "1 2"}) {
    refuses({"walk", "--example", "order", "--swap", places}, "give two words or two positions");
  }
  for (const char* places : {"a,b", "-1,2", "99999999999999999999,1", "1,", ","}) {
    refuses({"walk", "--example", "order", "--swap", places}, "there is no such word");
  }
  refuses({"walk", "--example", "order", "--swap", "1,1"}, "the same position twice");
  refuses({"walk", "--example", "order", "--swap", "dog,1"}, "the same position twice");
  refuses({"walk", "--example", "order", "--swap", "0,1"}, "numbered from 1 to 3");
  refuses({"walk", "--example", "order", "--swap", "1,4"}, "numbered from 1 to 3");
  CHECK(text({"walk", "--example", "order", "--swap", "dog,man"}) == swapped);
  refuses({"walk", "--swap", "1,2", "--text", "a b", "--text", "c d"}, "one sentence");
  refuses({"walk", "--swap", "1,2", "--scores", "1 2; 3 4"}, "one sentence");
  refuses({"walk", "--swap", "1,2", "--x", "1 2; 3 4"}, "there are none");
  refuses({"walk", "--swap", "1,2", "--by-word", "dog", "--example", "order"}, "both given");
}

TEST_CASE("a sweep is of positive numbers, up to a hundred") {
  for (const char* list : {"", "0", "a", "1,,2", ",1", "1,", "inf", "nan", "-1", "1e999", "1 2"}) {
    refuses({"scale", "--sweep", list}, "is not a positive number");
  }
  std::string many = "1";
  for (int i = 2; i <= 101; ++i) many += "," + std::to_string(i);
  refuses({"scale", "--sweep", many}, "101 divisors");
  refuses({"scale", "--sweep", "1e-308"}, "beyond double precision");
  refuses({"scale", "--sweep", "1", "--scale", "2"}, "both given");
  refuses({"scale", "--sweep", "1", "--multiply", "2"}, "both given");
  refuses({"scale", "--sweep", "1", "--weights", "1 0"}, "there are none");
  CHECK(has(text({"scale", "--sweep", "1e308"}), "1e+308"));
  CHECK(has(text({"scale", "--sweep", "1,2", "--example", "animal"}), "the scores of head.1"));
}

TEST_CASE("attn positions shows places, up to as many as can be told apart") {
  for (const char* kind : {"sinusoidal", "concatenated", "learned", "relative-bias", "relative-vectors"}) {
    CHECK(has(text({"positions", "--positions", kind, "--n", "5"}), kind));
  }
  const std::string bias = text({"positions", "--positions", "relative-bias", "--position-table", "5 6 7"});
  CHECK(has(bias, "│  -1  0  1"));
  for (const char* n : {"0", "1e9", "100001", "-1", ""}) refuses({"positions", "--n", n}, "--n must be ");
  for (const char* column : {"0", "9", "99", "a", "", "1,,2"}) {
    refuses({"positions", "--columns", column}, "is no column");
  }
  refuses({"positions", "--columns", "1,2,3,4,5,6,7"}, "7 columns");
  refuses({"positions", "--columns", "1", "--positions", "relative-bias"}, "has none");
  refuses({"positions", "--n", "100000", "--d-model", "2000000000"}, "too many");
  refuses({"positions", "--positions", "relative-bias", "--n", "257"}, "256");
  refuses({"positions", "--positions", "relative-bias", "--max-distance", "257"}, "256");
  refuses({"positions", "--positions", "none"}, "give --positions sinusoidal");
  refuses({"positions", "--position-table", "1 2 3"}, "needs --positions");
  refuses({"positions", "--text", "a b", "--n", "3"}, "its own length");
  refuses({"positions", "--scores", "1 2"}, "there are none");
  refuses({"positions", "--positions", "learned", "--position-table", "1 2; 3 4", "--n", "3"},
          "only positions 0 to 1 are learned");
  refuses({"positions", "--positions", "learned", "--position-table", "1e200 1; 1 1"}, "double precision");
  refuses({"positions", "--positions", "learned", "--position-table", "1 inf"}, "must be finite");
}

TEST_CASE("attn positions shows every kind of positions, or says why it has nothing to show") {
  for (const PositionKind& kind : position_kinds()) {
    const std::string name(kind.name);
    CAPTURE(name);
    if (kind.of_embeddings || kind.table_shape) {
      Words shown = {"positions", "--positions", name, "--n", "3"};
      if (kind.is_in_tree) shown.insert(shown.end(), {"--parents", "2 0 2"});
      CHECK(has(text(std::as_const(shown)), name));
    } else {
      refuses({"positions", "--positions", name}, "attn positions shows ");
      refuses({"positions", "--positions", name, "--columns", "1"}, "attn positions shows ");
    }
  }
  refuses({"positions", "--positions", "rotary"}, "they turn queries and keys: see attn walk --text 'a b c'");
  CHECK(run_attn({"walk", "--text", "a b c", "--positions", "rotary"}).code == 0);
}

TEST_CASE("a word is looked up by its id, or multiplied with a one-hot vector") {
  const Json embedded = page({"embed", "--text", "a b a", "--text", "b c", "--d-model", "3"});
  const Json& arrays = embedded["arrays"];
  CHECK(arrays["ids"] == Json({{1.0}, {2.0}, {1.0}, {2.0}, {3.0}, {4.0}}));  // and <blank>
  CHECK(arrays["x"] == arrays["product"]);
  CHECK(arrays["x"][0] == arrays["x"][2]);
  CHECK(arrays["e"].size() == 4);
  refuses({"embed", "--x", "1 2; 3 4"}, "needs words");
  refuses({"embed", "--x", "1 2; 3 4", "--tokens", "a a"}, "a word has one id");
  refuses({"embed", "--x", "1 2; 3 4", "--tokens", "a b c"}, "labels for 3");
  refuses({"embed", "--scores", "1 2"}, "needs words");
}

TEST_CASE("every erratum is listed, says what is right, and has numbers of its own") {
  const std::string list = text({"errata"});
  for (const Erratum& row : errata()) {
    CAPTURE(row.name);
    CHECK(has(list, std::string(row.name) + " "));
    const std::string shown = text({"errata", std::string(row.name)});
    CHECK(has(shown, row.name));
    const Json demonstrated = page({"errata", std::string(row.name)});
    const bool has_table = std::ranges::any_of(demonstrated["page"], [](const Json& block) {
      return block["type"] == "table" || block["type"] == "side_by_side" || block["type"] == "listing";
    });
    CHECK((has_table || demonstrated["arrays"].size() > 0));
    if (!row.more.empty())
      CHECK(run_attn({"help", std::string(row.more.substr(5, row.more.find(' ', 5) - 5))}).code == 0);
  }
  for (const char* name : {"E11", "E14", "e6", "E0", "", "E1 "}) {
    refuses({"errata", name}, "E11 and E14 are not used");
  }
}

TEST_CASE("the numbers of the errata are those of the documents' claims") {
  const Json root = table(page({"errata", "E6"}), "ratio of two weights");
  for (const Json& row : root) CHECK(close(row[0].get<double>(), std::exp(2.0), 1e-12));
  CHECK(close(root[2][1].get<double>(), std::exp(1.0), 1e-12));
  const Json layouts = page({"errata", "E16"});
  CHECK(
      close(cell(layouts, "interleaved.dot_products", 0, 3), cell(layouts, "concatenated.dot_products", 0, 3), 1e-12));
  const Json index = page({"errata", "E10"});
  CHECK(close(cell(index, "output_wrong", 1, 0), cell(index, "v", 1, 0), 1e-12));
  const Json norms = table(page({"errata", "E17"}), "variance");
  for (const Json& row : norms) CHECK(close(row[0].get<double>(), 1.0, 1e-3));
}

TEST_CASE("memory words are refused where they contradict, and are what keys come from") {
  refuses({"walk", "--memory-text", "", "--text", "a"}, "has no words");
  refuses({"walk", "--memory-text", "a", "--key-tokens", "b", "--text", "a"}, "both given");
  refuses({"walk", "--memory-text", "a", "--scores", "1"}, "both given");
  refuses({"walk", "--d-memory", "0", "--memory-text", "a", "--text", "a"}, "--d-memory must be 1 or more");
  const std::string transposed = text({"softmax", "--text", "the cat", "--memory-text", "le chat noir", "--transpose"});
  CHECK(has(transposed, "alignment │     the"));
  CHECK(has(transposed, "noir"));
}
