#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "commands_tried.hpp"
#include "data/files/json.hpp"
#include "process.hpp"
#include "testing.hpp"

// What the pages of the attention commands show beside the steps themselves.

using namespace attn;

namespace {}  // namespace

TEST_CASE("typed padding is masked like padding that fills up a batch") {
  const Words sentences = {"--text", "Dive into Deep Learning",    "--text", "Learn to code <blank>",
                           "--text", "Hello world <blank> <blank>"};
  Words softmax = {"softmax"}, by_length = {"softmax"};
  softmax.insert(softmax.end(), sentences.begin(), sentences.end());
  by_length.insert(by_length.end(), sentences.begin(), sentences.end());
  by_length.insert(by_length.end(), {"--valid-length", "4,3,2"});
  const Json typed = page(softmax)["arrays"];
  CHECK(typed == page(by_length)["arrays"]);
  CHECK(typed == page({"softmax", "--text", "Dive into Deep Learning", "--text", "Learn to code", "--text",
                       "Hello world"})["arrays"]);
  const std::size_t lengths[] = {4, 3, 2};
  for (std::size_t s = 0; s < 3; ++s) {
    for (const Json& row : typed["sentence." + std::to_string(s + 1) + ".weights"]) {
      for (std::size_t j = 0; j < 4; ++j) CHECK((row[j].get<double>() > 0.0) == (j < lengths[s]));
    }
  }
}

TEST_CASE("padding is masked within a sentence, in a memory, and in every head and layer") {
  for (const Words& words :
       {Words{"softmax", "--text", "a <blank> b"}, Words{"softmax", "--text", "a c b", "--memory-text", "d <blank>"},
        Words{"softmax", "--text", "a <blank>", "--heads", "2", "--layers", "2"},
        Words{"softmax", "--q", "1 0", "--k", "1 0; 0 1", "--key-tokens", "a,<blank>"}}) {
    const Json arrays = page(words)["arrays"];
    CHECK(!arrays.empty());
    for (const auto& weights : arrays.items()) {
      CAPTURE(command_line(words));
      for (const Json& row : weights.value()) CHECK(row[1] == 0.0);
    }
  }
}

TEST_CASE("a valid length or a mask that contradicts padding is remarked upon") {
  const ProcessResult by_length = accepted({"softmax", "--text", "a <blank>", "--valid-length", "2"});
  check_has(by_length.errors, "--valid-length counts <blank> as a word");
  CHECK(by_length.out.find("·") == std::string::npos);
  const ProcessResult by_mask = accepted({"softmax", "--text", "a <blank>", "--mask", "1 1; 1 1"});
  check_has(by_mask.errors, "<blank> stays masked although --mask allows it");
  check_has(by_mask.out, "·");
  CHECK(accepted({"softmax", "--text", "a <blank>", "--valid-length", "1"}).errors == "");
  CHECK(accepted({"softmax", "--text", "a <blank>", "--mask", "1 0; 1 0"}).errors == "");
  CHECK(accepted({"softmax", "--text", "a <blank>", "--mask-fill", "-5"}).errors.find("no effect") ==
        std::string::npos);
}

TEST_CASE("the weights of one word stand in a row for each head, and their average below") {
  const Json arrays = page({"softmax", "--example", "animal", "--from", "it"})["arrays"];
  const Json whole = page({"softmax", "--example", "animal"})["arrays"];
  const Json& from = arrays["from.weights"];
  REQUIRE(from.size() == 3);
  CHECK(from[0] == whole["head.1.weights"][7]);
  CHECK(from[1] == whole["head.2.weights"][7]);
  for (std::size_t j = 0; j < from[2].size(); ++j) {
    CHECK(close(from[2][j].get<double>(), (from[0][j].get<double>() + from[1][j].get<double>()) / 2, 1e-15));
  }
  const std::string one = accepted({"softmax", "--from", "Thinking"}).out;
  CHECK(one.find("average") == std::string::npos);
  check_has(accepted({"softmax", "--text", "a b", "--layers", "2", "--from", "2"}).out, "layer.2");
  check_has(accepted({"softmax", "--text", "a b", "--heads", "2", "--causal", "--from", "1"}).out, "·");
  refuses({"softmax", "--from", "cat"}, "Choose one of: Thinking, Machines");
}

TEST_CASE("a step that is asked for one matrix shows only that, as the walk does") {
  for (const char* name : {"weights", "scores"}) {
    const std::string step = name == std::string("weights") ? "softmax" : "scores";
    CHECK(accepted({step, "--only", name}).out == accepted({"walk", "--only", name}).out);
  }
}

TEST_CASE("weights that are given are said to be what they are") {
  for (const Words& words : {Words{"pool", "--weights", "2 3; 0.5 0.5; 1 0; 0.9 0.1; -1 2"},
                             Words{"pool", "--weights", "2 3; 0.5 0.5; 1 0; 0.9 0.1; -1 2", "--v", "1; 2"},
                             Words{"weigh", "--weights", "2 3; 0.5 0.5; 1 0; 0.9 0.1; -1 2", "--v", "1; 2"},
                             Words{"walk", "--weights", "2 3; 0.5 0.5; 1 0; 0.9 0.1; -1 2", "--v", "1; 2"}}) {
    const std::string shown = accepted(words).out;
    std::size_t at = 0;
    for (const char* regime : {"1  cone", "2  uniform", "3  one-hot", "4  convex", "5  none"}) {
      CAPTURE(command_line(words));
      at = shown.find(regime, at);
      CHECK(at != std::string::npos);
    }
  }
}

