#include <doctest/doctest.h>

#include <cmath>

#include "core/attention/identities.hpp"
#include "core/attention/positional_encoding.hpp"
#include "core/math/difference.hpp"
#include "core/op/operations.hpp"
#include "core/support/text.hpp"
#include "core/term/explanation.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem_file.hpp"
#include "solution.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

Matrix sinusoids(const SinusoidLayout& layout, Shape shape) {
  Graph graph;
  return sinusoid(graph, layout, {shape, axis("places"), axis("features")}).matrix();
}

// The formula of the paper, word for word: PE(pos, 2i) and PE(pos, 2i + 1).
double published(std::size_t place, std::size_t column, std::size_t d) {
  const double two_i = static_cast<double>(column - column % 2);
  const double angle = static_cast<double>(place) / std::pow(10000.0, two_i / static_cast<double>(d));
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

long clipped(long distance, long most) { return std::min(std::max(distance, -most), most); }

std::string with_positions(std::string_view kind) {
  const bool is_in_tree = look_up(position_kinds(), kind, "kind of positions").is_in_tree;
  return R"({"text": ["who bites whom again"], "d_model": 8, "heads": 2, "positions": ")" + std::string(kind) + "\"" +
         (is_in_tree ? R"(, "parents": [[2, 0, 4, 2]]})" : "}");
}

OptionValues problem_of(std::string_view json) { return read_problem_file(json, "file.json"); }

std::function<void()> solving(std::string json) {
  return [json] { Solution{json}; };
}

}  // namespace

TEST_CASE("sinusoids are those of the paper, for even and odd sizes") {
  for (const std::size_t d : {1u, 2u, 3u, 8u, 64u}) {
    const Matrix positions = sinusoids(sinusoid_layouts()[0], {50, d});
    for (std::size_t i = 0; i < 50; ++i) {
      for (std::size_t j = 0; j < d; ++j) CHECK(close(positions(i, j), published(i, j, d), 1e-12));
    }
  }
}

TEST_CASE("the first place has sines of 0 and cosines of 1, and the second begins with sin 1 and cos 1") {
  const Matrix positions = sinusoids(sinusoid_layouts()[0], {2, 4});
  CHECK(close(positions(0, 0), 0, 0));
  CHECK(close(positions(0, 1), 1, 0));
  CHECK(close(positions(1, 0), std::sin(1.0), 1e-15));
  CHECK(close(positions(1, 1), std::cos(1.0), 1e-15));
  CHECK(close(positions(1, 2), std::sin(0.01), 1e-15));
  CHECK(close(positions(1, 3), std::cos(0.01), 1e-15));
}

TEST_CASE("concatenated sinusoids are the interleaved columns in another order") {
  const Matrix one = sinusoids(sinusoid_layouts()[0], {9, 6}), other = sinusoids(sinusoid_layouts()[1], {9, 6});
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(other(i, j) == one(i, 2 * j));
      CHECK(other(i, j + 3) == one(i, 2 * j + 1));
    }
  }
}

TEST_CASE("how alike two sinusoids are depends on their distance alone") {
  for (const SinusoidLayout& layout : sinusoid_layouts()) {
    CAPTURE(layout.name);
    const Matrix p = sinusoids(layout, {20, 8});
    const auto dot = [&](std::size_t a, std::size_t b) {
      double sum = 0.0;
      for (std::size_t j = 0; j < 8; ++j) sum += p(a, j) * p(b, j);
      return sum;
    };
    for (std::size_t distance = 0; distance < 10; ++distance) {
      double expected = 0.0;  // sin a sin b + cos a cos b = cos(a − b)
      for (int j = 0; j < 4; ++j) expected += std::cos(static_cast<double>(distance) / std::pow(10.0, j));
      for (std::size_t i = 0; i + distance < 20; ++i) CHECK(close(dot(i, i + distance), expected, 1e-12));
    }
  }
}

TEST_CASE("every kind of positions is computed, explained, and reads back as itself") {
  for (const PositionKind& kind : position_kinds()) {
    CAPTURE(kind.name);
    CHECK_FALSE(kind.summary.empty());
    const Solution solution(with_positions(kind.name));
    const Solution again(written(solution.problem));
    CHECK(again.problem.positions == kind.name);
    CHECK(solution.graph.names() == again.graph.names());
    CHECK(same(solution["output"], again["output"]));
    for (const Node& node : solution.graph.nodes()) {
      if (!node.op || node.name.empty()) continue;
      CAPTURE(node.name);
      for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
        CHECK(close(explain({&node, i, 0}).term.value, node.matrix()(i, 0), 1e-12));
      }
    }
  }
}

TEST_CASE("embeddings with positions are the sum of both") {
  const Solution solution(with_positions("sinusoidal"));
  const Matrix &x = solution["x"], &positioned = solution["positioned"];
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      CHECK(close(positioned(i, j), x(i, j) + published(i, j, 8), 1e-12));
    }
  }
}

TEST_CASE("learned positions are the first rows of their table") {
  const Solution solution(R"({"x": [[1, 2], [3, 4]], "w_q": [[1], [1]], "w_k": [[1], [1]], "w_v": [[1], [1]],
                              "positions": "learned", "position_table": [[10, 20], [30, 40], [50, 60]]})");
  CHECK(same(solution["positioned"], matrix({{11, 22}, {33, 44}})));
}

