#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/attention/attention.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/watches.hpp"
#include "core/math/difference.hpp"
#include "core/term/explanation.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/attention_steps.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Value input(Graph& graph, const char* name, const Matrix& matrix) {
  return graph.input(name_from_text(name), matrix, axis("rows"), axis("columns"));
}

Matrix random_matrix(Shape shape) {
  return filled(shape, [] { return *rc::gen::inRange(-20, 21) / 8.0; });
}

Graph& solved(Graph& graph, const char* json) {
  add_computation(build_problem(read_problem_file(json, "test")), graph);
  compute_watched(graph);
  return graph;
}

}  // namespace

TEST_CASE("the gaussian score is minus half the squared distance over the squared width") {
  Graph graph;
  const Value scores =
      gaussian(input(graph, "q", matrix({{1, 2}})), input(graph, "k", matrix({{1, 2}, {4, 6}})), {.sigma = 2.0});
  CHECK(close(scores.matrix(), matrix({{0, -25.0 / 2 / 4}}), 1e-15));
}

TEST_CASE("the gaussian score has its digits wherever the points lie") {
  const auto scores_of = [](const char* json) {
    Graph graph;
    return solved(graph, json).at("scores").matrix();
  };
  CHECK(same(scores_of(R"({"q": [[100000001, 0]], "k": [[100000000, 1], [100000000, 0]],
                           "score": "gaussian"})"),
             matrix({{-1, -0.5}})));
  CHECK(close(scores_of(R"({"q": [[1700000000]], "k": [[1700000000], [1700000060], [1700000120]],
                            "score": "gaussian", "score_sigma": 60})"),
              matrix({{0, -0.5, -2}}), 1e-15));
  CHECK(rc::check("moving queries and keys together changes nothing", [] {
    Graph graph;
    const Matrix q = random_matrix({3, 4}), k = random_matrix({5, 4});
    const auto moved = [](Matrix matrix) {
      for (double& cell : cells(matrix)) cell += 1048576.0;  // the sums are exact
      return matrix;
    };
    const Value near = gaussian(input(graph, "q", q), input(graph, "k", k), {});
    const Value far = gaussian(input(graph, "far_q", moved(q)), input(graph, "far_k", moved(k)), {});
    RC_ASSERT(same(near.matrix(), far.matrix()));
  }));
}

TEST_CASE("the gaussian score is shown squared out as well, beside the scores in every head") {
  Graph graph;
  solved(graph, R"({"text": "a b c", "heads": 2, "seed": 4, "score": "gaussian", "score_sigma": 2})");
  for (const std::string head : {"head.1.", "head.2."}) {
    CHECK(formula_of(graph.at(head + "expanded")).plain ==
          fmt::format("{0}expanded = ({0}dot − {0}half_kᵀ − {0}half_q) / 2²", head));
    CHECK(formula_of(graph.at(head + "scores")).plain == fmt::format("{0}scores = −½‖{0}qᵢ − {0}kⱼ‖² / 2²", head));
    CHECK(close(graph.at(head + "expanded").matrix(), graph.at(head + "scores").matrix(), 1e-13));
  }
  CHECK(warnings(graph).empty());
  Graph positioned;
  solved(positioned, R"({"text": "a b c", "seed": 4, "score": "gaussian", "positions": "relative-vectors"})");
  CHECK(close(positioned.at("expanded").matrix(), positioned.at("content").matrix(), 1e-13));
}

TEST_CASE("a warning says where the squared-out score has lost digits, and how many it has") {
  Graph graph;
  solved(graph, R"({"q": [[100000001, 0]], "k": [[100000000, 1], [100000000, 0]], "score": "gaussian"})");
  const std::vector<std::string> found = warnings(graph);
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("expanded[1,1] is 0, and differs from scores[1,1] by 1") != std::string::npos);
}

TEST_CASE("two matrices differ by NaN where one is NaN, and only matrices of one shape are compared") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(largest_difference(matrix({{1, nan, 5}}), matrix({{1, 1, 9}}))));
  CHECK(largest_difference(matrix({{1, 2, 5}}), matrix({{1, 1, 9}})) == 4.0);
  CHECK_THROWS_AS(largest_difference(matrix({{1, 2}}), matrix({{1}, {2}})), std::logic_error);
}

