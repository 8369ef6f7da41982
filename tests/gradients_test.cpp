#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/graph/run.hpp"
#include "core/op/backward_pass.hpp"
#include "core/op/gradient_operations.hpp"
#include "core/op/kinks.hpp"
#include "core/op/operations.hpp"
#include "operation_samples.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Cells = std::vector<double>;

Matrix random_matrix(Shape shape, std::uint32_t seed) {
  std::mt19937 generator(seed);
  return filled(shape, [&] { return std::uniform_real_distribution(-1.0, 1.0)(generator); });
}

// The sum of the differences of cells, each times a weight. Cells that are the same infinity do not differ.
double weighted_difference(const Cells& a, const Cells& b, const Matrix& weights) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) sum += (a[i] - b[i]) * weights.data()[i];
  }
  return sum;
}

struct Compared {
  std::size_t cells = 0;
  double worst = 0.0;  // distance, measured by the largest number of the gradient and by 1
};

// The gradients by all inputs that hold any numbers, against central differences (f(x + h) − f(x − h)) / 2h.
// The graph is computed anew for each of them with the input's own matrix changed in place.
Compared compare_with_differences(Graph& graph, const Value& result) {
  const Matrix weights = random_matrix(result.shape(), 77);
  std::vector<const Node*> inputs;
  for (const Node& node : graph.nodes()) {
    if (!node.op && node.content() == Content::numbers && node.given) inputs.push_back(&node);
  }
  const Value d =
      graph.input(name_from_text("upstream"), weights, result.node().frame.rows, result.node().frame.columns);
  const Backward backward(result, d, inputs);
  const Plan plan = graph.run().plan_to_repeat({&result.node()});
  Compared compared;
  for (const Node* node : inputs) {
    const Node* const gradient = backward.by(*node);
    const Matrix exact = gradient ? gradient->matrix() : Matrix(node->frame.shape, 0.0);
    REQUIRE(exact.shape() == node->frame.shape);
    Matrix& cells_of_input = const_cast<Matrix&>(*node->given);
    double largest = 1.0;
    for (const double cell : cells(exact)) largest = std::max(largest, std::fabs(cell));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      double& cell = cells_of_input.data()[i];
      const double before = cell, step = 1e-4 * std::max(1.0, std::fabs(before));
      const auto across = [&](double steps) {
        const auto at = [&](double place) {
          cell = place;
          graph.run().repeat(plan);
          const std::span<const double> made = cells(result.matrix());
          return Cells(made.begin(), made.end());
        };
        return weighted_difference(at(before + steps * step), at(before - steps * step), weights);
      };
      // Five points: the error falls with the fourth power of the step.
      const double difference = (8.0 * across(1.0) - across(2.0)) / (12.0 * step);
      cell = before;
      REQUIRE(std::isfinite(exact.data()[i]));
      compared.worst = std::max(compared.worst, std::fabs(difference - exact.data()[i]) / largest);
      ++compared.cells;
    }
    graph.run().repeat(plan);
  }
  return compared;
}

constexpr SampleSizes several_sizes[] = {{2, 3, 4}, {1, 1, 1}, {5, 2, 3}, {1, 4, 6}, {7, 3, 1}};

}  // namespace

TEST_CASE("the gradient of every operation is what finite differences say") {
  for (const OperationSample& sample : operation_samples()) {
    for (std::uint32_t seed = 11; const SampleSizes& sizes : several_sizes) {
      CAPTURE(sample.name);
      CAPTURE(sizes.m);
      CAPTURE(sizes.n);
      Graph graph;
      Samples from(graph, sizes, seed++);
      const Value result = sample.apply(from);
      if (!sample.has_gradient) {
        const std::string told = refusal([&] { Backward(result, result, {}, checkpoint_everything()); });
        CHECK(told ==
              std::string(sample.name) + " has no gradient of its own: a gradient of gradients cannot go through it");
        continue;
      }
      const Compared compared = compare_with_differences(graph, result);
      CHECK(compared.worst < 1e-8);
    }
  }
}

