#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>
#include <set>

#include "commands_tried.hpp"
#include "core/attention/pooling.hpp"
#include "core/attention/score.hpp"
#include "core/math/rows.hpp"
#include "core/op/operations.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/problem/problem_file.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Matrix weights_of(std::string_view pooling, const Matrix& scores) {
  Graph graph;
  const Value given = graph.input(role::scores, scores, axis("queries"), axis("keys"));
  return look_up(poolings(), pooling, "pooling").weights(given).matrix();
}

std::string_view regime(const std::vector<double>& weights) { return regime_of(weights).name; }

std::vector<Json> blocks(const Json& page, std::string_view type) {
  std::vector<Json> found;
  for (const Json& block : page["page"]) {
    if (block["type"] == type) found.push_back(block);
  }
  return found;
}

}  // namespace

TEST_CASE("pooling the same scores in four ways") {
  const Matrix scores = matrix({{1, 3, 0}});
  CHECK(close(weights_of("average", scores), matrix({{1.0 / 3, 1.0 / 3, 1.0 / 3}}), 1e-15));
  CHECK(same(weights_of("look-up", scores), matrix({{0, 1, 0}})));
  CHECK(same(weights_of("sum", scores), matrix({{0.25, 0.75, 0}})));
  const double total = std::exp(1.0) + std::exp(3.0) + 1.0;
  CHECK(
      close(weights_of("softmax", scores), matrix({{std::exp(1.0) / total, std::exp(3.0) / total, 1 / total}}), 1e-15));
}

TEST_CASE("the weights of every pooling sum to one where all scores are positive") {
  for (const Pooling& pooling : poolings()) {
    CAPTURE(pooling.name);
    CHECK_FALSE(pooling.summary.empty());
    const Matrix weights = weights_of(pooling.name, matrix({{1, 2, 3}, {7, 7, 7}, {0.1, 0.1, 1e9}}));
    for (std::size_t i = 0; i < 3; ++i) {
      const std::span<const double> cells = row(weights, i);
      CHECK(close(std::accumulate(cells.begin(), cells.end(), 0.0), 1.0, 1e-12));
    }
  }
}

TEST_CASE("a lookup takes the first of equals, and exactly one") {
  CHECK(same(weights_of("look-up", matrix({{2, 2, 2}, {-1, -3, -1}})), matrix({{1, 0, 0}, {1, 0, 0}})));
}

TEST_CASE("the sum turns negative scores around, and a sum of zero gives no weight at all") {
  CHECK(same(weights_of("sum", matrix({{-1, -3}})), matrix({{0.25, 0.75}})));
  CHECK(same(weights_of("sum", matrix({{3, -1}})), matrix({{1.5, -0.5}})));
  CHECK(same(weights_of("sum", matrix({{1, -1}, {0, 0}})), matrix({{0, 0}, {0, 0}})));
  const Matrix softmax = weights_of("softmax", matrix({{-1, -3}, {1, -1}}));
  CHECK(softmax(0, 0) > softmax(0, 1));
  CHECK(softmax(1, 0) > softmax(1, 1));
}

TEST_CASE("every row of weights falls in the most special regime that holds") {
  CHECK(regime({0, 1, 0}) == "one-hot");
  CHECK(regime({1}) == "one-hot");
  CHECK(regime({0.25, 0.25, 0.25, 0.25}) == "uniform");
  CHECK(regime({0.5, 0.25, 0.25}) == "convex");
  CHECK(regime({1 - 1e-12, 1e-12}) == "convex");
  CHECK(regime({1e-3, 1 - 1e-3}) == "convex");
  CHECK(regime({0.5, 0.25}) == "cone");
  CHECK(regime({0, 0}) == "cone");
  CHECK(regime({2, 0}) == "cone");
  CHECK(regime({1.5, -0.5}) == "none");
  CHECK(regime({std::nan(""), 1}) == "none");
}

TEST_CASE("the regimes have names of their own, and the last one always holds") {
  std::set<std::string_view> names;
  for (const Regime& row : regimes()) {
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.summary.empty());
  }
  CHECK(regimes().back().holds(std::vector<double>{-1, std::nan("")}));
}

TEST_CASE("entropy counts the keys among which a weight is shared") {
  CHECK(entropy(std::vector<double>{1, 0, 0}) == 0.0);
  CHECK(entropy(std::vector<double>{0.5, 0.5}) == 1.0);
  CHECK(entropy(std::vector<double>(8, 0.125)) == 3.0);
  CHECK(entropy(std::vector<double>{0.5, 0.25, 0.25}) == 1.5);
}

