#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

#include "commands_tried.hpp"
#include "core/graph/find.hpp"
#include "core/graph/plan.hpp"
#include "core/model/layer_cost.hpp"
#include "core/op/operations.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "data/files/json.hpp"
#include "data/problem/problem.hpp"
#include "data/problem/problem_file.hpp"
#include "process.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

const LayerKind& kind(std::string_view name) { return look_up(layer_kinds(), name, "kind of layer"); }

Value input(Graph& graph, const char* name, Shape shape) {
  return graph.input(name_from_text(name), Matrix(shape, 0.5), axis("rows"), axis("columns"));
}

double products(const Work& work) { return static_cast<double>(work.cost.multiply_adds); }

std::string shown(const Words& words) { return accepted(words).out; }

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("a graph's work is what its operations cost, counted by hand") {
  Graph graph;
  const Value x = input(graph, "x", {2, 3}), w = input(graph, "w", {3, 4});
  name(role::weights, softmax(name(role::scores, matmul(x, w))));
  const Work work = work_of(graph);
  CHECK(work.cost.multiply_adds == 2 * 3 * 4);
  CHECK(work.cost.element_operations == 3 * 2 * 4);
  CHECK(work.bytes == 8 * (2 * 4 + 2 * 4));
  CHECK(work.sequential == 2);
  CHECK(bytes_of_inputs(graph) == 8 * (2 * 3 + 3 * 4));
}

TEST_CASE("aliases are free, and what has no name belongs to the result that it was computed for") {
  Graph graph;
  const Value x = input(graph, "x", {2, 2});
  const Value sum = name(role::sum, add(attn::tanh(x), relu(x)));
  name(name_from_text("second_name"), sum);
  name(role::product, matmul(sum, attn::tanh(x)));
  const std::vector<NamedWork> all = work_by_name(graph);
  REQUIRE(all.size() == 2);
  CHECK(all[0].node->name == "sum");
  CHECK(all[0].work.cost.element_operations == 3 * 4);
  CHECK(all[0].work.bytes == 3 * 32);
  CHECK(all[0].work.sequential == 2);
  CHECK(all[1].work.cost.multiply_adds == 8);
  CHECK(all[1].work.cost.element_operations == 4);
  CHECK(all[1].work.sequential == 3);
  CHECK(work_of(graph).bytes == all[0].work.bytes + all[1].work.bytes);
}

TEST_CASE("an unnamed node that two results use is counted once") {
  Graph graph;
  const Value shared = attn::tanh(input(graph, "x", {2, 2}));
  name(name_from_text("a"), relu(shared));
  name(role::b, sigmoid(shared));
  std::uint64_t sum = 0;
  for (const NamedWork& named : work_by_name(graph)) sum += named.work.cost.element_operations;
  CHECK(sum == 3 * 4);
  CHECK(sum == work_of(graph).cost.element_operations);
}

TEST_CASE("the operations of a graph sum up to the whole") {
  Graph graph;
  add_computation(build_problem(read_problem_file(R"({"text": ["a b c"], "heads": 2, "d_model": 4})", "test")), graph);
  Work sum;
  std::set<std::string_view> names;
  for (const OperationWork& row : work_by_operation(graph)) {
    CHECK(names.insert(row.operation).second);
    CHECK(row.times > 0);
    sum.cost += row.work.cost;
    sum.bytes += row.work.bytes;
  }
  CHECK(names.contains("softmax"));
  CHECK_FALSE(names.contains("identity"));
  const Work total = work_of(graph);
  CHECK(sum.cost.multiply_adds == total.cost.multiply_adds);
  CHECK(sum.cost.element_operations == total.cost.element_operations);
  CHECK(sum.bytes == total.bytes);
}

TEST_CASE("moving numbers is no step that others wait for") {
  Graph graph;
  const Value x = input(graph, "x", {3, 3});
  transpose(stack({rows(x, 0, 1), rows(columns(x, 0, 3), 1, 2)}));
  CHECK(work_of(graph).sequential == 0);
}

TEST_CASE("labels and distances only move numbers, and nobody waits for them") {
  Graph graph;
  const Value x = input(graph, "x", {3, 3});
  labelled(by_distance(x, x, x), axis("words", {"a", "b", "c"}));
  CHECK(work_of(graph).sequential == 0);
  CHECK(cost_of(x.node()).element_operations == 0);
}

