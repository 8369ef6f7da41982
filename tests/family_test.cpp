#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "core/attention/feed_forward.hpp"
#include "core/attention/watches.hpp"
#include "core/op/operations.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "page/tell/attention_flow.hpp"
#include "page/tell/attention_steps.hpp"
#include "page/tell/describe.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// A second computation whose matrices have the roles of the first, but are only numbers.
constexpr Family changed{.name = "changed", .prefix = "d_", .before = "\\partial L/\\partial "};

Problem problem_of(const char* json) { return build_problem(read_problem_file(json, "test")); }

Problem masked_heads() {
  return problem_of(R"({"text": "a b c", "seed": 4, "heads": 2, "causal": true, "score": "gaussian"})");
}

Problem two_layers() { return problem_of(R"({"text": "a b c", "seed": 4, "layers": 2, "no_feed_forward": true})"); }

std::vector<const Node*> computed(const Graph& graph) {
  std::vector<const Node*> nodes = graph.named();
  std::erase_if(nodes, [](const Node* node) { return !node->op; });
  return nodes;
}

// Beside every matrix that was computed, one of the same role in the second family.
std::vector<const Node*> changed_beside(Graph& graph) {
  std::vector<const Node*> made;
  for (const Node* node : computed(graph)) {
    const Graph::Scope scope(graph, node->place);
    const Value beside = times(Value(*node), {0.0, {"0", "0"}});
    made.push_back(&graph.name({changed, *node->role}, beside).node());
  }
  return made;
}

std::size_t alignments_of(Graph& graph) {
  add_alignments(graph);
  return static_cast<std::size_t>(
      std::ranges::count_if(graph.nodes(), [](const Node& node) { return node.is(role::alignment); }));
}

std::vector<std::string> titles(const Flow& flow) {
  std::vector<std::string> titles;
  for (const auto& box : flow.boxes) titles.push_back(box.title);
  return titles;
}

}  // namespace

TEST_CASE("a second family beside a computation has its roles and is not taken for it") {
  const Problem problem = masked_heads();
  Graph graph;
  add_computation(problem, graph);
  const std::vector<const Node*> first = computed(graph), second = changed_beside(graph);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Node &ours = *first[i], &other = *second[i];
    CAPTURE(other.name);
    CHECK(other.name == std::string(ours.scope()) + "d_" + std::string(ours.leaf()));
    CHECK(other.role == ours.role);
    CHECK(ours.is(*ours.role));
    CHECK_FALSE(other.is(*ours.role));
    CHECK(other.content() == Content::numbers);
    CHECK_FALSE(other.rows_sum_to_one());
    CHECK_FALSE(other.may_be_masked());
    CHECK(step_of(ours) != nullptr);
    CHECK(step_of(other) == nullptr);
    CHECK_FALSE(leads_to_scores(other));
    CHECK_FALSE(is_weighted_sum(other));
    CHECK_FALSE(matches(ours.leaf(), other.name));
    CHECK(matches("d_*", other.name));
    const Table table = table_of(other);
    CHECK(table.heat == Heat::around_zero);
    CHECK_FALSE(table.row_sums);
    Page page;
    add_reading(page, other);
    CHECK(page.blocks.empty());
    // Each finds its own beside it.
    if (const Node* beside = ours.beside(role::weights)) {
      CHECK(beside->is(role::weights));
      CHECK(other.beside(role::weights)->family == &changed);
    }
  }
  const Node& weights = graph.at({{{scope::head, 1}}, role::weights});
  CHECK(table_of(weights).heat == Heat::weights);
  CHECK(table_of(weights).row_sums);
  Page page;
  add_reading(page, weights);
  CHECK(page.blocks.size() == 1);
  CHECK(alignments_of(graph) == 2);
}

