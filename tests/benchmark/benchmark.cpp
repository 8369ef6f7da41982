// What docs/performance.md measures inside one process: attn and what it is compared with, in random turns,
// on one thread. Whole processes are measured by whole_processes.py.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "blas.hpp"
#include "core/attention/attention.hpp"
#include "core/attention/score.hpp"
#include "core/graph/run.hpp"
#include "core/math/machine.hpp"
#include "core/math/random.hpp"
#include "page/render/format.hpp"
#include "page/tell/describe.hpp"
#include "ratios.hpp"
#include "training_step.hpp"
#include "transformer.hpp"

namespace {

using namespace attn;

constexpr std::size_t d_model = 512, heads = 8, d_k = d_model / heads;

struct Inputs {
  std::shared_ptr<const Matrix> x, w_q, w_k, w_v, w_o;
};

Inputs random_inputs(std::size_t n) {
  RandomSource source(random_kind::by_name, 1);
  const auto parameter = [&](std::string_view name) {
    return std::make_shared<const Matrix>(source.parameter({name, {d_model, d_model}}));
  };
  return {.x = std::make_shared<const Matrix>(source.vectors({"x", {n, d_model}})),
          .w_q = parameter("w_q"),
          .w_k = parameter("w_k"),
          .w_v = parameter("w_v"),
          .w_o = parameter("w_o")};
}

// From x to the output: the graph is built and run.
double seconds_of_attention(const Inputs& inputs) {
  const double begin = now();
  Graph graph(keep_nothing());
  const auto input = [&](const Role& role, const std::shared_ptr<const Matrix>& matrix) {
    return graph.input(role, matrix, axis("rows"), axis("columns"));
  };
  const Value x = input(role::x, inputs.x);
  const auto projected = [&](const Role& role, const std::shared_ptr<const Matrix>& matrix) {
    return linear(x, {input(role, matrix), {}});
  };
  const AttentionRecipe recipe{.divisor = divisor("sqrt-dk", {.d_k = d_k})};
  const Value output = multi_head_attention(projected(role::w_q, inputs.w_q), projected(role::w_k, inputs.w_k),
                                            projected(role::w_v, inputs.w_v),
                                            {recipe, heads, Projection{input(role::w_o, inputs.w_o), {}}});
  benchmark::DoNotOptimize(graph.run().at(output.node())->data());
  return now() - begin;
}

// The first run is not measured: it takes its memory from the system.
void attention_by_attn(benchmark::State& state) {
  const Inputs inputs = random_inputs(static_cast<std::size_t>(state.range(0)));
  seconds_of_attention(inputs);
  for (auto _ : state) state.SetIterationTime(seconds_of_attention(inputs));
}

// The matrix products alone, into memory that has been used before.
void attention_by_products(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const Inputs inputs = random_inputs(n);
  Matrix wide = Matrix({n, d_model}, 0.0), part = Matrix({n, d_k}, 0.5), sum = part;
  Matrix scores({n, n}, 0.0);
  for (auto _ : state) {
    const double begin = now();
    for (int i = 0; i < 4; ++i) multiply_by_blas(*inputs.x, *inputs.w_q, cxxblas::NoTrans, wide);
    for (std::size_t head = 0; head < heads; ++head) {
      multiply_by_blas(part, part, cxxblas::Trans, scores);
      multiply_by_blas(scores, part, cxxblas::NoTrans, sum);
    }
    state.SetIterationTime(now() - begin);
  }
}

// A page with one table of 2048 × 2048 numbers.
Page large_page() {
  auto graph = std::make_shared<Graph>();
  Matrix matrix = RandomSource(random_kind::by_name, 1).vectors({"x", {2048, 2048}});
  graph->input(name_from_text("matrix"), std::move(matrix), axis("rows"), axis("columns"));
  const Node& node = graph->nodes().front();
  return {.trace = {{&node}}, .blocks = {table_of(node)}};
}

void write_page(benchmark::State& state, const Format* format) {
  const Page page = large_page();
  for (auto _ : state) {
    std::size_t bytes = 0;
    Sink sink([&](std::string_view block) { bytes += block.size(); });
    format->render(page, Style{}, sink);
    sink.flush();
    benchmark::DoNotOptimize(bytes);
  }
}

void register_all() {
  using Run = void (*)(benchmark::State&);
  const auto add = [](const char* name, Run run) {
    return benchmark::RegisterBenchmark(name, run)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const int n : {128, 512, 1024, 2048, 4096}) {
    const int iterations = n <= 512 ? 20 : n <= 1024 ? 6 : n <= 2048 ? 3 : 1;
    add("attention/attn", attention_by_attn)->Arg(n)->Iterations(iterations);
    add("attention/products", attention_by_products)->Arg(n)->Iterations(iterations);
  }
  register_transformer();
  register_training_step();
  for (const Format& format : formats()) {
    if (format.parts) continue;  // a drawing, which has no room for so many numbers
    const std::string name = "write/" + std::string(format.name);
    benchmark::RegisterBenchmark(name.c_str(), write_page, &format)->Unit(benchmark::kMillisecond)->Iterations(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  attn::use_threads(1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);  // of PyTorch, which is started by us
  register_all();
  // What the tables are made from, unless the command line says otherwise.
  char repetitions[] = "--benchmark_repetitions=5", order[] = "--benchmark_enable_random_interleaving=true";
  std::vector<char*> arguments = {argv[0], repetitions, order};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_table();
}