TEST_CASE("the work of attention is as the papers count it") {
  Graph graph;
  // n = 3, m = 2 keys, d_k = 4, d_v = 5.
  add_computation(build_problem(read_problem_file(R"({"q": [[1,0,0,0],[0,1,0,0],[0,0,1,0]], "k": [[1,0,0,0],[0,1,0,0]],
                                  "v": [[1,2,3,4,5],[5,4,3,2,1]]})",
                                                  "test")),
                  graph);
  const Work work = work_of(graph);
  CHECK(work.cost.multiply_adds == 3 * 2 * 4 + 3 * 2 * 5);
  CHECK(work.cost.element_operations == 3 * 2 * (1 + 3));
  CHECK(work.bytes == 8 * (3 * (3 * 2) + 3 * 5));
  CHECK(work.sequential == 4);
}

TEST_CASE("shortest paths count only what they are told to") {
  Graph graph;
  const Value x = input(graph, "x", {1, 1}), y = input(graph, "y", {1, 1});
  const Value near = attn::tanh(x), far = relu(relu(relu(x)));
  const Value sum = add(near, far);
  const auto everything = [](const Node&) { return true; };
  const ShortestPaths paths(graph, x.node(), everything);
  CHECK(paths.length(x.node()) == 0);
  CHECK(paths.length(far.node()) == 3);
  CHECK(paths.length(sum.node()) == 2);
  CHECK(paths.path(sum.node()) == std::vector<const Node*>{&x.node(), &near.node(), &sum.node()});
  CHECK_FALSE(paths.length(y.node()).has_value());
  const ShortestPaths sums(graph, x.node(), [](const Node& node) { return node.op->name == "add"; });
  CHECK(sums.length(sum.node()) == 1);
}

TEST_CASE("every kind of layer is a row with a sentence and sound growth") {
  std::set<std::string_view> names;
  for (const LayerKind& row : layer_kinds()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.summary.empty());
    CHECK_FALSE(row.formula.empty());
    CHECK(row.growth.complexity.starts_with("O("));
    CHECK(row.name.size() <= 16);
  }
  CHECK(names.size() == 6);
}

TEST_CASE("position by position and as a whole, every layer computes the same at the same cost") {
  for (const LayerKind& row : layer_kinds()) {
    for (const std::size_t n : {1u, 2u, 5u}) {
      for (const std::size_t k : {1u, 2u, 3u, 7u}) {
        for (const std::size_t place : {1u, 2u}) {
          CAPTURE(row.name);
          CAPTURE(n);
          CAPTURE(k);
          CAPTURE(place);
          const LayerSizes sizes{n, 3, k};
          Graph parts, whole;
          const Value x = layer_input(parts, sizes);
          std::vector<Value> positions;
          for (std::size_t i = 0; i < n; ++i) positions.push_back(rows(x, i, 1));
          const Layer layer = make_layer(parts, row, sizes, place);
          const Value by_position = stack(row.by_position(positions, layer));
          const Value y = layer_input(whole, sizes);
          Layer same_layer{{}, sizes, place};
          for (const Value& w : layer.parameters) {
            same_layer.parameters.push_back(
                whole.input(name_from_text(w.node().name), w.matrix(), axis("rows"), axis("columns")));
          }
          const Value at_once = row.whole(y, same_layer);
          CHECK(by_position.shape() == Shape{n, 3});
          CHECK(close(by_position.matrix(), at_once.matrix(), 1e-12));
          CHECK(work_of(parts).cost.multiply_adds == work_of(whole).cost.multiply_adds);
          CHECK(work_of(parts).sequential == work_of(whole).sequential);
        }
      }
    }
  }
}

TEST_CASE("what is counted on a built layer is what its formula says") {
  for (const LayerKind& row : layer_kinds()) {
    for (const std::size_t n : {1u, 2u, 3u, 8u, 13u}) {
      for (const std::size_t d : {1u, 2u, 6u}) {
        for (const std::size_t k : {1u, 2u, 3u, 5u}) {
          CAPTURE(row.name);
          CAPTURE(n);
          CAPTURE(d);
          CAPTURE(k);
          const LayerSizes sizes{n, d, k};
          const Work work = layer_work(row, sizes);
          CHECK(products(work) == row.multiply_adds(sizes));
          CHECK(static_cast<double>(work.sequential) == row.sequential(sizes));
        }
      }
    }
  }
}