TEST_CASE("that scores sum to zero is said where they are divided by their sum") {
  check_has(accepted({"pool", "--scores", "1 -1", "--section", "Sum"}).out, "The scores of query 1 sum to 0");
}

TEST_CASE("a walk that ends early says what is missing") {
  const Words x = {"walk", "--x", "1 0; 0 1", "--wq", "1 0; 0 1"};
  const auto with = [&](const Words& more) {
    Words words = x;
    words.insert(words.end(), more.begin(), more.end());
    return accepted(words).errors;
  };
  check_has(with({}), "give --wk with --x, or --k");
  check_has(with({"--wk", "1 0; 0 1"}), "give --wv with --x, or --v");
  CHECK(with({"--wk", "1 0; 0 1", "--wv", "1 0; 0 1"}) == "");
}

TEST_CASE("the page of the projection says why queries, keys and values are called so") {
  check_has(accepted({"project", "--width", "2000"}).out, "The names come from");
}

TEST_CASE("words that are the same are swapped without any change, with and without positions") {
  const std::string same = accepted({"walk", "--text", "a b a", "--swap", "1,3", "--width", "200"}).out;
  check_has(same, "the sentence has not changed");
  CHECK(same.find("can depend on word order") == std::string::npos);
  check_has(accepted({"walk", "--text", "a b", "--swap", "1,2", "--causal"}).out, "The mask belongs to the positions");
  check_has(accepted({"walk", "--text", "a <blank> b", "--swap", "1,2"}).out, "The outputs are swapped like the words");
}

TEST_CASE("how a mask is written says whether it permits or is added") {
  const auto weights = [](const std::string& mask) {
    return page({"softmax", "--scores", "0 0; 0 0", "--mask", mask})["arrays"]["weights"];
  };
  const Json half = parse_json("[[0.5, 0.5], [0.5, 0.5]]", "expected");
  CHECK(weights("1 0; 1 1") == parse_json("[[1, 0], [0.5, 0.5]]", "expected"));
  CHECK(weights("[[true, false], [true, true]]") == weights("1 0; 1 1"));
  CHECK(weights("0.0 0; 0 0") == half);
  CHECK(weights("[[0.0, 0], [0, 0]]") == half);
  CHECK(weights("0 -inf; 0 0") == weights("1 0; 1 1"));
  CHECK(weights("true true") == half);  // one row for all queries
  const ProcessResult floats = accepted({"softmax", "--scores", "1 2", "--mask", "1.0 0.0"});
  check_has(floats.errors, "the mask is of floats, so its zeros and ones are added to the scores");
  CHECK(accepted({"softmax", "--scores", "1 2", "--mask", "0.0 0.0"}).errors == "");
}

TEST_CASE("an added mask of zeros and ones is one when its problem is read back") {
  const Json written = page({"softmax", "--scores", "0 0", "--mask", "0.0 1"})["problem"];
  CHECK(written["mask"].dump() == "[[0.0,1.0]]");
}

TEST_CASE("a factor takes the place of a divisor, and a divisor below 1 is remarked upon") {
  const Words qk = {"softmax", "--q", "1 2; 0 1", "--k", "2 1; 1 1"};
  CHECK(page(qk + Words{"--multiply", "0.25"})["arrays"] == page(qk + Words{"--scale", "4"})["arrays"]);
  check_has(accepted(qk + Words{"--scale", "0.25"}).errors,
            "--scale 0.25 divides the scores, which makes them larger: to multiply them by 0.25, as PyTorch does, "
            "give --multiply 0.25");
  CHECK(accepted(qk + Words{"--scale", "1"}).errors == "");
  refuses(qk + Words{"--scale", "4", "--multiply", "0.25"}, "--scale and --multiply are both given");
  refuses(qk + Words{"--multiply", "0"}, "--multiply: '0' is not a finite number other than 0");
}

TEST_CASE("a soft cap is a matrix of the step of scaling") {
  const ProcessResult walk = accepted({"scale", "--scores", "10 -10", "--soft-cap", "5"});
  check_has(in_one_line(walk.out), "A soft cap keeps the scores between −5 and 5");
  check_has(walk.out, "capped = tanh(scores / 5) ⋅ 5");
}

TEST_CASE("a vector is a row or a column, and an array of three dimensions a batch, as the option takes it") {
  const Words additive = {"scores",   "--q",        "1 2",      "--k",        "3 4",      "--score",
                          "additive", "--score-wq", "1 0; 0 1", "--score-wk", "1 0; 0 1", "--score-wv"};
  CHECK(page(additive + Words{"[1, 2]"})["arrays"]["scores"] == page(additive + Words{"1; 2"})["arrays"]["scores"]);
  const Words learned = {"--wq", "1; 1", "--wk", "1; 1", "--wv", "1; 1"};
  const Json batch =
      page(Words{"walk", "--x", "[[[1,2],[3,4]],[[0,1],[1,0]]]", "--only", "*output"} + learned)["arrays"];
  const Json one = page(Words{"walk", "--x", "0 1; 1 0", "--only", "*output"} + learned)["arrays"];
  CHECK(batch["sentence.2.output"] == one["output"]);
  refuses({"walk", "--q", "[[[1]],[[2]]]", "--k", "1", "--v", "1"},
          "has 2 matrices of 1×1, one after the other: give one of them");
}
