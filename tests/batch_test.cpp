#include <doctest/doctest.h>

#include <array>
#include <random>

#include "core/attention/attention.hpp"
#include "core/graph/run.hpp"
#include "core/op/backward_pass.hpp"
#include "core/op/operations.hpp"
#include "core/term/explanation.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr std::size_t batch = 3;

// Sentences below each other, and each by itself.
class Sides {
 public:
  Value whole(const Role& role, Shape of_one) {
    Matrix all({batch * of_one.rows, of_one.columns});
    for (double& cell : cells(all)) cell = std::uniform_real_distribution(-1.0, 1.0)(generator_);
    matrices_.push_back(all);
    Axis rows = axis("tokens");
    rows.batch = batch;
    return graph_.input(role, all, rows, axis("features"));
  }

  // The same rows of one sentence in another graph.
  Value part(Graph& graph, std::size_t which, std::size_t sentence, const Role& role) const {
    const Matrix& all = matrices_.at(which);
    const std::size_t rows = all.shape().rows / batch;
    Matrix some({rows, all.shape().columns});
    for (std::size_t i = 0; i < rows; ++i) std::ranges::copy(row(all, sentence * rows + i), row(some, i).begin());
    return graph.input(role, some, axis("tokens"), axis("features"));
  }

 private:
  std::mt19937 generator_{7};
  Graph graph_;
  std::vector<Matrix> matrices_;
};

using Apply = Value (*)(const Value& a, const Value& b);

struct Relation {
  const char* name;
  Shape a, b;
  Apply apply;
};

const std::array relations = {
    Relation{"matmul", {2, 4}, {4, 3}, [](const Value& a, const Value& b) { return matmul(a, b); }},
    Relation{
        "matmul_transposed", {2, 4}, {5, 4}, [](const Value& a, const Value& b) { return matmul_transposed(a, b); }},
    Relation{"transpose", {2, 4}, {1, 1}, [](const Value& a, const Value&) { return transpose(a); }},
    Relation{"rows", {4, 2}, {1, 1}, [](const Value& a, const Value&) { return rows(a, 1, 2); }},
    Relation{"reshape", {4, 3}, {1, 1}, [](const Value& a, const Value&) { return reshape(a, 6); }},
    Relation{"columns", {4, 3}, {1, 1}, [](const Value& a, const Value&) { return columns(a, 1, 2); }},
    Relation{"stack",
             {2, 3},
             {4, 3},
             [](const Value& a, const Value& b) {
               return stack({a, b, a});
             }},
    Relation{"concatenate",
             {2, 3},
             {2, 4},
             [](const Value& a, const Value& b) {
               return concatenate({a, b});
             }},
    Relation{
        "distances", {2, 3}, {4, 3}, [](const Value& a, const Value& b) { return minus_half_squared_distances(a, b); }},
    Relation{"pairwise_sum", {2, 3}, {4, 3}, [](const Value& a, const Value& b) { return pairwise_sum(a, b); }},
    Relation{"pairs", {2, 3}, {4, 2}, [](const Value& a, const Value& b) { return pairs(a, b); }},
    Relation{"unpair",
             {2, 3},
             {4, 3},
             [](const Value& a, const Value& b) { return unpair(columns(pairwise_sum(a, b), 1, 1), a, b); }},
    Relation{"by_distance", {3, 5}, {4, 5}, [](const Value& a, const Value& b) { return by_distance(a, a, b); }},
    Relation{"rotate", {3, 4}, {1, 1}, [](const Value& a, const Value&) { return rotate(a); }},
    Relation{"softmax", {3, 4}, {1, 1}, [](const Value& a, const Value&) { return softmax(a); }},
    Relation{"attention", {3, 4}, {5, 4}, [](const Value& a, const Value& b) { return attention(a, b, b, {}); }},
};

}  // namespace

