#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "school/mistake/mistake.hpp"

using namespace attn;

namespace {

std::shared_ptr<Graph> computed(std::string_view problem) {
  auto graph = std::make_shared<Graph>();
  add_computation(build_problem(read_problem_file(problem, "test")), *graph);
  return graph;
}

bool is_value(const Node& node) { return node.is(role::v) && !node.is_alias(); }
std::optional<Value> doubled(RewriteSite at) { return times(at.itself(), {2.0, {"2", "2"}}); }

bool is_first_weights(const Node& node) {
  return node.is(role::weights) && node.place && node.place->number == std::size_t{1};
}
std::optional<Value> from_the_next_head(RewriteSite at) { return at.of(at.node.graph->at("head.2.weights")); }

bool nowhere(const Node&) { return false; }

Mistake made(bool (*where)(const Node&), std::optional<Value> (*instead)(RewriteSite)) {
  return {"test", Mistake::Kind::error, "", "", where, instead};
}

constexpr std::string_view two_heads = R"({"text": "the cat sat down", "d_model": 4, "heads": 2, "seed": 1})";

TEST_SUITE("a computation with a mistake") {
  TEST_CASE("what a mistake does not change is taken over with its numbers") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(nowhere, doubled);
    Rewriting again(*graph, mistake);
    const Node& output = graph->at("output");
    CHECK_FALSE(again.changes(output));
    CHECK(again.of(output).matrix() == output.matrix());
    CHECK(again.graph().nodes().size() == 1);
  }

  TEST_CASE("what is behind a change is computed again and keeps its name") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(is_value, doubled);
    Rewriting again(*graph, mistake);
    const Node& output = graph->at("head.1.output");
    const Value now = again.of(output);
    CHECK(again.changes(output));
    CHECK_FALSE(again.changes(graph->at("head.1.weights")));
    CHECK(now.node().name == "head.1.output");
    for (std::size_t i = 0; i < 4; ++i) CHECK(now.matrix()(i, 0) == doctest::Approx(4 * output.cell(i, 0)));
  }

  TEST_CASE("a mistake may ask for what comes later") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(is_first_weights, from_the_next_head);
    Rewriting again(*graph, mistake);
    CHECK(again.of(graph->at("head.1.weights")).matrix() == graph->at("head.2.weights").matrix());
  }

  TEST_CASE("what cannot be computed is refused again and nothing else is") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made([](const Node& node) { return node.is(role::concat); },
                                 [](RewriteSite at) -> std::optional<Value> { return columns(at.itself(), 3, 2); });
    Rewriting again(*graph, mistake);
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_AS(again.of(graph->at("output")), InputError);
      CHECK_THROWS_AS(again.changes(graph->at("concat")), InputError);
    }
    CHECK_FALSE(again.changes(graph->at("head.2.output")));
  }

  TEST_CASE("what is made instead is asked for only where the mistake can be made") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(is_value, [](RewriteSite at) -> std::optional<Value> {
      CHECK(is_value(at.node));
      return std::nullopt;
    });
    Rewriting again(*graph, mistake);
    for (const Node& node : graph->nodes()) CHECK_FALSE(again.changes(node));
  }

  TEST_CASE("two mistakes are made in one computation, each at its own nodes") {
    const auto graph = computed(R"({"q": [[1, 2], [0, 3]], "k": [[2, 1], [1, 1]], "v": [[1, 0], [0, 1]]})");
    const auto called = [](std::string_view name) { return *std::ranges::find(mistakes(), name, &Mistake::name); };
    Rewriting again(*graph, {called("not-scaled"), called("softmax-over-queries")});
    // The scores are 4 and 3, and below them 3 and 3.
    const double first = 1.0 / (1.0 + std::exp(-1.0));
    const Matrix weights = again.of(graph->at("weights")).matrix();
    CHECK(weights(0, 0) == doctest::Approx(first));
    CHECK(weights(1, 0) == doctest::Approx(1.0 - first));
    CHECK(weights(0, 1) == doctest::Approx(0.5));
    CHECK(weights(1, 1) == doctest::Approx(0.5));
  }

  TEST_CASE("of two mistakes at one node the first is made, unless it gives nothing") {
    const auto graph = computed(two_heads);
    const Node& v = graph->at("v");
    const auto nothing = [](RewriteSite) -> std::optional<Value> { return std::nullopt; };
    const auto left = [](RewriteSite at) -> std::optional<Value> { return at.like(at.node.matrix()); };
    CHECK(Rewriting(*graph, {made(is_value, left), made(is_value, doubled)}).of(v).matrix() == v.matrix());
    const Matrix twice = Rewriting(*graph, {made(is_value, nothing), made(is_value, doubled)}).of(v).matrix();
    CHECK(twice(0, 0) == 2.0 * v.cell(0, 0));
  }

  TEST_CASE("a change that asks for the node itself is given what those behind it make") {
    const auto graph = computed(two_heads);
    const Node& v = graph->at("v");
    const auto less = [](RewriteSite at) -> std::optional<Value> { return times(at.itself(), {-1.0, {"-1", "-1"}}); };
    const Matrix both = Rewriting(*graph, {made(is_value, less), made(is_value, doubled)}).of(v).matrix();
    CHECK(both(0, 0) == -2.0 * v.cell(0, 0));
    const auto left = [](RewriteSite at) -> std::optional<Value> { return at.like(at.itself().matrix()); };
    const Matrix twice = Rewriting(*graph, {made(is_value, left), made(is_value, left)}).of(v).matrix();
    CHECK(twice == v.matrix());
  }

  TEST_CASE("each mistake has a name of its own, says something, and knows where it is made and what instead") {
    std::set<std::string_view> names;
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      CHECK((mistake.where != nullptr));
      CHECK((mistake.instead != nullptr));
      CHECK(names.insert(mistake.name).second);
      CHECK_FALSE(mistake.summary.empty());
      CHECK(mistake.says.ends_with("."));
    }
  }
}

}  // namespace
