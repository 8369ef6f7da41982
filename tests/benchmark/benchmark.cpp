// The yardsticks of docs/performance.md: the program against NumPy, in one run, the two in random turns.

#include <benchmark/benchmark.h>

#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "attention/attention.hpp"
#include "attention/scale.hpp"
#include "math/product.hpp"
#include "math/random.hpp"
#include "math/xtensor_blas.hpp"
#include "page/describe.hpp"
#include "peer.hpp"
#include "ratios.hpp"
#include "render/format.hpp"
#include "transformer.hpp"

namespace {

using namespace attn;

constexpr std::size_t d_model = 512, heads = 8, d_k = d_model / heads;

// The same numbers as the NumPy peer draws.
struct Inputs {
  Matrix x, w_q, w_k, w_v, w_o;
};

Inputs draw_inputs(std::size_t n) {
  const auto source = random_kinds()[1].make(0);
  const auto shifted = [](Matrix matrix, double factor) {
    for (double& cell : cells(matrix)) cell = (cell - 0.5) * factor;
    return matrix;
  };
  const auto parameter = [&] { return shifted(source->parameter({d_model, d_model}), 0.1); };
  Inputs inputs;
  inputs.x = shifted(source->embeddings({n, d_model}), 1.0);
  for (Matrix* w : {&inputs.w_q, &inputs.w_k, &inputs.w_v, &inputs.w_o}) *w = parameter();
  return inputs;
}

// From x to the output, every head's weights kept. Only the computation is timed, as on the other side.
PeerRun run_attention(const Inputs& inputs) {
  Graph graph(keep_matching("head.*.weights"));
  const auto input = [&](const char* name, const Matrix& matrix) {
    return graph.input(called(name), matrix, axis("rows"), axis("columns"));
  };
  Value x = input("x", inputs.x), w_q = input("w_q", inputs.w_q), w_k = input("w_k", inputs.w_k),
        w_v = input("w_v", inputs.w_v), w_o = input("w_o", inputs.w_o);
  const double begin = now();
  const Recipe recipe{.divisor = divisor("sqrt-dk", {.d_k = d_k})};
  const Value output = multi_head_attention(linear(x, {w_q, {}}), linear(x, {w_k, {}}), linear(x, {w_v, {}}),
                                            {recipe, heads, Projection{w_o, {}}});
  const double seconds = now() - begin;
  double sum = 0.0;
  for (const double cell : cells(output.matrix())) sum += cell;
  return {seconds, sum};
}

void attention_by_attn(benchmark::State& state) {
  const Inputs inputs = draw_inputs(static_cast<std::size_t>(state.range(0)));
  run_attention(inputs);
  for (auto _ : state) state.SetIterationTime(run_attention(inputs).seconds);
}

// Each size has a process of its own: how NumPy's memory behaves depends on what the process did before.
void attention_by_numpy(benchmark::State& state) {
  static std::map<std::size_t, Peer> peers;
  const auto n = static_cast<std::size_t>(state.range(0));
  Peer& peer = peers.try_emplace(n, "numpy_peer.py").first->second;
  const double theirs = peer.run(std::to_string(n)).checksum, ours = run_attention(draw_inputs(n)).checksum;
  if (std::fabs(theirs - ours) > 1e-9 * std::fabs(theirs)) throw std::runtime_error("the results differ");
  for (auto _ : state) state.SetIterationTime(peer.run(std::to_string(n)).seconds);
}

// The matrix products alone, into memory that has been used before.
void attention_by_products(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const Inputs inputs = draw_inputs(n);
  Matrix wide = Matrix({n, d_model}, 0.0), part = Matrix({n, d_k}, 0.5), sum = part;
  Matrix scores({n, n}, 0.0);
  for (auto _ : state) {
    const double begin = now();
    for (int i = 0; i < 4; ++i)
      xt::blas::gemm(inputs.x.array(), inputs.w_q.array(), wide.array(), false, false);
    for (std::size_t head = 0; head < heads; ++head) {
      xt::blas::gemm(part.array(), part.array(), scores.array(), false, true);
      xt::blas::gemm(scores.array(), part.array(), sum.array(), false, false);
    }
    state.SetIterationTime(now() - begin);
  }
}

void process_of_attn(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(seconds_of({ATTN_PROGRAM, "walk"}));
}

void process_of_numpy(benchmark::State& state) {
  for (auto _ : state) {
    state.SetIterationTime(seconds_of({"/usr/bin/python3", ATTN_BENCHMARK_FOLDER "/snippet.py"}));
  }
}

// A page with one table of 2048 × 2048 numbers.
Page large_page() {
  auto graph = std::make_shared<Graph>();
  Matrix matrix = random_kinds()[0].make(1)->embeddings({2048, 2048});
  graph->input("matrix", std::move(matrix), axis("rows"), axis("columns"));
  const Node& node = graph->nodes().front();
  return {.graph = graph, .problem = nullptr, .trace = {&node}, .blocks = {table_of(node)}};
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
  add("process/attn", process_of_attn)->Iterations(20);
  add("process/numpy", process_of_numpy)->Iterations(5);
  for (const int n : {128, 512, 1024, 2048, 4096}) {
    const int iterations = n <= 512 ? 20 : n <= 1024 ? 6 : n <= 2048 ? 3 : 1;
    add("attention/attn", attention_by_attn)->Arg(n)->Iterations(iterations);
    add("attention/numpy", attention_by_numpy)->Arg(n)->Iterations(iterations);
    add("attention/products", attention_by_products)->Arg(n)->Iterations(iterations);
  }
  register_transformer();
  for (const Format& format : formats()) {
    const std::string name = "write/" + std::string(format.name);
    benchmark::RegisterBenchmark(name.c_str(), write_page, &format)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  register_all();
  benchmark::Initialize(&argc, argv);
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  reporter.print_table();
}