namespace {

// Some sentences of `n` rows below each other, with numbers of both signs.
Value batched(Graph& graph, std::string_view name, std::size_t n, std::size_t columns, std::uint32_t seed) {
  constexpr std::size_t batch = 3;
  Axis rows = axis("tokens");
  rows.batch = batch;
  return graph.input(name_from_text(name), random_matrix({batch * n, columns}, seed), rows, axis("features"));
}

Value one(Graph& graph, std::string_view name, Shape shape, std::uint32_t seed) {
  return graph.input(name_from_text(name), random_matrix(shape, seed), axis("rows"), axis("columns"));
}

struct OfBatch {
  std::string_view name;
  Value (*apply)(Graph& graph);
};

const OfBatch of_batches[] = {
    {"matmul", [](Graph& g) { return matmul(batched(g, "a", 2, 4, 1), batched(g, "b", 4, 3, 2)); }},
    {"matmul with a matrix for all",
     [](Graph& g) {
       return matmul(batched(g, "a", 2, 4, 1), one(g, "b", {4, 3}, 2));
     }},
    {"matmul_transposed",
     [](Graph& g) { return matmul_transposed(batched(g, "a", 2, 4, 1), batched(g, "b", 5, 4, 2)); }},
    {"matmul_transposed with a matrix for all",
     [](Graph& g) {
       return matmul_transposed(batched(g, "a", 2, 4, 1), one(g, "b", {5, 4}, 2));
     }},
    {"transpose", [](Graph& g) { return transpose(batched(g, "a", 2, 4, 1)); }},
    {"add a sentence to each",
     [](Graph& g) {
       return add(batched(g, "a", 4, 3, 1), one(g, "b", {4, 3}, 2));
     }},
    {"multiply each by a sentence",
     [](Graph& g) {
       return multiply(batched(g, "a", 4, 3, 1), one(g, "b", {4, 1}, 2));
     }},
    {"rows", [](Graph& g) { return rows(batched(g, "a", 5, 3, 1), 1, 2); }},
    {"all rows one by one",
     [](Graph& g) {
       const Value a = batched(g, "a", 3, 2, 1);
       return stack({rows(a, 2, 1), tanh(rows(a, 0, 1)), rows(a, 1, 1)});
     }},
    {"stack",
     [](Graph& g) {
       return stack({batched(g, "a", 2, 3, 1), batched(g, "b", 1, 3, 2)});
     }},
    {"minus_half_squared_distances",
     [](Graph& g) { return minus_half_squared_distances(batched(g, "a", 2, 4, 1), batched(g, "b", 5, 4, 2)); }},
    {"minus_half_squared_distances with a matrix for all",
     [](Graph& g) {
       return minus_half_squared_distances(batched(g, "a", 2, 4, 1), one(g, "b", {5, 4}, 2));
     }},
    {"pairwise_sum",
     [](Graph& g) {
       const Value a = batched(g, "a", 2, 4, 1), b = batched(g, "b", 5, 4, 2);
       return unpair(matmul(tanh(pairwise_sum(a, b)), one(g, "w", {4, 1}, 3)), a, b);
     }},
    {"pairs",
     [](Graph& g) {
       const Value a = batched(g, "a", 2, 4, 1), b = batched(g, "b", 5, 3, 2);
       return unpair(matmul(pairs(a, b), one(g, "w", {7, 1}, 3)), a, b);
     }},
    {"by_distance of one row",
     [](Graph& g) {
       return by_distance(one(g, "r", {1, 3}, 3), batched(g, "a", 4, 2, 1), batched(g, "b", 4, 2, 2));
     }},
    {"by_distance of a row each",
     [](Graph& g) {
       const Value a = batched(g, "a", 4, 2, 1);
       return by_distance(matmul_transposed(a, one(g, "r", {5, 2}, 3)), a, batched(g, "b", 4, 2, 2));
     }},
    {"by_distance in a tree",
     [](Graph& g) {
       return by_distance(one(g, "r", {1, 3}, 3), batched(g, "a", 4, 2, 1), batched(g, "b", 4, 2, 2),
                          {.distance = Distance({2, 0, 4, 2})});
     }},
    {"rotate", [](Graph& g) { return rotate(batched(g, "a", 4, 6, 1), {.positions = 1, .base = 50.0}); }},
    {"heads",
     [](Graph& g) {
       const Value a = batched(g, "a", 3, 6, 1);
       const Value first = columns(a, 0, 2), last = columns(a, 4, 2);
       return concatenate({matmul_transposed(first, columns(a, 2, 2)), softmax(last), tanh(first)});
     }},
    {"a part of the columns",
     [](Graph& g) {
       const Value a = batched(g, "a", 3, 6, 1);
       return add(columns(a, 0, 2), columns(a, 3, 2));
     }},
};

const Node& gradient_of(const Value& result, const Value& d, const Value& by) {
  return *Backward(result, d, {&by.node()}).by(by.node());
}

}  // namespace

