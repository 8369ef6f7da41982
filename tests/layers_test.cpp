#include <doctest/doctest.h>

#include <algorithm>

#include "core/attention/feed_forward.hpp"
#include "core/attention/identities.hpp"
#include "core/attention/watches.hpp"
#include "core/math/difference.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem_file.hpp"
#include "solution.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

std::function<void()> solving(std::string json) {
  return [json] { Solution{json}; };
}

Value input(Graph& graph, std::string_view name, const Matrix& matrix) {
  return graph.input(name_from_text(name), matrix, axis("rows"), axis("columns"));
}

OptionValues values_in(std::string_view json) { return read_problem_file(json, "file.json"); }

}  // namespace

TEST_CASE("a feed-forward layer without attention works on x itself") {
  Graph graph;
  add_computation(build_problem(read_problem_file(
                      R"({"x": [[1, -1], [2, 0]], "w_1": [[1, 0, 1], [0, 1, 1]], "b_1": [[0, 0, 1]],
                   "w_2": [[1, 0], [0, 1], [1, 1]]})",
                      "test")),
                  graph);
  CHECK(same(graph.at("inner").matrix(), matrix({{1, -1, 1}, {2, 0, 3}})));
  CHECK(same(graph.at("feed_forward").matrix(), matrix({{2, 1}, {5, 3}})));
}

TEST_CASE("a feed-forward layer by hand") {
  Graph graph;
  const FeedForward layer{
      .inner = {input(graph, "w_1", matrix({{1, -1}, {0, 2}})), input(graph, "b_1", matrix({{0, 1}}))},
      .outer = {input(graph, "w_2", matrix({{2}, {3}})), input(graph, "b_2", matrix({{10}}))}};
  const Value result = feed_forward(input(graph, "x", matrix({{1, 2}, {-1, -2}})), layer);
  CHECK(same(graph.at("inner").matrix(), matrix({{1, 4}, {-1, -2}})));
  CHECK(same(graph.at("rectified").matrix(), matrix({{1, 4}, {0, 0}})));
  CHECK(same(result.matrix(), matrix({{24}, {10}})));
}

TEST_CASE("layers without a feed-forward layer are one averaging with the product of their weights") {
  for (const char* more :
       {"", R"(, "causal": true)", R"(, "positions": "sinusoidal")", R"(, "d_v": 3)", R"(, "score": "additive")"}) {
    for (const std::string layers : {"2", "3", "5"}) {
      CAPTURE(more);
      CAPTURE(layers);
      const Solution solution(R"({"text": ["all of it again"], "d_model": 4, "no_feed_forward": true, "layers": )" +
                              layers + more + "}");
      CHECK(largest_difference(solution["averaging.output"], solution["layer." + layers + ".output"]) < 1e-12);
      const Matrix& weights = solution["averaging.weights"];
      for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0.0;
        for (const double weight : row(weights, i)) sum += weight;
        CHECK(close(sum, 1.0, 1e-12));
      }
    }
  }
}

TEST_CASE("with ReLU between them the layers are more than one averaging") {
  const Solution solution(R"({"text": ["all of it again"], "d_model": 4, "layers": 2})");
  CHECK(largest_difference(solution["averaging.output"], solution["layer.2.feed_forward"]) > 1e-3);
}

TEST_CASE("a feed-forward layer that rectifies nothing is linear, and averages once again") {
  // All numbers are positive, so that ReLU changes none of them.
  const Solution solution(R"({"x": [[1, 2], [3, 1], [0.5, 4]], "w_q": [[1], [0.5]], "w_k": [[0.2], [1]],
                              "w_v": [[1, 0.5], [0.25, 1]], "w_1": [[1, 2, 0.5], [0.5, 1, 1]],
                              "w_2": [[1, 0.1], [0.2, 1], [0.3, 0.4]], "layers": 2})");
  CHECK(largest_difference(solution["averaging.output"], solution["layer.2.feed_forward"]) < 1e-9);
}

TEST_CASE("every layer attends to what the one below found") {
  const Solution two(R"({"text": ["one word more"], "d_model": 4, "layers": 2})");
  Problem second = two.problem;
  second.layers = 1;
  second.sequences.front().x = two["layer.1.feed_forward"];
  Graph graph;
  add_computation(second, graph);
  CHECK(same(graph.at("feed_forward").matrix(), two["layer.2.feed_forward"]));
  CHECK(same(graph.at("weights").matrix(), two["layer.2.weights"]));
}

TEST_CASE("layers read back as themselves") {
  for (const char* json :
       {R"({"text": ["a b c"], "layers": 3})", R"({"text": ["a b c"], "layers": 2, "no_feed_forward": true})",
        R"({"text": ["a b c"], "layers": 2, "heads": 2, "d_ff": 3})", R"({"text": ["a b c"], "d_ff": 3})",
        R"({"text": ["a b c"], "layers": 2, "d_v": 3})",
        R"({"text": ["a b", "c"], "layers": 2, "positions": "relative-bias"})",
        R"({"text": ["a b"], "memory_text": ["c d e"], "d_memory": 3, "layers": 2})",
        R"({"text": ["a b"], "memory_text": ["c d e"], "heads": 2})"}) {
    CAPTURE(json);
    const Solution solution(json);
    const Solution again(written(solution.problem));
    CHECK(again.problem.feed_forward == solution.problem.feed_forward);
    CHECK(again.graph.names() == solution.graph.names());
    CHECK(written(again.problem) == written(solution.problem));
    CHECK(again.problem.remarks.empty());
  }
}