TEST_CASE("the letter of a second family stands before that of the role") {
  Graph graph;
  add_computation(masked_heads(), graph);
  changed_beside(graph);
  CHECK(symbol(graph.at("head.1.q")).latex == "{Q}_{\\mathrm{head.1}}");
  CHECK(symbol(graph.at("head.1.d_q")).latex == "{\\partial L/\\partial Q}_{\\mathrm{head.1}}");
  CHECK(symbol(graph.at("head.1.d_weights")).latex == "{\\partial L/\\partial \\mathrm{weights}}_{\\mathrm{head.1}}");
  CHECK(symbol(graph.at("head.1.d_weights")).plain == "head.1.d_weights");
}

TEST_CASE("pictures, steps and warnings are the same with a second family beside the first") {
  const Problem problem = problem_of(R"({"text": "a b c", "seed": 4, "heads": 2, "score": "gaussian"})");
  Graph alone, both;
  for (Graph* const graph : {&alone, &both}) {
    watch(*graph);
    add_computation(problem, *graph);
  }
  changed_beside(both);
  compute_watched(alone);
  compute_watched(both);
  CHECK(titles(attention_flow(both, problem)) == titles(attention_flow(alone, problem)));
  CHECK(warnings(both) == warnings(alone));
  for (const Step& step : steps()) {
    CAPTURE(step.name);
    const auto shows = [&](const Node& node) { return step.shows(node); };
    CHECK(std::ranges::count_if(both.nodes(), shows) == std::ranges::count_if(alone.nodes(), shows));
  }
}

TEST_CASE("−∞ is what a mask leaves of a score, and an overflow in a family that does not keep that") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Graph graph;
  const Value scores = graph.input(role::scores, matrix({{1, 2}}), axis("queries"), axis("keys"));
  const Value allowed = graph.input(role::mask, matrix({{1, 0}}), axis("queries"), axis("keys"));
  name(role::masked, mask(scores, allowed, -infinity));
  watch(graph);
  CHECK_NOTHROW(compute_watched(graph));
  name({changed, role::masked}, mask(scores, allowed, -infinity));
  check_refused({{"d_masked[1,2] is -inf", [&] { compute_watched(graph); }}});
}

TEST_CASE("the averaging of layers is a family whose weights are weights, beside those of the layers") {
  const Problem problem = two_layers();
  Graph graph;
  add_computation(problem, graph);
  const Node &averaged = graph.at("averaging.weights"), &weights = graph.at("layer.2.weights");
  CHECK(averaged.role == weights.role);
  CHECK(averaged.family == &family::averaging);
  CHECK(weights.is(role::weights));
  CHECK_FALSE(averaged.is(role::weights));
  for (const Node* node : {&averaged, &weights}) {
    CHECK(node->content() == Content::weights);
    CHECK(table_of(*node).heat == Heat::weights);
    CHECK(table_of(*node).row_sums);
  }
  for (const Node* node : computed(graph)) {
    CAPTURE(node->name);
    const Step* const step = step_of(*node);
    REQUIRE(step != nullptr);
    CHECK((step->name == "averaging") == (node->family == &family::averaging));
    CHECK((node->family == &family::averaging) == (node->within(scope::averaging) != nullptr));
  }
  const Step& step = *step_of(averaged);
  CHECK(heading_of(step, averaged) == "One averaging");
  CHECK(meaning_of(step, averaged).find("from layer.2.output is") != std::string::npos);
  CHECK(place_in_walk(graph.at("averaging.output"))->title() == "averaging");
  const std::vector<std::string> boxes = titles(attention_flow(graph, problem));
  CHECK(std::ranges::count(boxes, "weights") == 1);
  CHECK(alignments_of(graph) == 2);
}

TEST_CASE("two families beside a computation are not taken for each other") {
  Graph graph;
  add_computation(two_layers(), graph);
  changed_beside(graph);
  const Node& node = graph.at("averaging.d_weights");
  CHECK(node.family == &changed);
  CHECK(node.content() == Content::numbers);
  CHECK(step_of(node) == nullptr);
  CHECK(node.beside(role::output)->name == "averaging.d_output");
  CHECK(graph.at("averaging.weights").beside(role::output)->name == "averaging.output");
  CHECK(step_of(graph.at("averaging.weights"))->name == "averaging");
}