TEST_CASE("in a batch every sentence has its own gradient and what all share has the sum") {
  for (const OfBatch& row : of_batches) {
    CAPTURE(row.name);
    Graph graph;
    const Compared compared = compare_with_differences(graph, row.apply(graph));
    CHECK(compared.cells > 0);
    CHECK(compared.worst < 1e-8);
  }
}

TEST_CASE("a row that may look at nothing has a gradient of zeros") {
  Graph graph;
  const Value scores = graph.input(name_from_text("scores"), matrix({{1, 2, 3}, {4, 5, 6}, {7, -infinity, 9}}),
                                   axis("rows"), axis("columns"));
  const Value allowed =
      graph.input(name_from_text("allowed"), matrix({{1, 0, 1}, {0, 0, 0}, {1, 1, 1}}), axis("rows"), axis("columns"));
  const Value d = one(graph, "d", {3, 3}, 5);
  const Matrix found = gradient_of(softmax(mask(scores, allowed, -infinity)), d, scores).matrix();
  for (std::size_t j = 0; j < 3; ++j) CHECK(found(1, j) == 0.0);
  CHECK(found(0, 1) == 0.0);
  CHECK(found(2, 1) == 0.0);
  CHECK(found(0, 0) != 0.0);
  CHECK(close(found(0, 0), -found(0, 2), 1e-15));
  CHECK(close(found(2, 0), -found(2, 2), 1e-15));
}

TEST_CASE("where a function has a kink or no value its gradient is zero") {
  Graph graph;
  const auto gradient = [&](Value (*function)(const Value& x), Matrix cells) {
    const Value x = graph.input(name_from_text("x" + std::to_string(graph.nodes().size())), std::move(cells),
                                axis("rows"), axis("columns"));
    const Value d = one(graph, "d" + std::to_string(graph.nodes().size()), x.shape(), 3);
    const Node& found = gradient_of(function(x), d, x);
    return std::pair(found.matrix(), d.matrix());
  };
  const auto relu_at = gradient(relu, matrix({{-1.0, -0.0, 0.0, 2.0}}));
  CHECK(same(relu_at.first, matrix({{0, 0, 0, relu_at.second(0, 3)}})));
  CHECK(same(gradient(normalize, matrix({{1, -2, 1}})).first, matrix({{0, 0, 0}})));
  CHECK(same(gradient(unit_rows, matrix({{0, 0}})).first, matrix({{0, 0}})));
  const Matrix small = gradient(unit_rows, matrix({{3e-200, 4e-200}})).first;
  CHECK(std::isfinite(small(0, 0)));
  CHECK(close(3.0 * small(0, 0) + 4.0 * small(0, 1), 0.0, 1e-10 * std::fabs(small(0, 0))));
}

namespace {

// Whether a result bends or jumps at a number: the slopes of both sides stay apart, or grow without end, however short
// the step.
bool has_bend(Graph& graph, const Value& result, const Plan& plan, double& cell, const Matrix& weights) {
  constexpr double wide = 1e-5, narrow = 1e-6;
  const double here = cell;
  const auto at = [&](double place) {
    cell = place;
    graph.run().repeat(plan);
    const std::span<const double> made = cells(result.matrix());
    return Cells(made.begin(), made.end());
  };
  const Cells middle = at(here);
  const auto slope = [&](double step) { return weighted_difference(at(here + step), middle, weights) / step; };
  const auto bends = [&](double step) {
    const double right = slope(step), left = slope(-step);
    return std::fabs(right - left) > 1e-2 * std::max({1.0, std::fabs(right), std::fabs(left)});
  };
  const bool is_bent = bends(wide) && bends(narrow);
  const bool jumps = std::fabs(slope(narrow)) > 5.0 * std::fabs(slope(wide)) + 1.0;
  cell = here;
  return is_bent || jumps;
}

}  // namespace