TEST_CASE("a batch is computed as each of its sentences alone") {
  for (const Relation& relation : relations) {
    CAPTURE(relation.name);
    Sides sides;
    const Value a = sides.whole(role::x, relation.a), b = sides.whole(role::memory, relation.b);
    const Value all = relation.apply(a, b);
    const Node& node = all.node();
    CHECK(node.frame.rows.batch == batch);
    CHECK(node.frame.columns.batch == 1);
    const std::size_t rows = all.shape().rows / batch;
    for (std::size_t s = 0; s < batch; ++s) {
      Graph graph;
      const Value one = relation.apply(sides.part(graph, 0, s, role::x), sides.part(graph, 1, s, role::memory));
      REQUIRE(one.shape() == Shape{rows, all.shape().columns});
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < all.shape().columns; ++j) {
          CAPTURE(i);
          CAPTURE(j);
          CHECK(node.cell(s * rows + i, j) == doctest::Approx(one.matrix()(i, j)).epsilon(1e-14));
          CHECK(explain({&node, s * rows + i, j}).term.value == doctest::Approx(one.matrix()(i, j)).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("every sentence of a batch meets the same matrix that has no batch") {
  Sides sides;
  const Value x = sides.whole(role::x, {2, 3});
  const Value y = x.graph().input(role::positions, matrix({{1, 2, 3}, {4, 5, 6}}), axis("tokens"), axis("features"));
  const Value w = x.graph().input(role::w, matrix({{1, 2}, {0, 1}, {3, 0}}), axis("features"), axis("features"));
  const Value sum = add(x, y), product = matmul(x, w);
  for (std::size_t i = 0; i < 2 * batch; ++i) {
    CHECK(sum.matrix()(i, 1) == x.matrix()(i, 1) + y.matrix()(i % 2, 1));
    CHECK(explain({&sum.node(), i, 1}).term.value == sum.matrix()(i, 1));
    CHECK(product.matrix()(i, 0) == doctest::Approx(x.matrix()(i, 0) + 3 * x.matrix()(i, 2)));
  }
}

TEST_CASE("what flows back to a parameter comes from all sentences and to a sentence from its own") {
  Sides sides;
  const Value x = sides.whole(role::x, {2, 3}), v = sides.whole(role::v, {2, 4});
  Graph& graph = x.graph();
  const Value w = graph.input(role::w, matrix({{1, 2}, {0, 1}, {3, 0}}), axis("features"), axis("tokens"));
  const Value output = name(role::output, matmul(name(role::weights, matmul(x, w)), v));
  Matrix ones(output.shape(), 1.0);
  const Value d =
      graph.input({family::gradient, role::output}, ones, output.node().frame.rows, output.node().frame.columns);
  const Backward backward(output, d);
  REQUIRE(backward.by(w.node()));
  CHECK(backward.by(w.node())->name == "d_w");
  CHECK(backward.by(w.node())->frame.shape == w.shape());
  const Matrix& d_v = backward.by(v.node())->matrix();
  double of_w = 0.0;
  for (std::size_t s = 0; s < batch; ++s) {
    for (std::size_t j = 0; j < 2; ++j) {
      double weight = 0.0;
      for (std::size_t i = 0; i < 2; ++i) weight += graph.at("weights").cell(2 * s + i, j);
      CHECK(d_v(2 * s + j, 0) == doctest::Approx(weight));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t c = 0; c < 4; ++c) of_w += x.matrix()(2 * s + i, 1) * v.matrix()(2 * s, c);
    }
  }
  CHECK(backward.by(w.node())->cell(1, 0) == doctest::Approx(of_w));
}

TEST_CASE("what is computed again for the way back gives the same gradients") {
  const auto gradient = [](const CheckpointRule& stands) {
    Sides sides;
    const Value x = sides.whole(role::x, {2, 2}), v = sides.whole(role::v, {2, 4});
    const Value square = name(role::scores, matmul(x, x));
    const Value output = name(role::output, matmul(square, v));
    const Value d = x.graph().input({family::gradient, role::output}, Matrix(output.shape(), 1.0),
                                    output.node().frame.rows, output.node().frame.columns);
    return Backward(output, d, {&x.node()}, stands).by(x.node())->matrix();
  };
  CHECK(gradient(checkpoint_everything()) == gradient([](const Node&) { return false; }));
}

TEST_CASE("a repeated run sees what its inputs have become") {
  Graph graph(keep_nothing());
  const auto x = std::make_shared<Matrix>(matrix({{1, 2}, {3, 4}}));
  const Value given = graph.input(role::x, std::shared_ptr<const Matrix>(x), axis("rows"), axis("columns"));
  const Node* const result = &name(role::output, matmul(times(given, {2.0, {"2", "2"}}), given)).node();
  const Plan plan = graph.run().plan_to_repeat({result});
  graph.run().repeat(plan);
  CHECK(result->cell(0, 0) == 14.0);
  (*x)(0, 0) = 0.0;
  graph.run().repeat(plan);
  CHECK(result->cell(0, 0) == 12.0);
  CHECK(result->cell(1, 1) == 44.0);
}