TEST_CASE("the path that is found in the dependencies is as long as the formula says") {
  for (const LayerKind& row : layer_kinds()) {
    for (std::size_t n = 1; n <= 40; ++n) {
      for (std::size_t k = 2; k <= 5; ++k) {
        CAPTURE(row.name);
        CAPTURE(n);
        CAPTURE(k);
        const auto meeting = search_meeting(row, n, k, n);
        REQUIRE(meeting.has_value());
        CHECK(static_cast<double>(meeting->length) == row.path({n, 1, k}));
      }
    }
  }
}

TEST_CASE("x_1 and x_5 meet under two layers of kernel 3 and not under one") {
  const LayerKind& convolution = kind("convolution");
  CHECK_FALSE(search_meeting(convolution, 5, 3, 1).has_value());
  const auto meeting = search_meeting(convolution, 5, 3, 9);
  REQUIRE(meeting.has_value());
  CHECK(meeting->layers == 2);
  CHECK(meeting->from_first == std::vector<std::string>{"x_1", "layer.1.h_2", "layer.2.h_3"});
  CHECK(meeting->from_last == std::vector<std::string>{"x_5", "layer.1.h_4", "layer.2.h_3"});
}

TEST_CASE("a recurrent layer leads through every state, and self-attention through none") {
  const auto recurrent = search_meeting(kind("recurrent"), 4, 3, 9);
  REQUIRE(recurrent.has_value());
  CHECK(recurrent->layers == 1);
  CHECK(recurrent->from_first ==
        std::vector<std::string>{"x_1", "layer.1.h_1", "layer.1.h_2", "layer.1.h_3", "layer.1.h_4"});
  CHECK(recurrent->from_last == std::vector<std::string>{"x_4", "layer.1.h_4"});
  const auto attention = search_meeting(kind("self-attention"), 4, 3, 9);
  REQUIRE(attention.has_value());
  CHECK(attention->from_first == std::vector<std::string>{"x_1", "layer.1.h_1"});
  CHECK(attention->from_last == std::vector<std::string>{"x_4", "layer.1.h_1"});
}

TEST_CASE("a kernel of one position never brings two together") {
  for (const char* name : {"convolution", "dilated"}) {
    CHECK_FALSE(search_meeting(kind(name), 3, 1, 10).has_value());
    CHECK(std::isinf(kind(name).path({3, 1, 1})));
    CHECK(kind(name).path({1, 1, 1}) == 1.0);
  }
}

TEST_CASE("self-attention costs as much as a recurrent layer where the length is the depth") {
  const LayerKind &attention = kind("self-attention"), &recurrent = kind("recurrent");
  for (const std::size_t d : {2u, 3u, 7u, 16u}) {
    CAPTURE(d);
    const auto costs = [&](const LayerKind& row, std::size_t n) {
      return layer_work(row, {n, d, 3}).cost.multiply_adds;
    };
    CHECK(costs(attention, d - 1) < costs(recurrent, d - 1));
    CHECK(costs(attention, d) == costs(recurrent, d));
    CHECK(costs(attention, d + 1) > costs(recurrent, d + 1));
    CHECK(cheaper_up_to(attention, recurrent, {1, d, 3}, 1000) == d - 1);
  }
  CHECK(cheaper_up_to(attention, recurrent, {1, 1, 3}, 1000) == 0);
  CHECK(cheaper_up_to(attention, recurrent, {1, 1000000000, 3}, 4000000000) == 999999999);
  CHECK(cheaper_up_to(attention, recurrent, {1, 512, 3}, 100) == 100);
  CHECK(attention.multiply_adds({3072, 512, 3}) == 6 * recurrent.multiply_adds({3072, 512, 3}));
}

