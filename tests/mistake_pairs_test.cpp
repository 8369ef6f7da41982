#include <doctest/doctest.h>

#include <algorithm>

#include "commands_tried.hpp"
#include "core/support/error.hpp"
#include "school/check/findings.hpp"
#include "school/mistake/numbers.hpp"

using namespace attn;

namespace {

const Mistake& mistake_called(std::string_view name) {
  const auto found = std::ranges::find(mistakes(), name, &Mistake::name);
  REQUIRE(found != mistakes().end());
  return *found;
}

ComparedMatrix compared_with(const Node& node, Matrix theirs) {
  ComparedMatrix one{.name = node.name,
                     .node = &node,
                     .theirs = std::make_shared<const Matrix>(std::move(theirs)),
                     .rounding = {},
                     .difference = {}};
  one.rounding = rounding_of(*one.theirs, Precision::float64, largest_of(node.matrix()));
  one.difference = difference(*one.theirs, node.matrix(), one.rounding);
  return one;
}

// What is found in the matrices of these names, as somebody has them who makes some changes.
Findings found_with(const Graph& graph, const std::vector<Change>& changes, const std::vector<std::string>& names) {
  Rewriting theirs(graph, changes);
  std::vector<ComparedMatrix> compared;
  for (const std::string& name : names)
    compared.push_back(compared_with(graph.at(name), theirs.of(graph.at(name)).matrix()));
  return find_mistakes(graph, compared);
}

bool is_pair(const MistakePair& pair, const Mistake& one, const Mistake& other) {
  return (pair.first.mistake == &one && pair.second.mistake == &other) ||
         (pair.first.mistake == &other && pair.second.mistake == &one);
}

}  // namespace

TEST_SUITE("pairs of mistakes") {
  TEST_CASE("two mistakes of different steps are found from the output alone") {
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c d e' --d-model 6 --heads 1 --d-k 4 --causal --seed 3");
    const std::vector<std::string_view> of_scale = {"not-scaled", "scale-squared", "multiplied-by-scale"},
                                        of_others = {
                                            "softmax-over-queries",  "mask-transposed",      "order-not-masked",
                                            "one-key-too-many",      "masked-score-is-zero", "softmax-twice",
                                            "keys-values-exchanged", "sum-of-keys",          "weights-transposed"};
    for (const std::string_view scale : of_scale) {
      for (const std::string_view other : of_others) {
        CAPTURE(scale);
        CAPTURE(other);

        const Mistake &one = mistake_called(scale), &two = mistake_called(other);
        const Findings findings = found_with(*graph, {one, two}, {"output"});
        REQUIRE(findings.all.size() == 1);
        const std::vector<MistakePair>& pairs = findings.all.front().pairs;
        CHECK(std::ranges::any_of(pairs, [&](const MistakePair& pair) { return is_pair(pair, one, two); }));
      }
    }
  }

  TEST_CASE("a pair gives all that differs behind the first place or it is not named") {
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c d e' --d-model 6 --d-k 4 --causal --seed 3");
    const Mistake &one = mistake_called("not-scaled"), &two = mistake_called("mask-transposed");
    Rewriting theirs(*graph, std::vector<Change>{one, two});
    std::vector<ComparedMatrix> compared;
    for (const std::string name : {"weights", "output"})
      compared.push_back(compared_with(graph->at(name), theirs.of(graph->at(name)).matrix()));
    const std::vector<MistakePair> pairs = find_mistakes(*graph, compared).all.front().pairs;
    REQUIRE(!pairs.empty());
    CHECK(is_pair(pairs.front(), one, two));
    Matrix other = *compared.back().theirs;
    other(0, 0) += 1.0;
    compared.back() = compared_with(graph->at("output"), other);
    CHECK(find_mistakes(*graph, compared).all.front().pairs.empty());
  }

  TEST_CASE("a number that was taken otherwise is solved for") {
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c d e' --d-model 6 --d-k 4 --causal --seed 3");
    for (const double factor : {0.3, 1.7, 2.25}) {
      const Change change{[](const Node& node) { return node.is(role::scaled) && node.op; },
                          [factor](RewriteSite at) {
                            return std::optional(times(at.itself(), {factor, {"c", "c"}}));
                          }};
      const Findings findings = found_with(*graph, {change}, {"output"});
      REQUIRE(findings.all.size() == 1);
      REQUIRE(findings.all.front().mistakes.size() == 1);
      CHECK(findings.all.front().mistakes.front()->name == "another-scale");
      CHECK(findings.all.front().amounts.front().starts_with(fmt::format("{} times the right one", factor)));
    }
  }

  TEST_CASE("a mistake that does not give what is computed from it is a guess") {
    const std::shared_ptr<Graph> graph =
        computation_of("attn walk --text 'a b c d e' --d-model 6 --d-k 4 --causal --seed 3");
    Rewriting theirs(*graph, mistake_called("not-scaled"));
    std::vector<ComparedMatrix> compared = {
        compared_with(graph->at("weights"), theirs.of(graph->at("weights")).matrix()),
        compared_with(graph->at("output"), Matrix(graph->at("output").matrix().shape(), 3.25))};
    (*std::const_pointer_cast<Matrix>(compared.back().theirs))(1, 2) = -1.5;
    compared.back() = compared_with(graph->at("output"), *compared.back().theirs);
    const Findings findings = find_mistakes(*graph, compared);
    CHECK(findings.all.front().mistakes.front()->name == "not-scaled");
    CHECK(findings.all.front().contradicts == std::size_t{1});
  }
}