TEST_CASE("the size of the softmax's derivative is that of all its partial derivatives") {
  const std::vector<double> weights = {0.5, 0.3, 0.15, 0.05};
  double squares = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const double partial = weights[i] * ((i == j ? 1.0 : 0.0) - weights[j]);
      squares += partial * partial;
    }
  }
  CHECK(close(derivative_size(weights), std::sqrt(squares), 1e-15));
  for (const double gap : {16.0, 20.0, 40.0, 300.0}) {
    const double rest = std::exp(-gap), share = 1.0 / (1.0 + rest);
    const std::vector<double> sharp = {share, rest * share};
    // By hand, without a difference that cancels: 2 p (1 − p), and p ln(1 + r) + (1 − p) (gap + ln(1 + r)).
    const double derivative = 2.0 * share * (rest * share);
    const double bits = (std::log1p(rest) + rest * share * gap) / std::log(2.0);
    CHECK(close(derivative_size(sharp) / derivative, 1.0, 1e-12));
    CHECK(close(entropy(sharp) / bits, 1.0, 1e-12));
  }
  CHECK(derivative_size(std::vector<double>{1, 0}) == 0.0);
  CHECK(derivative_size(std::vector<double>{0.5, 0.5}) == 0.5);
}

TEST_CASE("the variance of random scores grows as the keys' size, and scaling takes it back to one") {
  for (const std::size_t d_k : {1u, 4u, 64u, 1024u}) {
    CAPTURE(d_k);
    const RandomScores scores = random_scores(d_k, 7);
    CHECK(scores.scaled_variance > 0.7);
    CHECK(scores.scaled_variance < 1.4);
    CHECK(close(scores.variance, scores.scaled_variance * static_cast<double>(d_k), 1e-9 * scores.variance));
  }
  CHECK(random_scores(16, 1).variance == random_scores(16, 1).variance);
  CHECK(random_scores(16, 1).variance != random_scores(16, 2).variance);
}

TEST_CASE("the scale sqrt-n divides by the root of the number of keys") {
  CHECK(divisor("sqrt-n", {.d_k = 9, .n_k = 16})->value == 4.0);
  CHECK(divisor("sqrt-dk", {.d_k = 9, .n_k = 16})->value == 3.0);
  const Problem problem =
      build_problem(read_problem_file(R"({"q": [[2]], "k": [[1], [2], [3], [4]], "scale": "sqrt-n"})", "file.json"));
  Graph graph;
  add_computation(problem, graph);
  CHECK(same(graph.at("scaled").matrix(), matrix({{1, 2, 3, 4}})));
}

TEST_CASE("attn pool names the regime of every row, and its outputs are what the weights say") {
  const Json pooled = page({"pool", "--scores", "1 3; 1 -1; 2 2", "--v", "4; 8"});
  const std::vector<Json> listings = blocks(pooled, "listing");
  REQUIRE(listings.size() == poolings().size());
  const auto regimes_of = [&](std::size_t pooling) {
    std::vector<std::string> names;
    for (const Json& row : listings[pooling]["rows"]) names.push_back(row[1].get<std::string>());
    return names;
  };
  CHECK(regimes_of(0) == std::vector<std::string>{"uniform", "uniform", "uniform"});
  CHECK(regimes_of(1) == std::vector<std::string>{"one-hot", "one-hot", "one-hot"});
  CHECK(regimes_of(2) == std::vector<std::string>{"convex", "cone", "uniform"});
  CHECK(regimes_of(3) == std::vector<std::string>{"convex", "convex", "uniform"});
  CHECK(run_attn({"pool", "--scores", "1 3; 1 -1", "--v", "4; 8"}).out.find("The scores of query 2 sum to 0") !=
        std::string::npos);
}

TEST_CASE("on a line pooling draws a curve, which passes through the values of a narrow kernel") {
  const Json pooled =
      page({"pool", "--q", "0", "--k", "0; 1; 2", "--v", "5; 7; 6", "--score", "gaussian", "--score-sigma", "0.05"});
  const std::vector<Json> plots = blocks(pooled, "plot");
  REQUIRE(plots.size() == 1);
  const Json& softmax = plots[0]["series"][2];
  REQUIRE(softmax["name"] == "softmax");
  for (std::size_t i = 0; i < softmax["x"].size(); ++i) {
    const double x = softmax["x"][i], y = softmax["y"][i];
    CHECK(y >= 5.0 - 1e-9);
    CHECK(y <= 7.0 + 1e-9);
    if (std::fabs(x - 1.0) < 0.2) CHECK(close(y, 7.0, 1e-3));
  }
  CHECK(blocks(page({"pool", "--q", "0 1", "--k", "0 1; 1 0", "--v", "5; 7"}), "plot").empty());
}