TEST_CASE("formulas hold for sizes that nobody could build") {
  const LayerSizes huge{1000000000, 1000000000, 1000000000};
  for (const LayerKind& row : layer_kinds()) {
    CAPTURE(row.name);
    CHECK(std::isfinite(row.multiply_adds(huge)));
    CHECK(row.multiply_adds(huge) >= 2e27);
    CHECK(row.path(huge) >= 1.0);
  }
  CHECK(kind("dilated").path({1000000000, 1, 2}) == 30.0);
  CHECK(kind("convolution").path({1000000000, 1, 3}) == 500000000.0);
}

TEST_CASE("heads share the products of one wide head") {
  const Work eight = heads_work(8, 4, 64), one = heads_work(1, 4, 64);
  CHECK(eight.cost.multiply_adds == one.cost.multiply_adds);
  CHECK(one.cost.multiply_adds == 4 * 4 * 64 * 64 + 2 * 4 * 4 * 64);
  CHECK(eight.cost.element_operations > one.cost.element_operations);
  check_refused({{"not divisible by the number of heads", [] { heads_work(3, 4, 64); }}});
}

TEST_CASE("additive attention takes the products of the dot product, and more of everything else") {
  constexpr std::size_t n = 5, d = 3;
  const auto of = [](std::string_view name) { return scores_work(look_up(scoring_functions(), name, "score"), n, d); };
  CHECK(of("dot").cost.multiply_adds == n * n * d);
  CHECK(of("dot").cost.element_operations == 0);
  CHECK(of("scaled-dot").cost.element_operations == n * n);
  CHECK(of("additive").cost.multiply_adds == n * n * d + 2 * n * d * d);
  // A sum and a tanh for every number of every pair, and the scores in their places.
  CHECK(of("additive").cost.element_operations == 2 * n * n * d + n * n);
}

TEST_CASE("the nodes of a walk's JSON cost together what the whole problem costs") {
  for (const Words& options :
       {Words{"--x", "1 2; 3 4", "--wq", "1 0; 0 1", "--bq", "1 2", "--wk", "1 0; 0 1", "--wv", "1 0; 0 1"},
        Words{"--text", "a b c", "--score", "gaussian", "--heads", "2", "--positions", "sinusoidal"},
        Words{"--text", "a b c", "--layers", "2", "--positions", "relative-vectors"}}) {
    const auto run = [&](Words words) {
      words.insert(words.end(), options.begin(), options.end());
      words.insert(words.end(), {"--format", "json"});
      const ProcessResult finished = run_attn(words);
      REQUIRE_MESSAGE(finished.code == 0, finished.errors);
      return Json::parse(finished.out);
    };
    const Json walk = run({"walk"}), cost = run({"cost"});
    std::uint64_t multiply_adds = 0, element_operations = 0;
    for (const Json& node : walk["nodes"]) {
      multiply_adds += node["multiply_adds"].get<std::uint64_t>();
      element_operations += node["element_operations"].get<std::uint64_t>();
      for (const Json& operand : node["operands"]) {
        CHECK(walk["arrays"].contains(operand.get<std::string>()));
      }
      if (node["name"] == "q" && options[2] == "--wq") {
        CHECK(node["operands"] == Json::array({"x", "w_q", "b_q"}));
        CHECK(node["multiply_adds"] == 8);
      }
    }
    const Json& total = cost["arrays"]["by_step"].back();
    CHECK(total[0] == multiply_adds);
    CHECK(total[1] == element_operations);
  }
}

TEST_CASE("attn cost sums up to the whole of the problem") {
  const std::string csv = shown({"cost", "--format", "csv"});
  CHECK(holds(csv, "\"project\",72,0,144,1\n"));
  CHECK(holds(csv, "\"softmax\",0,12,32,4\n"));
  CHECK(holds(csv, "\"total\",96,16,288,5\n"));
  CHECK(holds(csv, "\"matmul\",4,84,0,192\n"));
  CHECK(holds(csv, "\"scores\",2,2,12,0,32,2\n"));
  CHECK(holds(shown({"cost", "--example", "animal"}), "head.2.weights"));
}