TEST_CASE("a memory of words has as many keys as words, and a size of its own") {
  const Solution solution(R"({"text": ["a b c d"], "memory_text": ["le chat"], "d_model": 4, "d_memory": 6})");
  CHECK(solution["memory"].shape() == Shape{2, 6});
  CHECK(solution["w_k"].shape() == Shape{6, 4});
  CHECK(solution["weights"].shape() == Shape{4, 2});
  CHECK(solution.graph.at("weights").frame.columns.label(1) == "chat");
  CHECK(solution["output"].shape() == Shape{4, 4});
}

TEST_CASE("an alignment is the weights with queries as columns, and its columns sum to one") {
  Solution solution(R"({"text": ["a b c d"], "memory_text": ["le chat"], "heads": 2})");
  add_alignments(solution.graph);
  for (const std::string head : {"head.1.", "head.2."}) {
    const Matrix &weights = solution[head + "weights"], &alignment = solution[head + "alignment"];
    REQUIRE(alignment.shape() == Shape{2, 4});
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(alignment(0, i) == weights(i, 0));
      CHECK(close(alignment(0, i) + alignment(1, i), 1.0, 1e-12));
    }
    CHECK(solution.graph.at(head + "alignment").frame.rows.label(0) == "le");
    CHECK(solution.graph.at(head + "alignment").frame.columns.label(0) == "a");
  }
}

TEST_CASE("another feed-forward layer takes the place of the one in a file") {
  const std::string file = R"("x": [[1, 2]], "w_q": [[1], [1]], "w_k": [[1], [1]], "w_v": [[1, 0], [0, 1]])";
  const auto overridden = [](const std::string& json, const std::string& by) {
    OptionValues values = values_in(json);
    values.override_with(values_in(by));
    return build_problem(values);
  };
  const std::string with = "{" + file + R"(, "w_1": [[1], [1]], "w_2": [[1, 1]]})";
  CHECK_FALSE(overridden(with, R"({"no_feed_forward": true})").feed_forward);
  CHECK(overridden(with, R"({"d_ff": 5})").matrices.at(&role::w_1).shape() == Shape{2, 5});
  const std::string without = "{" + file + R"(, "no_feed_forward": true})";
  CHECK(overridden(without, R"({"d_ff": 5})").feed_forward);
}

TEST_CASE("layers that cannot be are refused") {
  const std::string x = R"({"x": [[1, 2], [3, 4]], "w_q": [[1], [1]], "w_k": [[1], [1]], "w_v": [[1, 0], [0, 1]], )";
  check_refused({
      {"10000 heads in all", solving(R"({"text": ["a"], "layers": 1000000000})")},
      {"10000 heads in all", solving(R"({"text": ["a"], "layers": 101, "heads": 100, "d_k": 1})")},
      {"10000 heads in all", solving(R"({"text": ["a"], "heads": 20000, "d_k": 1})")},
      {"scores is given, and layers", solving(R"({"scores": [[1]], "layers": 2})")},
      {"q is given, and layers", solving(R"({"q": [[1]], "k": [[1]], "v": [[1]], "layers": 2})")},
      {"needs w_1 and w_2", solving(x + R"("w_1": [[1], [1]]})")},
      {"needs w_1 and w_2", solving(x + R"("w_2": [[1, 1]]})")},
      {"b_1 is given without w_1", solving(x + R"("b_1": [[1, 1]]})")},
      {"b_2 is given without w_2", solving(x + R"("b_2": [[1, 1]]})")},
      {"the bias must be one row of 1", solving(x + R"("w_1": [[1], [1]], "w_2": [[1, 1]], "b_1": [[1, 2]]})")},
      {"w_1 must have one row for each of the 2 columns", solving(x + R"("w_1": [[1]], "w_2": [[1, 1]]})")},
      {"w_2 must have one row for each of the 1 columns",
       solving(x + R"("w_1": [[1], [1]], "w_2": [[1, 1], [1, 1]]})")},
      {"--d-ff 5 needs 5 columns in w_1, which has 1",
       solving(x + R"("w_1": [[1], [1]], "w_2": [[1, 1]], "d_ff": 5})")},
      {"--no-feed-forward and --w1", solving(x + R"("w_1": [[1], [1]], "no_feed_forward": true})")},
      {"--scores and --d-ff", solving(R"({"scores": [[1]], "d_ff": 2})")},
      {"--weights and --w1", solving(R"({"weights": [[1]], "v": [[1]], "w_1": [[1]]})")},
      {"inner would be 1×2147483648", solving(R"({"text": ["a"], "d_ff": 2147483648})")},
      {"memory would be 1×2147483648", solving(R"({"text": ["a"], "memory_text": ["b"], "d_memory": 2147483648})")},
      {"--memory and --memory-text", solving(R"({"text": ["a"], "memory_text": ["b"], "memory": [[1]]})")},
      {"given 2 times", solving(R"({"text": ["a"], "memory_text": ["b", "c"]})")},
      {"which is not given", solving(R"({"text": ["a"], "d_memory": 3})")},
      {"scores would be 100000×100000", solving(R"({"n_q": 100000, "n_k": 100000, "d_k": 1})")},
  });
}

TEST_CASE("numbers that leave double precision in a layer are told by their name") {
  const char* const json = R"({"x": [[1e200]], "w_q": [[1e-300]], "w_k": [[1]], "w_v": [[1]], "w_1": [[1e200]],
                               "w_2": [[1]]})";
  CHECK(refusal([&] { Solution solution(json); }).starts_with("inner[1,1] is inf"));
}
