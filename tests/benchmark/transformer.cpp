#include "transformer.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>

#include "blas.hpp"
#include "core/math/random.hpp"
#include "core/model/transformer.hpp"
#include "data/parameters/transformer_parameters.hpp"
#include "peer.hpp"
#include "ratios.hpp"

namespace attn {
namespace {

constexpr TransformerSizes base = {.encoder_layers = 6, .decoder_layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048};

const Transformer& base_model() {
  static const Transformer model = [] {
    Transformer drawn{.kind = &model_kinds().front(), .sizes = base};
    RandomSource random(random_kind::by_name, 1);
    draw_parameters(drawn, random);
    return drawn;
  }();
  return model;
}

ModelInput vectors(std::size_t n, std::uint32_t seed) {
  return {.x = RandomSource(random_kind::by_name, seed).vectors({"x", {n, base.d_model}})};
}

double seconds_of_pass(std::size_t n) {
  const ModelInput source = vectors(n, 1), target = vectors(n, 2);
  const double begin = now();
  Graph graph(keep_nothing());
  RunningTransformer running(base_model(), graph);
  benchmark::DoNotOptimize(running.decode(target, running.encode(source)).matrix().data());
  return now() - begin;
}

double seconds_of_decoding(std::size_t n) {
  const ModelInput source = vectors(n, 1);
  ModelInput word = vectors(1, 2);
  const double begin = now();
  Graph graph(keep_nothing());
  RunningTransformer running(base_model(), graph);
  const Value encoded = running.encode(source);
  for (std::size_t i = 0; i < n; ++i) {
    const Graph::Scope scope(graph, scope::number, i + 1);
    word.x = running.decode(word, encoded).matrix();
  }
  return now() - begin;
}

Peer& torch() {
  static Peer peer("torch_peer.py");
  return peer;
}

void pass_by_attn(benchmark::State& state) {
  seconds_of_pass(64);
  for (auto _ : state) state.SetIterationTime(seconds_of_pass(static_cast<std::size_t>(state.range(0))));
}
void pass_by_torch(benchmark::State& state) {
  const std::string request = "forward " + std::to_string(state.range(0));
  torch().seconds_of(request);
  for (auto _ : state) state.SetIterationTime(torch().seconds_of(request));
}
void decoding_by_attn(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(seconds_of_decoding(static_cast<std::size_t>(state.range(0))));
}
void decoding_by_torch(benchmark::State& state) {
  const std::string request = "decode " + std::to_string(state.range(0));
  for (auto _ : state) state.SetIterationTime(torch().seconds_of(request));
}

// The matrix products of one pass alone: a product with each map of the model, and two for each head of an
// attention.
void pass_by_products(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<std::shared_ptr<const Matrix>> maps;
  for (const ParameterRow& row : parameters_of(base_model())) {
    const Role* const role = &row.called.role();
    const std::array of_maps = {&role::w_q, &role::w_k, &role::w_v, &role::w_o, &role::w_1, &role::w_2};
    if (std::ranges::find(of_maps, role) != of_maps.end()) maps.push_back(base_model().parameters.at(row.name));
  }
  Matrix narrow({n, base.d_model}, 0.5), inner({n, base.d_ff}, 0.5);
  const auto of_width = [&](std::size_t columns) -> Matrix& { return columns == base.d_ff ? inner : narrow; };
  Matrix same_width({n, base.d_model}, 0.0), part({n, base.d_model / base.heads}, 0.5), sum = part;
  Matrix scores({n, n}, 0.0);
  constexpr std::size_t attentions = base.encoder_layers + 2 * base.decoder_layers;
  for (auto _ : state) {
    const double begin = now();
    for (const auto& map : maps) {
      const Shape shape = map->shape();
      Matrix& result = shape.rows == shape.columns ? same_width : of_width(shape.columns);
      multiply_by_blas(of_width(shape.rows), *map, cxxblas::NoTrans, result);
    }
    for (std::size_t head = 0; head < attentions * base.heads; ++head) {
      multiply_by_blas(part, part, cxxblas::Trans, scores);
      multiply_by_blas(scores, part, cxxblas::NoTrans, sum);
    }
    state.SetIterationTime(now() - begin);
  }
}

}  // namespace

void register_transformer() {
  using Run = void (*)(benchmark::State&);
  const auto add = [](const char* name, Run run, int tokens) {
    benchmark::RegisterBenchmark(name, run)->UseManualTime()->Unit(benchmark::kMillisecond)->Arg(tokens)->Iterations(5);
  };
  constexpr int in_a_pass = 64, decoded = 32;
  add("transformer/attn", pass_by_attn, in_a_pass);
  add("transformer/torch", pass_by_torch, in_a_pass);
  add("transformer/products", pass_by_products, in_a_pass);
  add("decoding/attn", decoding_by_attn, decoded);
  add("decoding/torch", decoding_by_torch, decoded);
}

}  // namespace attn