TEST_CASE("what a scoring function names beside its scores leads to them, and scores know what they mean") {
  for (const ScoringFunction& function : scoring_functions()) {
    CAPTURE(function.name);
    CHECK_FALSE(function.meaning.empty());
    Graph graph;
    solved(graph, (R"({"text": "a b", "seed": 4, "score": ")" + std::string(function.name) + "\"}").c_str());
    const Node& scores = graph.at(role::scores);
    CHECK(meaning_of(*step_of(scores), scores) == function.meaning);
    CHECK_FALSE(leads_to_scores(scores));
    for (const Node* node : graph.named()) {
      const bool is_computed_here = node->op && step_of(*node)->shows(scores) && node != &scores;
      CHECK(leads_to_scores(*node) == is_computed_here);
    }
  }
}

TEST_CASE("a scoring function that names nothing else is described by its own meaning") {
  const ScoringFunction nearest{
      .name = "nearest", .summary = "", .meaning = "A score is how near a key is.", .scale = "none", .score = gaussian};
  Graph graph;
  const Value q = input(graph, "q", matrix({{1, 2}})), k = input(graph, "k", matrix({{1, 2}, {3, 4}}));
  attention_weights(attention_scores(q, k, recipe_of(nearest, {}, {.d_k = 2})), {});
  const Node& scores = graph.at(role::scores);
  CHECK(meaning_of(*step_of(scores), scores) == nearest.meaning);
}

TEST_CASE("scores that would take more memory than a matrix may have are refused before they take it") {
  const std::string many = "\"n_q\": 2000, \"n_k\": 2000, \"d_k\": 64, \"seed\": 1";
  const auto scoring = [](const std::string& fields) {
    return [fields] {
      Graph graph;
      solved(graph, ("{" + fields + "}").c_str());
    };
  };
  check_refused({
      {"the pairs of 2000 rows of hidden_q and 2000 rows of hidden_k, with 64 numbers each, are more than "
       "the 134217728 cells",
       scoring(many + R"(, "score": "additive")")},
  });
  Graph graph;
  const Value column = graph.input(role::x, Matrix({20000, 1}, 1.0), axis("rows"), axis("columns"));
  check_refused({{"(x ⋅ xᵀ) would be 20000×20000, more than the 134217728 cells that a matrix may have",
                  [&] { matmul_transposed(column, column).matrix(); }}});
}

TEST_CASE("the bilinear score multiplies every pair with the matrix between them") {
  Graph graph;
  const ScoreParameters parameters{
      .matrices = {{&role::score_m, input(graph, "score_m", matrix({{1, 0, 2}, {0, 1, 0}}))}}};
  // Queries of two numbers, keys of three: (1·1 + 2·3) · … by hand.
  const Value scores =
      bilinear(input(graph, "q", matrix({{1, 2}})), input(graph, "k", matrix({{1, 1, 1}, {0, 2, 3}})), parameters);
  CHECK(same(scores.matrix(), matrix({{1 * 1 + 2 * 1 + 2 * 1, 2 * 2 + 2 * 3}})));
}

TEST_CASE("the additive score passes the sum of both projections through tanh") {
  Graph graph;
  const ScoreParameters parameters{.matrices = {{&role::score_wq, input(graph, "score_wq", matrix({{1, -1}}))},
                                                {&role::score_wk, input(graph, "score_wk", matrix({{0.5, 1}, {1, 0}}))},
                                                {&role::score_wv, input(graph, "score_wv", matrix({{2}, {3}}))}}};
  const Value scores = additive(input(graph, "q", matrix({{1}, {0}})), input(graph, "k", matrix({{2, 1}})), parameters);
  // W_k k = (2, 2); W_q q = (1, −1) or (0, 0).
  CHECK(close(scores.matrix(),
              matrix({{2 * std::tanh(3.0) + 3 * std::tanh(1.0)}, {2 * std::tanh(2.0) + 3 * std::tanh(2.0)}}), 1e-14));
}