TEST_CASE("attn cost compares layers at the problem's sizes, or at those that are given") {
  const std::string own = in_one_line(shown({"cost", "--q", "1 0 1; 0 1 0; 1 1 1", "--k", "1 1 1; 0 1 0"}));
  CHECK(holds(own, "By formula, at n = 3, d = 3, k = 3:"));
  CHECK(holds(own, "What this problem costs"));
  const std::string given = in_one_line(shown({"cost", "--n", "3072", "--d", "512", "--kernel", "5"}));
  CHECK(holds(given, "By formula, at n = 3072, d = 512, k = 5:"));
  CHECK_FALSE(holds(given, "What this problem costs"));
  CHECK(holds(given, "9,663,676,416"));
  CHECK(holds(given, "The counts agree with the formulas"));
  CHECK(holds(given, "x_1 → layer.1.h_2 → layer.2.h_3, and x_5 → layer.1.h_4 → layer.2.h_3"));
  CHECK(holds(in_one_line(shown({"cost", "--kernel", "1"})), "A kernel of 1 sees only its own position"));
  CHECK(holds(shown({"cost", "--scores", "1 2; 3 4"}), "n = 2, d = 512"));
}

TEST_CASE("eight heads are counted at the sizes that are given, and need no more multiply-adds than one") {
  for (const auto& sizes : {std::pair(8, 512), std::pair(20, 128), std::pair(3, 16), std::pair(1, 8)}) {
    const int n = sizes.first, d = sizes.second;
    CAPTURE(n);
    CAPTURE(d);
    const std::string page =
        in_one_line(shown({"cost", "--n", std::to_string(n), "--d", std::to_string(d), "--section", "Eight heads"}));
    CHECK(holds(page, fmt::format("on {} of size {}: once with 8 heads of size {},",
                                  count_of(static_cast<std::size_t>(n), "word"), d, d / 8)));
    const auto products = std::to_string(4 * n * d * d + 2 * n * n * d);
    CHECK(holds(page, fmt::format("8 heads of {} │ {} ", d / 8, products)));
    CHECK(holds(page, fmt::format("1 head of {} │ {} ", d, products)));
  }
  CHECK(holds(in_one_line(shown({"cost", "--section", "Eight heads"})), "on 8 words of size 512:"));
  CHECK(holds(in_one_line(shown({"cost", "--d", "1"})), "one head of size 8. (The size 1 is replaced by 8.)"));
  CHECK(shown({"cost", "--n", "1000000000", "--d", "1000000000", "--section", "Eight heads"}).size() > 100);
}

TEST_CASE("every growth of a layer names the text that states it, or none") {
  const std::string page = in_one_line(shown({"cost", "--n", "8", "--d", "8"}));
  for (const LayerKind& row : layer_kinds()) {
    CAPTURE(row.name);
    if (!row.growth.source.empty()) CHECK(holds(page, row.growth.source));
  }
  CHECK(holds(page, "Dive into Deep Learning, 11.6.2 (self-attention, recurrent, convolution)"));
  CHECK(kind("with projections").growth.source.empty());
  CHECK(kind("fully connected").growth.source.empty());
}

TEST_CASE("attn cost says so when there is nothing to count") {
  const ProcessResult finished = run_attn({"cost", "--weights", "0.5 0.5"});
  CHECK(finished.code == 2);
  CHECK(holds(finished.errors, "nothing is computed from this input"));
}

TEST_CASE("matrices whose names are too long for one table stand in one for each scope") {
  const std::string out = shown({"cost", "--text", "a b", "--text", "c d", "--heads", "2", "--d-model", "4"});
  CHECK(holds(out, "sentence.2.head.1 │"));
  CHECK_FALSE(holds(out, "sentence.1.head…"));
}

TEST_CASE("attn cost --measure shows times and plots") {
  const std::string out = shown({"cost", "--n", "4", "--d", "4", "--measure"});
  CHECK(holds(out, "Measured on this machine"));
  CHECK(holds(out, "milliseconds"));
  CHECK(holds(out, "× recurrent"));
}

TEST_CASE("attn cost refuses sizes that are none") {
  for (const char* option : {"--n", "--d", "--kernel"}) {
    for (const char* value : {"0", "-1", "x", "1.5", "1000000001", "99999999999999999999999"}) {
      CAPTURE(option);
      CAPTURE(value);
      const ProcessResult finished = run_attn({"cost", option, value});
      CHECK(finished.code == 2);
      CHECK(holds(finished.errors, std::string(option) + " must be "));
      CHECK(finished.out == "");
    }
  }
}
