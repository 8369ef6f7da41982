#include "core/graph/plan.hpp"

#include <cmath>

#include "computations.hpp"
#include "core/attention/attention.hpp"
#include "core/attention/masks.hpp"
#include "core/math/machine.hpp"
#include "core/math/matrix.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

// What a run takes, as it is planned and as it was: with one thread, because several need not meet at their
// most.
struct Bytes {
  double planned, taken;
};

template <class Build>
Bytes bytes_of_run(const Build& build, const Keep& keep) {
  const Threads one(1);
  Graph graph(keep);
  build(graph);
  const Plan planned = plan(graph, kept_nodes(graph, keep));
  double inputs = 0.0;
  for (const Node& node : graph.nodes())
    inputs += node.given ? static_cast<double>(node.given->size() * sizeof(double)) : 0.0;
  const std::size_t before = bytes_in_use();
  measure_bytes_anew();
  graph.run().compute();
  const auto most = static_cast<double>(most_bytes_in_use() - before);
  return {static_cast<double>(planned.peak_bytes), inputs + most};
}

// Eight heads of 64 on words that have no numbers yet.
void plan_attention(Graph& graph, std::size_t n) {
  constexpr std::size_t d = 512, heads = 8;
  const auto input = [&](const Role& role, Shape shape) {
    return graph.input(role, Frame{shape, axis("rows"), axis("columns")});
  };
  const Value x = input(role::x, {n, d});
  const auto projected = [&](const Role& result, const Role& w) {
    return name(result, linear(x, {input(w, {d, d}), {}}));
  };
  const Value allowed = graph.input(role::mask, mask_by({causal_rule()}), {{n, n}, axis("queries"), axis("keys")});
  multi_head_attention(projected(role::q, role::w_q), projected(role::k, role::w_k), projected(role::v, role::w_v),
                       {{.divisor = Scalar{8.0, {"√64", "\\sqrt{64}"}}, .allowed = allowed},
                        heads,
                        Projection{input(role::w_o, {d, d}), {}}});
}

double planned_bytes(std::size_t n) {
  const Threads two(2);
  Graph graph(keep_matching("output"));
  plan_attention(graph, n);
  const Plan planned = plan(graph, {&graph.at("output")});
  require_room(planned);
  return static_cast<double>(planned.peak_bytes);
}

}  // namespace

TEST_CASE("a run takes as much memory as it was planned to take") {
  std::size_t runs = 0;
  const auto check = [&](const auto& build) {
    for (const Keep& keep : {keep_everything(), keep_matching("*output|distribution"), keep_matching("weights")}) {
      const Bytes bytes = bytes_of_run(build, keep);
      CAPTURE(bytes.planned);
      CAPTURE(bytes.taken);
      CHECK(std::fabs(bytes.planned - bytes.taken) <= 0.02 * bytes.taken);
      ++runs;
    }
  };
  for (const Computation& computation : computations()) {
    if (computation.words < many_words) continue;
    CAPTURE(computation.fields);
    check([&](Graph& graph) { build_into(graph, computation); });
  }
  for (const std::size_t words : {std::size_t{300}, many_words}) {
    CAPTURE(words);
    check([&](Graph& graph) { build_into(graph, ModelComputation{"encoder-decoder", words, words}); });
  }
  CHECK(runs >= 12);
}

TEST_CASE("long sequences are planned in blocks, where only the output is kept") {
  CHECK(planned_bytes(4096) < 250e6);
  CHECK(planned_bytes(16384) < 1e9);
}

TEST_CASE("what would not fit is refused by name before anything is computed") {
  class Anything final : public Watch {
   public:
    void begins(const Node&) override { ++begun; }
    int begun = 0;
  };
  const auto refused = [](std::size_t n, const Keep& keep, int matrices) {
    Graph graph(keep);
    const auto watch = std::make_shared<Anything>();
    graph.run().add(watch);
    const Value x = graph.input(role::x, Matrix({n, 2}, 1.0), axis("rows"), axis("columns"));
    Value scores = name(role::scores, matmul_transposed(x, x));
    for (int i = 1; i < matrices; ++i) scores = softmax(scores);
    const std::string told = refusal([&] { graph.run().compute(); });
    CHECK(watch->begun == 0);
    return told;
  };
  CHECK(refused(20000, keep_everything(), 1).find("scores would be 20000×20000") == 0);
  const std::string together = refused(11000, keep_everything(), 5);
  CHECK(together.find("scores is 11000×11000, and all matrices at the same time need 4.5 GiB") == 0);
}

TEST_CASE("what stands already takes room") {
  Graph graph(keep_nothing());
  const auto input = [&](const Role& role) {
    return graph.input(role, Matrix(Shape{11000, 11000}), axis("rows"), axis("columns"));
  };
  const Value q = input(role::q), k = input(role::k);
  input(role::v);
  input(role::x);
  const Value sum = name(role::output, add(q, k));
  const std::string told = refusal([&] { graph.run().compute(); });
  CHECK(told.find("output is 11000×11000, and all matrices at the same time need 4.5 GiB") == 0);
}

TEST_CASE("scores, scaling, masks and softmax work in one memory, where none of them is kept") {
  const auto in_place = [](const Keep& keep) {
    std::vector<std::string> formulas;
    Graph graph(keep);
    const auto input = [&](const Role& role) {
      return graph.input(role, Frame{{6, 6}, axis("rows"), axis("columns")});
    };
    const Value x = input(role::x), allowed = input(role::mask);
    name(role::output, softmax(mask(divide(matmul_transposed(x, x), {2.0, {"2", "2"}}), allowed, -1.0)));
    std::size_t count = 0;
    for (const Plan::Step& step : plan(graph, kept_nodes(graph, keep)).steps) count += step.in_place;
    return count;
  };
  CHECK(in_place(keep_matching("output")) == 3);
  CHECK(in_place(keep_everything()) == 0);
}
