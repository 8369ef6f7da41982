#include "core/graph/run.hpp"

#include <cmath>
#include <set>

#include "computations.hpp"
#include "core/attention/masks.hpp"
#include "core/attention/watches.hpp"
#include "core/math/machine.hpp"
#include "core/math/product.hpp"
#include "core/op/operations.hpp"
#include "core/term/explanation.hpp"
#include "data/problem/model_words.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// What is held is what a run has that keeps everything, to the last bit.
void check_held(const Graph& graph, const Graph& everything) {
  REQUIRE(graph.nodes().size() == everything.nodes().size());
  for (const Node& node : graph.nodes()) {
    if (node.is_alias() || !graph.run().holds(node)) continue;
    const Node& expected = everything.nodes()[node.index];
    CAPTURE(node.name);
    CAPTURE(formula_of(node).plain);
    CHECK(same_bits(*node.cells(), *expected.cells()));
  }
}

// Some ways to keep: what commands ask for, and any.
std::vector<Keep> ways_to_keep(std::uint32_t random) {
  std::vector<Keep> ways = {keep_nothing(), keep_matching("*output"), keep_matching("weights"),
                            keep_matching("scores|masked")};
  for (std::uint32_t seed = 1; seed <= random; ++seed) ways.push_back(keep_any(seed));
  return ways;
}

template <class Build>
void check_any_kept(const Build& build, std::uint32_t random) {
  Graph everything;
  build(everything);
  everything.run().compute();
  for (const Keep& keep : ways_to_keep(random)) {
    Graph graph(keep);
    build(graph);
    graph.run().compute();
    check_held(graph, everything);
    // What is asked for later is the same as well.
    graph.nodes().back().matrix();
    check_held(graph, everything);
  }
}

Value any_of(const std::vector<Value>& values, std::mt19937& generator) { return values[generator() % values.size()]; }

// A computation of operations in any order: thin matrices of three columns, and square ones.
void build_anything(Graph& graph, std::size_t n, std::uint32_t seed) {
  std::mt19937 generator(seed);
  const auto chosen = [&](unsigned count) { return generator() % count; };
  std::vector<Value> thin, square;
  for (const char* name : {"a", "b"}) {
    thin.push_back(
        graph.input(name_from_text(name), random_matrix({n, 3}, seed + *name), axis("rows"), axis("columns")));
  }
  const Value allowed = graph.input(role::mask, mask_by({causal_rule()}), {{n, n}, axis("queries"), axis("keys")});
  square.push_back(matmul_transposed(thin[0], thin[1]));
  const Scalar two{2.0, {"2", "2"}};
  for (int i = 0; i < 12; ++i) {
    const Value s = any_of(square, generator), t = any_of(thin, generator);
    switch (chosen(14)) {
      case 0:
        square.push_back(matmul_transposed(t, any_of(thin, generator)));
        break;
      case 1:
        square.push_back(minus_half_squared_distances(t, any_of(thin, generator)));
        break;
      case 2:
        square.push_back(softmax(s));
        break;
      case 3:
        square.push_back(mask(s, allowed, -1e3));
        break;
      case 4:
        square.push_back(add(s, any_of(square, generator)));
        break;
      case 5:
        square.push_back(divide(s, two));
        break;
      case 6:
        square.push_back(transpose(s));
        break;
      case 7:
        thin.push_back(normalize(matmul(softmax(s), t)));
        break;
      case 8:
        square.push_back(subtract(s, row_means(s)));
        break;
      case 9:
        square.push_back(stack({rows(s, 1, n - 1), rows(s, 0, 1)}));
        break;
      case 10:
        square.push_back(concatenate({columns(s, 1, n - 1), columns(s, 0, 1)}));
        break;
      case 11:
        square.push_back(unpair(matmul_transposed(pairwise_sum(t, t), rows(t, 0, 1)), t, t));
        break;
      case 12:
        thin.push_back(name(name_from_text("named_" + std::to_string(i)), tanh(t)));
        break;
      default:
        square.push_back(name(name_from_text("named_" + std::to_string(i)), relu(s)));
        break;
    }
  }
  name(name_from_text("end"), matmul(softmax(square.back()), thin.back()));
}

// Counts what a run computes.
class Begun final : public Watch {
 public:
  void begins(const Node& node) override {
    if (node.op) begun.push_back(&node);
  }
  bool has(std::string_view leaf) const {
    return std::ranges::any_of(begun, [&](const Node* node) { return node->leaf() == leaf; });
  }
  std::vector<const Node*> begun;
};

std::shared_ptr<Begun> count(const Graph& graph) {
  auto begun = std::make_shared<Begun>();
  graph.run().add(begun);
  return begun;
}

}  // namespace

TEST_CASE("whatever is kept of a computation has the same bits") {
  for (const Computation& computation : computations()) {
    CAPTURE(computation.fields);
    CAPTURE(computation.words);
    check_any_kept([&](Graph& graph) { build_into(graph, computation); }, computation.words < 100 ? 6 : 2);
  }
}