TEST_CASE("the identities that the documents state hold for all numbers") {
  CHECK(rc::check("gaussian and dot agree where keys have the same length", [] {
    const Matrix q = random_matrix({3, 2}), k = of_equal_length(filled({4, 2}, [] { return *rc::gen::inRange(1, 9); }));
    RC_ASSERT(gaussian_against_dot(q, k) < 1e-12);
  }));
  CHECK(rc::check("additive attention is one hidden layer on both", [] {
    RC_ASSERT(additive_against_hidden_layer(random_matrix({2, 3}), random_matrix({4, 2}), random_matrix({3, 5}),
                                            random_matrix({2, 5}), random_matrix({5, 1})) < 1e-12);
  }));
  CHECK(rc::check("a split projection is as many independent ones", [] {
    const Matrix w_q = random_matrix({4, 6}), w_k = random_matrix({4, 6}), w_v = random_matrix({4, 9}),
                 w_o = random_matrix({9, 2});
    for (const std::size_t heads : {1U, 3U}) {
      RC_ASSERT(split_against_independent(random_matrix({3, 4}), {w_q, w_k, w_v, w_o}, heads) < 1e-12);
    }
  }));
  // And where lengths differ, the gaussian prefers the short keys.
  CHECK(gaussian_against_dot(matrix({{1, 0}}), matrix({{1, 0}, {3, 0}})) > 0.5);
}

TEST_CASE("every scoring function works in every head, and its problem reads back the same") {
  for (const ScoringFunction& function : scoring_functions()) {
    CAPTURE(function.name);
    const std::string json =
        R"({"text": "a b c", "heads": 2, "seed": 4, "score": ")" + std::string(function.name) + "\"}";
    const Problem problem = build_problem(read_problem_file(json, "test"));
    Graph graph;
    add_computation(problem, graph);
    for (const char* name : {"head.1.weights", "head.2.weights"}) {
      const Matrix& weights = graph.at(name).matrix();
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(close(row(weights, i)[0] + row(weights, i)[1] + row(weights, i)[2], 1.0, 1e-15));
      }
    }
    std::string written;
    Sink sink([&](std::string_view bytes) { written += bytes; });
    JsonWriter writer(sink);
    write_problem(problem, writer);
    sink.flush();
    Graph again;
    add_computation(build_problem(read_problem_file(written, "written")), again);
    CHECK(same(graph.at("output").matrix(), again.at("output").matrix()));
  }
}

TEST_CASE("queries and keys of different sizes are for bilinear and additive alone") {
  const auto scoring = [](const char* fields) {
    return [fields] {
      Graph graph;
      solved(graph, (std::string(R"({"q": [[1, 2]], "k": [[1, 2, 3]], )") + fields + "}").c_str());
    };
  };
  check_refused({
      {"except with ‹score› bilinear or additive", scoring(R"("score": "dot")")},
      {"except with ‹score› bilinear or additive", scoring(R"("score": "gaussian")")},
      {"‹score› bilinear needs score_m", scoring(R"("score": "bilinear")")},
      {"it must have 2 rows", scoring(R"("score": "bilinear", "score_m": [[1, 2, 3]])")},
      {"it must have 3 columns", scoring(R"("score": "bilinear", "score_m": [[1], [2]])")},
      {"‹score› additive needs score_wk", scoring(R"("score": "additive", "score_wq": [[1], [2]])")},
      {"it must have 1 row,",
       scoring(
           R"("score": "additive", "score_wq": [[1], [2]], "score_wk": [[1], [2], [3]], "score_wv": [[1, 2], [3, 4]])")},
      {"is not a positive finite number", scoring(R"("score": "gaussian", "score_sigma": 0)")},
  });
  Graph graph;
  solved(graph, R"({"q": [[1, 2]], "k": [[1, 2, 3]], "score": "bilinear", "score_m": [[1, 0, 0], [0, 0, 1]]})");
  CHECK(graph.at("scores").matrix()(0, 0) == 1 + 6);
}

