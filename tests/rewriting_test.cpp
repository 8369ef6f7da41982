#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "core/op/operations.hpp"
#include "core/support/error.hpp"
#include "data/problem/options.hpp"
#include "data/problem/problem_file.hpp"
#include "school/mistake/rewriting.hpp"

namespace attn {
namespace {

std::shared_ptr<Graph> computed(std::string_view problem) {
  auto graph = std::make_shared<Graph>();
  evaluate(build(read_problem_file(problem, "test")), *graph);
  return graph;
}

std::optional<Value> doubled_values(const Node& node, Rewriting& again) {
  if (!node.is(role::v) || node.is_alias()) return std::nullopt;
  return times(again.unchanged(node), {2.0, {"2", "2"}});
}

std::optional<Value> from_the_next_head(const Node& node, Rewriting& again) {
  if (!node.is(role::weights) || !node.place || node.place->number != 1) return std::nullopt;
  return again.of(node.graph->at("head.2.weights"));
}

std::optional<Value> nothing(const Node&, Rewriting&) { return std::nullopt; }

Mistake made(std::optional<Value> (*instead)(const Node&, Rewriting&)) {
  return {"test", Mistake::Kind::error, "", "", instead};
}

constexpr std::string_view two_heads = R"({"text": "the cat sat down", "d_model": 4, "heads": 2, "seed": 1})";

TEST_SUITE("a computation with a mistake") {
  TEST_CASE("what a mistake does not change is taken over with its numbers") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(nothing);
    Rewriting again(*graph, mistake);
    const Node& output = graph->at("output");
    CHECK_FALSE(again.changes(output));
    CHECK(again.of(output).matrix() == output.matrix());
    CHECK(again.graph().nodes().size() == 1);
  }

  TEST_CASE("what is behind a change is computed again and keeps its name") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made(doubled_values);
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
    const Mistake mistake = made(from_the_next_head);
    Rewriting again(*graph, mistake);
    CHECK(again.of(graph->at("head.1.weights")).matrix() == graph->at("head.2.weights").matrix());
  }

  TEST_CASE("what cannot be computed is refused again and nothing else is") {
    const auto graph = computed(two_heads);
    const Mistake mistake = made([](const Node& node, Rewriting& again) -> std::optional<Value> {
      if (!node.is(role::concat)) return std::nullopt;
      return columns(again.unchanged(node), 3, 2);
    });
    Rewriting again(*graph, mistake);
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_AS(again.of(graph->at("output")), InputError);
      CHECK_THROWS_AS(again.changes(graph->at("concat")), InputError);
    }
    CHECK_FALSE(again.changes(graph->at("head.2.output")));
  }

  TEST_CASE("each mistake has a name of its own and says something") {
    std::set<std::string_view> names;
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      CHECK(names.insert(mistake.name).second);
      CHECK_FALSE(mistake.summary.empty());
      CHECK(mistake.says.ends_with("."));
    }
  }
}

}  // namespace
}  // namespace attn
