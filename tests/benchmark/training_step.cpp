#include "training_step.hpp"

#include <benchmark/benchmark.h>

#include <map>
#include <sstream>

#include "blas.hpp"
#include "core/graph/run.hpp"
#include "core/math/product.hpp"
#include "core/math/random.hpp"
#include "core/op/backward_pass.hpp"
#include "peer.hpp"
#include "ratios.hpp"
#include "school/training/loss_graph.hpp"
#include "school/training/trainer.hpp"

namespace attn {
namespace {

constexpr std::size_t sentences = 32, words = 16, different_words = 30;
constexpr TransformerSizes sizes = {.encoder_layers = 2,
                                    .decoder_layers = 2,
                                    .d_model = 64,
                                    .heads = 4,
                                    .d_ff = 256,
                                    .source_words = different_words + 1,   // and the end
                                    .target_words = different_words + 2};  // and the beginning

// As in the paper, and as PyTorch has it: layer normalization behind every sub-layer, ReLU.
TrainedModel drawn_model() {
  TrainedModel model = Transformer{.kind = &model_kinds().front(), .sizes = sizes};
  draw_parameters(model, 1);
  return model;
}

// Sentences of words drawn by chance: 15 words and an end, which are 16.
std::vector<TextPair> pairs() {
  Generator generator(1);
  const auto sentence = [&] {
    std::string text;
    for (std::size_t i = 0; i + 1 < words; ++i) text += " w" + std::to_string(generator() % different_words);
    return text;
  };
  std::vector<TextPair> all;
  for (int i = 0; i < 1000; ++i) all.push_back({sentence(), sentence()});
  return all;
}

TrainingState beginning() {
  TrainingState state{.task = "pairs", .request = {.pairs = pairs()}, .model = drawn_model()};
  state.options.steps = state.options.evaluate_every = 1 << 30;
  state.options.batch = sentences;
  std::ostringstream generator;
  generator << Generator(2);
  state.generator = generator.str();
  for (const auto& [name, matrix] : matrices_of(state.model)) {
    state.moments.emplace(name, Moments{Matrix(matrix->shape(), 0.0), Matrix(matrix->shape(), 0.0)});
  }
  return state;
}

Trainer& trainer() {
  static Trainer one(beginning());
  return one;
}

void step_by_attn(benchmark::State& state) {
  trainer().step();
  for (auto _ : state) {
    const double begin = now();
    trainer().step();
    state.SetIterationTime(now() - begin);
  }
}

void step_by_torch(benchmark::State& state) {
  static Peer peer("torch_training.py");
  const std::string request = "step " + std::to_string(sentences);
  peer.seconds_of(request);
  for (auto _ : state) state.SetIterationTime(peer.seconds_of(request));
}

// A matrix product of the step: of every sentence of a batch, or of all rows.
struct Product {
  std::string_view operation;
  std::size_t sentences;
  Shape a, b, result;  // of one sentence
};

std::vector<Product> products() {
  const TrainedModel model = drawn_model();
  const LossGraph graph(model, {.sentences = sentences, .source = words, .given = words, .expected = words}, 0.0);
  std::vector<const Node*> parameters, wanted = {&graph.loss().node()};
  for (const auto& [name, matrix] : matrices_of(model)) parameters.push_back(&graph.graph().at(name));
  const Value one =
      graph.graph().input(Name{family::gradient, role::loss}, Matrix({1, 1}, 1.0), axis("loss"), axis("loss"));
  const Backward backward(graph.loss(), one, parameters);
  for (const Node* parameter : parameters) wanted.push_back(backward.by(*parameter));
  std::vector<Product> all;
  for (const Plan::Step& step : graph.graph().run().plan_to_repeat(wanted).steps) {
    const Node& node = *step.node;
    if (!node.op || node.op->name.find("matmul") == std::string_view::npos) continue;
    const auto shape_in_one = [&](const Node& matrix, std::size_t count) {
      return Shape{matrix.frame.shape.rows / count, matrix.frame.shape.columns};
    };
    const Node &a = *node.operands[0], &b = *node.operands[1];
    const bool is_one = node.op->name == "transposed_matmul" ||
                        (node.op->name == "matmul" && a.frame.shape.columns == b.frame.shape.rows) ||
                        a.frame.rows.batch != b.frame.rows.batch;
    const std::size_t count = is_one ? 1 : b.frame.rows.batch;
    all.push_back({node.op->name, count, shape_in_one(a, count), shape_in_one(b, count), shape_in_one(node, count)});
  }
  return all;
}

// Matrices of every shape, which have been used before.
class Pool {
 public:
  Matrix& of(Shape shape, double value) {
    const auto found = matrices_.try_emplace({shape.rows, shape.columns, value}, shape, value).first;
    return found->second;
  }

 private:
  std::map<std::tuple<std::size_t, std::size_t, double>, Matrix> matrices_;
};

void by_our_kernel(const Product& product, const Matrix& a, const Matrix& b, Matrix& result) {
  if (product.operation == "matmul") return attn::product(rows_of(a), rows_of(b), rows_to_make(result));
  if (product.operation == "matmul_transposed") {
    return product_transposed(rows_of(a), rows_of(b), rows_to_make(result));
  }
  product_of_transposed(rows_of(a), rows_of(b), rows_to_make(result));
}

void by_blas(const Product& product, const Matrix& a, const Matrix& b, Matrix& result) {
  if (product.operation == "transposed_matmul") return multiply_transposed_by_blas(a, b, result);
  const bool is_transposed = product.operation == "matmul_transposed";
  multiply_by_blas(a, b, is_transposed ? cxxblas::Trans : cxxblas::NoTrans, result);
}

using Multiply = void (*)(const Product& product, const Matrix& a, const Matrix& b, Matrix& result);

void step_by_products(benchmark::State& state, Multiply multiply) {
  static const std::vector<Product> all = products();
  Pool pool;
  const auto run = [&] {
    for (const Product& product : all) {
      const Matrix &a = pool.of(product.a, 0.5), &b = pool.of(product.b, 0.25);
      Matrix& result = pool.of(product.result, 0.0);
      for (std::size_t s = 0; s < product.sentences; ++s) multiply(product, a, b, result);
    }
  };
  run();
  for (auto _ : state) {
    const double begin = now();
    run();
    state.SetIterationTime(now() - begin);
  }
}

}  // namespace

void register_training_step() {
  constexpr int steps = 20;
  const auto add = [](const char* name, auto run, auto... arguments) {
    benchmark::RegisterBenchmark(name, run, arguments...)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(steps);
  };
  add("training/attn", step_by_attn);
  add("training/torch", step_by_torch);
  add("training/products", step_by_products, by_our_kernel);
  add("training/products-by-blas", step_by_products, by_blas);
}

}  // namespace attn