TEST_CASE("an operation without a derivative somewhere is one of the kinks") {
  std::set<const Op*> bent;
  for (const OperationSample& sample : operation_samples()) {
    if (!sample.has_gradient) continue;
    for (const double number : {0.0, 1.0}) {
      CAPTURE(sample.name);
      Graph graph;
      Samples from(graph, {2, 3, 4}, 5);
      const Value result = sample.apply(from);
      const Op* const op = result.node().op;
      if (op->differentiates) continue;  // the derivative of a function with a kink jumps there
      const Matrix weights = random_matrix(result.shape(), 77);
      for (const Node& node : graph.nodes()) {
        if (node.op || node.content() != Content::numbers || !node.given) continue;
        Matrix& numbers = const_cast<Matrix&>(*node.given);
        const Matrix before = numbers;
        std::ranges::fill(cells(numbers), number);
        const Plan plan = graph.run().plan_to_repeat({&result.node()});
        try {
          for (double& cell : cells(numbers)) {
            if (has_bend(graph, result, plan, cell, weights)) bent.insert(op);
          }
        } catch (const InputError&) {
          // It has no result there.
        }
        numbers = before;
      }
    }
  }
  for (const Op* op : bent) CHECK_MESSAGE(kink_of(*op) != nullptr, op->name);
  for (const Kink& kink : kinks()) CHECK_MESSAGE(bent.contains(kink.op), kink.op->name);
}

TEST_CASE("what only chooses passes no gradient on") {
  Graph graph;
  const Value scores = one(graph, "scores", {2, 3}, 1), d = one(graph, "d", {2, 3}, 2);
  CHECK(Backward(largest(scores), d, {&scores.node()}).by(scores.node()) == nullptr);
  CHECK(Backward(uniform(scores), d, {&scores.node()}).by(scores.node()) == nullptr);
}

TEST_CASE("what flows back to parts that are all of a matrix is joined") {
  Graph graph;
  const Value x = one(graph, "x", {3, 4}, 1);
  const Value parts = concatenate({columns(x, 2, 2), columns(x, 0, 2)});
  CHECK(gradient_of(parts, one(graph, "d", {3, 4}, 2), x).op->name == "concatenate");
  Graph other;
  const Value y = one(other, "y", {3, 4}, 1);
  CHECK(gradient_of(columns(y, 1, 3), one(other, "d", {3, 3}, 2), y).op->name == "columns_among_zeros");
}

TEST_CASE("cross-entropy is minus the logarithm of the probability of the right word") {
  Graph graph;
  const Value logits = graph.input(name_from_text("logits"), matrix({{1, 2, 3}, {1000, 0, -1000}, {0, 0, 0}}),
                                   axis("rows"), axis("columns"));
  const Value ids = graph.input(name_from_text("ids"), matrix({{3}, {1}, {2}}), axis("words"), axis("id"));
  const Matrix loss = cross_entropy(logits, ids).matrix();
  CHECK(close(loss(0, 0), std::log(std::exp(-2.0) + std::exp(-1.0) + 1.0), 1e-15));
  CHECK(loss(1, 0) == 0.0);
  CHECK(close(loss(2, 0), std::log(3.0), 1e-15));
  // Of equal probabilities it is ln V whatever the smoothing.
  CHECK(close(cross_entropy(logits, ids, 0.3).matrix()(2, 0), std::log(3.0), 1e-15));
  const Value wrong = graph.input(name_from_text("wrong"), matrix({{1}, {4}, {2}}), axis("words"), axis("id"));
  check_refused({{"label smoothing is 1.5: give a number from 0 to 1", [&] { cross_entropy(logits, ids, 1.5); }},
                 {"wrong[2,1] is 4: logits has columns 1 to 3", [&] { cross_entropy(logits, wrong).matrix(); }},
                 {"it must have one id for each of the 3 rows", [&] { cross_entropy(logits, rows(ids, 0, 2)); }}});
}