TEST_CASE("whatever is kept of an example has the same bits") {
  for (const Example& example : examples()) {
    CAPTURE(example.name);
    const Problem problem = build_problem(read_problem_file(example.json, std::string(example.name)));
    check_any_kept([&](Graph& graph) { add_computation(problem, graph); }, 6);
  }
}

TEST_CASE("whatever is kept of a transformer has the same bits") {
  for (const ModelKind& kind : model_kinds()) {
    CAPTURE(kind.name);
    check_any_kept([&](Graph& graph) { build_into(graph, ModelComputation{kind.name, 6, 4}); }, 6);
    check_any_kept([&](Graph& graph) { build_into(graph, ModelComputation{kind.name, many_words, 1100}); }, 1);
  }
}

TEST_CASE("whatever is kept of operations in any order has the same bits") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    check_any_kept([&](Graph& graph) { build_anything(graph, 5, seed); }, 4);
  }
  for (std::uint32_t seed = 100; seed < 106; ++seed) {
    CAPTURE(seed);
    check_any_kept([&](Graph& graph) { build_anything(graph, 1025, seed); }, 2);
  }
}

TEST_CASE("any number of threads gives the same bits") {
  for (const Computation& computation : computations()) {
    if (computation.words < many_words) continue;
    CAPTURE(computation.fields);
    Graph everything;
    build_into(everything, computation);
    {
      const Threads one(1);
      everything.run().compute();
    }
    for (const std::size_t count : {2, 3, 5}) {
      const Threads several(count);
      Graph graph(keep_matching("*output|masked"));
      build_into(graph, computation);
      graph.run().compute();
      check_held(graph, everything);
    }
  }
}

TEST_CASE("nothing is computed twice where everything is kept") {
  const std::uint64_t before = Run::computed_twice();
  for (const Computation& computation : computations()) {
    Graph graph;
    build_into(graph, computation);
    graph.run().compute();
    for (const Node& node : graph.nodes()) node.matrix();
  }
  for (const Example& example : examples()) {
    Graph graph;
    add_computation(build_problem(read_problem_file(example.json, std::string(example.name))), graph);
    graph.run().compute();
    for (const Node& node : graph.nodes()) node.matrix();
  }
  CHECK(Run::computed_twice() == before);
}

TEST_CASE("nothing is computed twice for what is written word by word") {
  const std::uint64_t before = Run::computed_twice();
  for (const ModelKind& kind : model_kinds()) {
    if (!kind.decodes) continue;
    for (const Cache cache : {Cache::kept, Cache::none}) {
      for (const Keep& keep : {keep_everything(), keep_nothing(), keep_matching("distribution")}) {
        const Transformer model = random_model({.kind = kind.name});
        Graph graph(keep);
        RunningTransformer running(model, graph);
        std::optional<Value> encoded;
        if (kind.encodes) encoded = running.encode(words({1, 2, 3}));
        generate(running, graph, {.prompt = words({1, 4}), .steps = 5, .cache = cache}, encoded, {});
        graph.run().compute();
      }
    }
  }
  CHECK(Run::computed_twice() == before);
}

TEST_CASE("what was let go and is asked for again is counted as computed twice") {
  Graph graph(keep_matching("output"));
  build_into(graph, Computation{"{}", 7});
  graph.run().compute();
  const std::uint64_t before = Run::computed_twice();
  graph.at("weights").matrix();
  CHECK(Run::computed_twice() > before);
}