TEST_CASE("the cosine score is the dot product of vectors of length 1, and 0 for a vector of zeros") {
  Graph graph;
  const Value scores = cosine_similarity(input(graph, "q", matrix({{3, 4}, {0, 0}})),
                                         input(graph, "k", matrix({{4, 3}, {-6, -8}, {0, 2}})), {});
  CHECK(close(scores.matrix(), matrix({{24.0 / 25, -1, 0.8}, {0, 0, 0}}), 1e-15));
  CHECK(close(graph.at("unit_k").matrix(), matrix({{0.8, 0.6}, {-0.6, -0.8}, {0, 1}}), 1e-15));
  CHECK(rc::check("it does not depend on lengths", [] {
    const Matrix q = random_matrix({3, 4}), k = random_matrix({5, 4});
    Matrix longer = q;
    for (double& cell : cells(longer)) cell *= 4.0;
    const auto scores = [&](const Matrix& queries) {
      Graph own;
      return Matrix(cosine_similarity(input(own, "q", queries), input(own, "k", k), {}).matrix());
    };
    RC_ASSERT(close(scores(q), scores(longer), 1e-14));
  }));
}

TEST_CASE("the cosine score takes numbers whose squares no double can hold") {
  const double largest = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::denorm_min();
  Graph graph;
  const Matrix q = matrix({{3e-200, 4e-200}, {3e200, -4e200}, {largest, largest}, {smallest, 0}, {0, 0}});
  const Value scores = cosine_similarity(input(graph, "q", q), input(graph, "k", matrix({{1, 0}, {0, 1}})), {});
  const double half = std::sqrt(0.5);
  CHECK(close(scores.matrix(), matrix({{0.6, 0.8}, {0.6, -0.8}, {half, half}, {1, 0}, {0, 0}}), 1e-15));
  for (std::size_t i = 0; i < q.shape().rows; ++i) {
    CAPTURE(i);
    const Node& unit = graph.at("unit_q");
    CHECK(close(explain({&unit, i, 1}).term.value, unit.matrix()(i, 1), 1e-15));
  }
}

TEST_CASE("a bias is one number of the bilinear score, and a row within the tanh of the additive score") {
  const Matrix q = matrix({{1, 2}, {-1, 0.5}}), k = matrix({{0.5, -1}, {2, 1}, {0, 1}});
  const Matrix m = matrix({{1, 0.5}, {-0.25, 2}}), w = matrix({{0.5}, {-2}}), b = matrix({{0.75, -1.5}});
  Graph graph;
  const Value queries = input(graph, "q", q), keys = input(graph, "k", k);
  const Value to_hidden = input(graph, "score_wq", m);
  Graph second;
  const ScoreParameters of_bilinear{.matrices = {{&role::score_m, input(second, "score_m", m)},
                                                 {&role::score_b, input(second, "score_b", matrix({{0.25}}))}}};
  const ScoreParameters of_additive{.matrices = {{&role::score_wq, to_hidden},
                                                 {&role::score_wk, input(graph, "score_wk", m)},
                                                 {&role::score_wv, input(graph, "score_wv", w)},
                                                 {&role::score_b, input(graph, "b", b)}}};
  const Matrix of_products = bilinear(input(second, "q", q), input(second, "k", k), of_bilinear).matrix();
  const Matrix of_network = additive(queries, keys, of_additive).matrix();
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double product = 0.25, network = 0.0;
      for (std::size_t c = 0; c < 2; ++c) {
        double hidden = b(0, c);
        for (std::size_t r = 0; r < 2; ++r) {
          product += q(i, r) * m(r, c) * k(j, c);
          hidden += (q(i, r) + k(j, r)) * m(r, c);
        }
        network += w(c, 0) * std::tanh(hidden);
      }
      CHECK(close(of_products(i, j), product, 1e-14));
      CHECK(close(of_network(i, j), network, 1e-14));
    }
  }
  const auto refused = [&](Value (*score)(const Value&, const Value&, const ScoreParameters&), const Matrix& bias) {
    Graph other;
    const ScoreParameters parameters{.matrices = {{&role::score_m, input(other, "score_m", m)},
                                                  {&role::score_wq, input(other, "score_wq", m)},
                                                  {&role::score_wk, input(other, "score_wk", m)},
                                                  {&role::score_wv, input(other, "score_wv", w)},
                                                  {&role::score_b, input(other, "score_b", bias)}}};
    return refusal([&] { score(input(other, "q", q), input(other, "k", k), parameters); });
  };
  CHECK(refused(bilinear, b) == "scores: score_b is 1×2: it must be one row of 1 number, the same for every score");
  CHECK(refused(additive, matrix({{1}})) ==
        "scores: score_b is 1×1: it must be one row of 2 numbers, one for each column of score_wq");
}
