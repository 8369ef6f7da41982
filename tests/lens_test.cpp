#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "commands_tried.hpp"
#include "core/support/number.hpp"
#include "page/tell/lens_tables.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

const Words small = {"--layers", "2", "--heads", "2", "--d-model", "8", "--d-ff", "12", "--target", "a b c a"};

double number_in(const Json& row) { return row[0].get<double>(); }

// The terms of the logit of a word after a position, of a model that the words describe, are the logit.
Json taken_apart(const Words& model, std::size_t row, std::size_t word) {
  const std::string logit = fmt::format("logits[{},{}]", row, word);
  const Json all = page(Words{"lens"} + model + Words{"--of", logit})["arrays"];
  const Json logits = page(Words{"transformer"} + model + Words{"--only", "logits"})["arrays"]["logits"];
  double sum = 0.0;
  for (const Json& term : all["lens.contributions"]) sum += number_in(term);
  const double expected = logits[row - 1][word - 1].get<double>();
  CHECK(sum == doctest::Approx(expected).epsilon(1e-12));
  CHECK(number_in(all["lens.logit"][0]) == doctest::Approx(expected).epsilon(1e-12));
  // What the last layer would name is what the model names.
  const Json& last = all["lens.logits"].back();
  REQUIRE(last.size() == logits[row - 1].size());
  for (std::size_t j = 0; j < last.size(); ++j)
    CHECK(last[j].get<double>() == doctest::Approx(logits[row - 1][j].get<double>()).epsilon(1e-12));
  return all;
}

}  // namespace

TEST_CASE("the terms of a logit add up to it, wherever a model normalizes and whatever its output layer is") {
  for (const char* norm : {"pre", "none", "post"}) {
    for (const char* kind : {"layer", "rms"}) {
      for (const bool is_tied : {false, true}) {
        CAPTURE(norm);
        CAPTURE(kind);
        CAPTURE(is_tied);
        Words model = Words{"--kind", "decoder-only", "--norm", norm, "--norm-kind", kind} + small;
        if (is_tied) model.emplace_back("--tied-output");
        const Json all = taken_apart(model, 4, 2);
        CHECK(all["lens.logits"].size() == 3);
        const bool is_post = std::string_view(norm) == "post";
        const bool has_beta = std::string_view(kind) == "layer" && std::string_view(norm) != "none";
        // Two vectors, and in each layer two heads, a bias and a feed-forward layer.
        CHECK(all["lens.parts"].size() == (is_post ? 2 : 10));
        CHECK(all["lens.contributions"].size() ==
              all["lens.parts"].size() + std::size_t{has_beta} + std::size_t{!is_tied});
      }
    }
  }
  taken_apart({"--kind", "encoder-decoder", "--norm", "pre", "--layers", "1", "--heads", "2", "--source", "x y",
               "--target", "a b"},
              2, 3);
  taken_apart(
      {"--kind", "decoder-only", "--layers", "1", "--heads", "1", "--norm", "none", "--d-ff", "3", "--target", "a"}, 1,
      2);
}

TEST_CASE("of a model that was set by hand, the lens shows what its parts were set to do") {
  // b follows two a: the attention fetches the word before, and only the feed-forward layer tells the output layer.
  const Json all = page({"lens", "--model", "pattern", "--word", "b", "--at", "5"})["arrays"];
  const Json& terms = all["lens.contributions"];
  REQUIRE(terms.size() == 5);
  CHECK(number_in(terms[0]) == 0.0);
  CHECK(number_in(terms[1]) == 0.0);
  CHECK(number_in(terms[2]) == doctest::Approx(0.0));
  CHECK(number_in(terms[3]) == doctest::Approx(10.0));
  CHECK(number_in(terms[4]) == 0.0);
  const std::string text = accepted({"lens", "--model", "pattern", "--word", "b", "--at", "5"}).out;
  check_has(in_one_line(text), "2 of 2 a 99.3");
  check_has(in_one_line(text), "1 of 2 b 99.3");
}

TEST_CASE("every number of the lens is explained") {
  const Words model = {"lens", "--model", "induction", "--word", "b"};
  const std::string term = accepted(model + Words{"--explain", "lens.contributions[5,1]", "--depth", "1"}).out;
  check_has(term, "parts[5,1]");
  check_has(term, "decoder.2.self_attention.head.1.output[");
  check_has(accepted(model + Words{"--explain", "lens.logit[1,1]"}).out, "contributions[1,1] + contributions[2,1]");
  check_has(accepted(model + Words{"--only", "lens.logits"}).out, "lens.logits");
}

TEST_CASE("the lens refuses what it cannot look at") {
  const Words model = {"lens", "--model", "pattern"};
  refuses(model + Words{"--word", "z"}, "--word 'z': there is no such word");
  refuses(model + Words{"--at", "9"}, "--at '9'");
  refuses(model + Words{"--of", "distribution[1,2]"}, "--of distribution[1,2]: give a number of logits");
  refuses(model + Words{"--of", "logits[1,2]", "--word", "b"}, "--word");
  refuses({"lens", "--kind", "encoder-only"}, "needs an output layer");
}

TEST_CASE("the most probable words are told with as many digits as tell them from 0") {
  const Axis words = axis("words", {"a", "b", "c"});
  const auto told = [&](std::vector<double> probabilities) { return most_probable_words(probabilities, words, 2); };
  CHECK(told({0.1, 0.6, 0.3}) == "b 60.0\u00A0%, c 30.0\u00A0%");
  CHECK(told({0.9999, 0.0001, 0.0}) == "a 100.0\u00A0%");
  CHECK(told({0.00002, 0.0003, 0.0001}) == "b 0.03\u00A0%, c 0.01\u00A0%");
  CHECK(percent(0.0003) == "< 0.1\u00A0%");
  CHECK(percent(0.0) == "0.0\u00A0%");
}

TEST_CASE("what is explained may be a number of any command on matrices, with its options") {
  const Words options = {"--kind", "decoder-only", "--layers", "1", "--target", "a b", "--depth", "1"};
  CHECK(accepted(Words{"explain", "logits[2,b]", "decoder"} + options).out ==
        accepted(Words{"decoder", "--explain", "logits[2,b]"} + options).out);
}