TEST_CASE("the curve has the scoring function and the scale of the problem") {
  const Words points = {"pool", "--q", "1", "--k", "1; 2", "--v", "1; 5"};
  for (const Words& more :
       {Words{"--score", "additive", "--seed", "1", "--d-k", "1"}, Words{"--score", "bilinear", "--score-m", "2"},
        Words{"--scale", "3"}, Words{"--score", "dot"}, Words{"--positions", "relative-vectors"}}) {
    Words words = points;
    words.insert(words.end(), more.begin(), more.end());
    CHECK(run_attn(words).code == 0);
  }
  const Json scaled = page({"pool", "--q", "1", "--k", "1; 2", "--v", "1; 5", "--scale", "3"});
  const Json softmax = blocks(scaled, "plot")[0]["series"][2];
  for (std::size_t i = 0; i < softmax["x"].size(); ++i) {
    const double x = softmax["x"][i], one = std::exp(x / 3), two = std::exp(2 * x / 3);
    CHECK(close(softmax["y"][i].get<double>(), (one * 1 + two * 5) / (one + two), 1e-12));
  }
}

TEST_CASE("the curve of pooling has the bias of the scoring function") {
  const Words additive = {"pool", "--q",        "0.5",      "--k",        "0; 2", "--v",
                          "1; 5", "--score",    "additive", "--score-wq", "1",    "--score-wk",
                          "2",    "--score-wv", "3",        "--score-b",  "-1.5"};
  const Json softmax = blocks(page(additive), "plot")[0]["series"][2];
  CHECK(softmax["name"] == "softmax");
  for (std::size_t i = 0; i < softmax["x"].size(); ++i) {
    const double x = softmax["x"][i];
    const double one = std::exp(3 * std::tanh(x - 1.5)), two = std::exp(3 * std::tanh(x + 4 - 1.5));
    CHECK(close(softmax["y"][i].get<double>(), (one * 1 + two * 5) / (one + two), 1e-12));
  }
}

TEST_CASE("what is ignored where the scores are taken as they are scaled is told") {
  const Words scores = {"--q", "1 2", "--k", "1 0; 0 1", "--v", "1; 2"};
  for (const Words& command : {Words{"pool"}, Words{"scale", "--sweep", "1,2"}}) {
    CHECK(run_attn(command + scores).errors == "");
    check_has(run_attn(command + scores + Words{"--soft-cap", "1"}).errors, "this page computes without --soft-cap");
    check_has(run_attn(command + scores + Words{"--positions", "relative-bias", "--position-table", "1 2 3"}).errors,
              "this page computes without --positions relative-bias");
  }
}

TEST_CASE("a sweep divides the same scores, and the entropy rises with the divisor") {
  const Json swept = page({"scale", "--scores", "3 1 0", "--sweep", "0.1,1,10,100"});
  const Json& weights = swept["arrays"]["query.1.weights"];
  REQUIRE(weights.size() == 4);
  const double divisors[] = {0.1, 1, 10, 100};
  double lower = -1.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double total = 0.0;
    for (const double score : {3.0, 1.0, 0.0}) total += std::exp(score / divisors[i]);
    CHECK(close(weights[i][0].get<double>(), std::exp(3.0 / divisors[i]) / total, 1e-12));
    const double bits = entropy(weights[i].get<std::vector<double>>());
    CHECK(bits > lower);
    lower = bits;
  }
  CHECK(blocks(page({"scale", "--scores", "3 1", "--sweep", "2"}), "plot").empty());
}

TEST_CASE("a sum of which only rounding is left is nothing to divide by") {
  const ProcessResult shown =
      run_attn({"pool", "--scores", "0.1 0.2 -0.3; 1 2 3", "--v", "1; 2; 3", "--section", "Sum"});
  CHECK(shown.code == 0);
  CHECK_MESSAGE(shown.out.find("The scores of query 1 sum to 0.") != std::string::npos, shown.out);
  CHECK(shown.out.find("e+15") == std::string::npos);
}