TEST_CASE("a learned number for each distance is added to the scaled scores") {
  const Solution solution(R"({"q": [[2], [4], [6]], "k": [[1], [2], [3], [4]], "v": [[1], [1], [1], [1]],
                              "scale": 2, "positions": "relative-bias", "position_table": [[1, 2, 3]]})");
  const Matrix& masked = solution["masked"];
  for (long i = 0; i < 3; ++i) {
    for (long j = 0; j < 4; ++j) {
      const double expected = 2.0 * (i + 1) * (j + 1) / 2.0 + 2.0 + clipped(j - i, 1);
      CHECK(close(masked(static_cast<std::size_t>(i), static_cast<std::size_t>(j)), expected, 1e-12));
    }
  }
}

TEST_CASE("a learned vector for each distance is compared with the query, as a key is") {
  const Solution solution(with_positions("relative-vectors"));
  const Matrix& table = solution["position_table"];
  REQUIRE(table.shape() == Shape{5, 4});
  for (const std::string head : {"head.1.", "head.2."}) {
    const Matrix &q = solution[head + "q"], &k = solution[head + "k"], &scores = solution[head + "scores"];
    for (long i = 0; i < 4; ++i) {
      for (long j = 0; j < 4; ++j) {
        const auto row = static_cast<std::size_t>(i), key = static_cast<std::size_t>(j);
        const auto place = static_cast<std::size_t>(clipped(j - i, 2) + 2);
        double expected = 0.0;
        for (std::size_t c = 0; c < 4; ++c) expected += q(row, c) * (k(key, c) + table(place, c));
        CHECK(close(scores(row, key), expected, 1e-12));
      }
    }
  }
}

TEST_CASE("a number for each distance takes its place beside a mask of numbers") {
  const Solution solution(R"({"q": [[0], [0]], "k": [[0], [0]], "v": [[1], [2]], "mask": [[0.5, 0], [0, -3]],
                              "positions": "relative-bias", "position_table": [[1, 2, 4]]})");
  CHECK(same(solution["masked"], matrix({{2.5, 4}, {1, -1}})));
}

TEST_CASE("without positions words that change places change nothing else, and with them they do") {
  for (const PositionKind& kind : position_kinds()) {
    CAPTURE(kind.name);
    const Solution solution(with_positions(kind.name));
    Problem swapped = solution.problem;
    Matrix& x = *swapped.sequences.front().x;
    std::ranges::swap_ranges(row(x, 0), row(x, 2));
    Graph graph;
    add_computation(swapped, graph);
    Matrix output = graph.at("output").matrix();
    std::ranges::swap_ranges(row(output, 0), row(output, 2));
    const double difference = largest_difference(output, solution["output"]);
    if (kind.name == "none") {
      CHECK(difference < 1e-12);
    } else {
      CHECK(difference > 1e-3);
    }
  }
}

TEST_CASE("a batch takes its positions from one table, which is as long as its longest sentence") {
  const Solution solution(R"({"text": ["a b", "c d e"], "d_model": 4, "positions": "learned"})");
  CHECK(solution["position_table"].shape() == Shape{3, 4});
  CHECK(solution["sentence.2.positioned"].shape() == Shape{3, 4});
}

TEST_CASE("positions that cannot be are refused") {
  const std::string x = R"({"x": [[1, 2], [3, 4], [5, 6]], "seed": 1, )", q = R"({"q": [[1, 2]], "k": [[1, 2]], )";
  check_refused({
      {"only positions 0 to 1 are learned",
       solving(x + R"("positions": "learned", "position_table": [[1, 2], [3, 4]]})")},
      {"position_table is 3×1 but x is 3×2",
       solving(x + R"("positions": "learned", "position_table": [[1], [3], [4]]})")},
      {"row 1, column 2 is inf", solving(x + R"("positions": "learned", "position_table": [[1, "Infinity"]]})")},
      {"odd number of columns", solving(x + R"("positions": "relative-bias", "position_table": [[1, 2]]})")},
      {"relative-bias has one row", solving(x + R"("positions": "relative-bias", "position_table": [[1], [2]]})")},
      {"odd number of rows", solving(x + R"("positions": "relative-vectors", "position_table": [[1, 2], [3, 4]]})")},
      {"the size of a query", solving(x + R"("positions": "relative-vectors", "position_table": [[1, 2, 3]]})")},
      {"--position-table needs --positions", solving(x + R"("position_table": [[1]]})")},
      {"there are no embeddings: give --x", solving(q + R"("positions": "sinusoidal"})")},
      {"there are no embeddings: give --x", solving(q + R"("positions": "learned"})")},
      {"take the place of what is computed from embeddings",
       solving(R"({"text": ["a"], "q": [[1, 2]], "k": [[1, 2]], "v": [[1]], "seed": 1, "positions": "sinusoidal"})")},
      {"--scores and --positions", solving(R"({"scores": [[1]], "positions": "none"})")},
      {"unknown name 'sine'", solving(x + R"("positions": "sine"})")},
      {"more than the", solving(x + R"("positions": "relative-bias", "max_distance": 2147483648})")},
      {"distances would be 3×200000001", solving(x + R"("positions": "relative-vectors", "max_distance": 100000000})")},
  });
}

TEST_CASE("what changes nothing about positions is said") {
  const Problem table = build_problem(
      problem_of(R"({"x": [[1]], "w_q": [[1]], "w_k": [[1]], "positions": "sinusoidal", "position_table": [[1]]})"));
  REQUIRE(table.remarks.size() == 1);
  CHECK(table.remarks.front().starts_with("--position-table has no effect"));
  const Problem distance = build_problem(problem_of(R"({"text": ["a"], "max_distance": 3})"));
  REQUIRE(distance.remarks.size() == 1);
  CHECK(distance.remarks.front().starts_with("--max-distance has no effect"));
}