TEST_CASE("a computation may be a chain of any length") {
  Graph graph(keep_matching("output"));
  Value sum = graph.input(role::x, Matrix({1, 1}, 1.0), axis("rows"), axis("columns"));
  const Value one = sum;
  for (int i = 0; i < 200'000; ++i) sum = add(sum, one);
  CHECK(name(role::output, sum).matrix()(0, 0) == 200'001.0);
}

TEST_CASE("only what is asked for is computed, and what that needs") {
  for (const std::size_t n : {std::size_t{7}, many_words}) {
    Graph graph(keep_matching("weights"));
    build_into(graph, Computation{R"({"causal": true})", n});
    const std::shared_ptr<Begun> begun = count(graph);
    graph.run().compute();
    CHECK(begun->has("weights"));
    CHECK(begun->has("scores"));
    CHECK_FALSE(begun->has("v"));
    CHECK_FALSE(begun->has("output"));
    CHECK(std::set(begun->begun.begin(), begun->begun.end()).size() == begun->begun.size());
  }
  Graph graph(keep_matching("weights"));
  const Value x = graph.input(role::x, random_matrix({5, 3}, 1), axis("rows"), axis("columns"));
  name(role::weights, uniform(name(role::scores, matmul_transposed(x, x))));
  const std::shared_ptr<Begun> begun = count(graph);
  graph.run().compute();
  CHECK(begun->begun.size() >= 1);
  CHECK_FALSE(begun->has("scores"));
}

TEST_CASE("the first cell that has overflowed is told, whatever is kept and however many threads there are") {
  const auto told = [](const Keep& keep, std::size_t count) {
    const Threads some(count);
    Graph graph(keep);
    Matrix q = random_matrix({many_words, 2}, 1);
    for (const std::size_t i : {many_words - 1, std::size_t{500}, std::size_t{900}}) q(i, 1) = 1e200;
    const Value x = graph.input(role::x, std::move(q), axis("rows"), axis("columns"));
    const Value y = graph.input(role::y, Matrix({many_words, 2}, 1e200), axis("rows"), axis("columns"));
    const Value scores = name(role::scores, matmul_transposed(x, y));
    name(role::output, matmul(name(role::weights, softmax(scores)), x));
    return refusal([&] { compute_watched(graph); });
  };
  const std::string expected = told(keep_everything(), 1);
  CHECK(expected.starts_with("scores[501,1] is inf: that is beyond double precision"));
  for (const std::size_t count : {1, 2, 3, 5}) {
    CHECK(told(keep_everything(), count) == expected);
    CHECK(told(keep_matching("output"), count) == expected);
  }
}

TEST_CASE("a number that has overflowed is told too where only a block of rows was asked for") {
  Graph graph(keep_nothing());
  watch(graph);
  Matrix q = random_matrix({many_words, 2}, 1);
  q(500, 1) = 1e200;
  const Value x = graph.input(role::x, std::move(q), axis("rows"), axis("columns"));
  const Value y = graph.input(role::y, Matrix({many_words, 2}, 1e200), axis("rows"), axis("columns"));
  const Node& scores = name(role::scores, matmul_transposed(x, y)).node();
  CHECK(std::isfinite(graph.run().cell(scores, 100, 0)));
  CHECK(refusal([&] { graph.run().cell(scores, 510, 0); }).starts_with("scores[501,1] is inf"));
}

TEST_CASE("leaks and rows without keys are told, whatever is kept and however many threads there are") {
  const auto told = [](std::string_view fields, std::size_t words, const Keep& keep, std::size_t count) {
    const Threads some(count);
    Graph graph(keep);
    build_into(graph, Computation{fields, words, Computation::Mask::allowed});
    compute_watched(graph);
    return warnings(graph);
  };
  for (const std::string_view fields :
       {R"({"mask_fill": -3})", R"({"valid_length": 0})", R"({"heads": 2, "mask_fill": 0})"}) {
    for (const std::size_t words : {std::size_t{9}, many_words}) {
      const std::vector<std::string> expected = told(fields, words, keep_everything(), 1);
      CHECK_FALSE(expected.empty());
      for (const std::size_t count : {1, 2, 3, 5}) {
        CHECK(told(fields, words, keep_matching("*output"), count) == expected);
      }
    }
  }
}

TEST_CASE("rows without keys are told once, also where they are computed a second time") {
  for (const std::size_t words : {std::size_t{9}, many_words}) {
    Graph graph(keep_matching("output"));
    build_into(graph, Computation{R"({"valid_length": 0})", words});
    compute_watched(graph);
    const std::vector<std::string> expected = warnings(graph);
    CHECK(expected.size() == 1);
    graph.run().row(graph.at("weights"), 3);
    graph.run().at(graph.at("weights"));
    CHECK(warnings(graph) == expected);
  }
}

TEST_CASE("a cell of a matrix that was not kept is explained as it is where all are kept") {
  for (const Computation& computation : computations()) {
    CAPTURE(computation.fields);
    CAPTURE(computation.words);
    Graph everything, graph(keep_matching("*output"));
    build_into(everything, computation);
    build_into(graph, computation);
    everything.run().compute();
    graph.run().compute();
    for (const Node* node : graph.named()) {
      const Shape shape = node->frame.shape;
      const Cell cell{node, shape.rows * 2 / 3, shape.columns / 2};
      const Cell expected{&everything.nodes()[node->index], cell.row, cell.column};
      CAPTURE(node->name);
      const Explanation ours = explain(cell), theirs = explain(expected);
      CHECK(ours.term.value == theirs.term.value);
      CHECK(ours.reason == theirs.reason);
      const std::vector<Cell> ours_of = cells_of(ours.term), theirs_of = cells_of(theirs.term);
      REQUIRE(ours_of.size() == theirs_of.size());
      for (std::size_t i = 0; i < ours_of.size(); ++i) CHECK(ours_of[i].value() == theirs_of[i].value());
      CHECK(cell.value() == expected.value());
    }
  }
}

TEST_CASE("products that are made side by side are those that are made one after another") {
  const Threads several(3);
  const Matrix a = random_matrix({40000, 64}, 1), b = random_matrix({64, 64}, 2);
  Matrix expected({a.shape().rows, b.shape().rows});
  product_transposed(rows_of(a), rows_of(b), rows_to_make(expected));
  for (int round = 0; round < 20; ++round) {
    Matrix result(expected.shape());
    parallel_for((a.shape().rows + rows_of_block - 1) / rows_of_block, [&](std::size_t block) {
      const std::size_t first = block * rows_of_block, count = std::min(rows_of_block, a.shape().rows - first);
      product_transposed(rows_of(a), rows_of(b), {row(result, first).data(), first, {count, 64}});
    });
    CHECK(same_bits(result, expected));
  }
}
