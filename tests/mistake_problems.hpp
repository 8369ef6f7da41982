#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/graph/run.hpp"
#include "core/math/random.hpp"
#include "core/model/encoder_decoder.hpp"
#include "core/op/backward_pass.hpp"
#include "core/support/text.hpp"
#include "data/problem/encoder_decoder_file.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/problem_options.hpp"
#include "models.hpp"
#include "school/training/loss_graph.hpp"

// Computations in which mistakes are made: the numbers of tests/oracles/mistakes.py are those of these. A mistake that
// needs another one has it as a row of the table at the end.

namespace attn::tried {

constexpr std::size_t sizes = 3;
constexpr std::array<std::size_t, sizes> widths = {8, 12, 16}, lengths = {3, 4, 5};
constexpr double epsilon = 0.01;

inline std::shared_ptr<Graph> problem_of(std::string_view fields) {
  auto graph = std::make_shared<Graph>();
  add_computation(build_problem(read_problem_file(fields, "test")), *graph);
  return graph;
}

/// A problem on random words.
inline std::shared_ptr<Graph> walked(std::string_view fields, std::size_t size) {
  OptionValues options = read_problem_file(fields, "test");
  std::mt19937 generator(static_cast<std::uint32_t>(size + 7));
  std::uniform_real_distribution<double> any(-2.0, 2.0);
  options.override_with(read_problem_file(R"({"seed": 1})", "test"));
  options.put(option::x, MatrixFile{.matrix = filled({lengths[size], widths[size]}, [&] { return any(generator); })});
  auto graph = std::make_shared<Graph>();
  add_computation(build_problem(options), *graph);
  return graph;
}

inline Transformer model_of(RandomModel recipe, std::size_t size) {
  recipe.d_model = widths[size];
  recipe.seed = static_cast<std::uint32_t>(size + 1);
  Transformer model = random_model(recipe);
  model.recipe.epsilon = epsilon;
  return model;
}

inline ModelInput words_of(std::size_t count, std::size_t from, std::size_t vocabulary) {
  ModelInput words;
  for (std::size_t i = 0; i < count; ++i) words.ids.push_back((from + i * i) % vocabulary + 1);
  return words;
}

inline void nothing_else(Transformer&) {}

/// The words of a model of this recipe, as far as the distribution where it decodes. Where it has both sides, one has a
/// word more, or as many.
template <class Change>
std::shared_ptr<Graph> run(const RandomModel& recipe, std::size_t size, const Change& change, std::size_t more = 1) {
  auto graph = std::make_shared<Graph>();
  Transformer model = model_of(recipe, size);
  change(model);
  RunningTransformer running(model, *graph);
  std::optional<Value> last;
  if (model.kind->encodes) last = running.encode(words_of(lengths[size], 1, 5));
  if (model.kind->decodes) {
    last = running.decode(words_of(lengths[size] + (model.kind->encodes ? more : 0), 2, 6), last);
    name(role::distribution, softmax(running.logits(*last)));
  }
  return graph;
}
inline std::shared_ptr<Graph> run(const RandomModel& recipe, std::size_t size) {
  return run(recipe, size, nothing_else);
}

inline void without_scale(Transformer& model) { model.recipe.scale_embeddings = false; }
inline void with_longer_waves(Transformer& model) { model.recipe.scaling.factor = 3.0; }
inline void with_window(Transformer& model) { model.recipe.window = 2; }

/// As if the parameters were drawn, and not a model's own.
inline std::shared_ptr<Graph> drawn(std::shared_ptr<Graph> graph) {
  graph->tell_origin(graph->at("encoder.1.self_attention.w_q"), "is random");
  return graph;
}

/// Four heads of queries and two of keys, on five words of which the last may be padding.
inline std::shared_ptr<Graph> of_groups(std::size_t of_padding, const std::vector<std::size_t>& target) {
  const auto graph = std::make_shared<Graph>();
  const Transformer model = random_model({.heads = 4, .key_heads = 2, .d_model = 8});
  RunningTransformer running(model, *graph);
  ModelInput source{.ids = {1, 2, 3, 4, 5}, .blank = std::vector<bool>(5)};
  std::fill_n(source.blank.rbegin(), of_padding, true);
  const Value encoded = running.encode(source);
  if (!target.empty()) running.decode(words(target), encoded);
  return graph;
}

/// Two sentences of the same length, with one head.
inline std::shared_ptr<Graph> batch_of_two(std::size_t size) {
  constexpr std::array<std::string_view, sizes> fields = {
      R"({"text": ["a b c", "d e f"], "d_model": 4, "seed": 1})",
      R"({"text": ["a b c d", "d e f g"], "d_model": 6, "seed": 2})",
      R"({"text": ["a b", "c d"], "d_model": 5, "seed": 3})"};
  return problem_of(fields[size]);
}

/// Queries of x behind keys that are given.
inline std::shared_ptr<Graph> cached(const std::string& fields, std::size_t size) {
  return walked("{" + fields +
                    R"(, "k": [[1, 0], [0, 1], [2, 1], [1, 1], [0, 2], [1, 3], [2, 2], [0, 1], [3, 1]],
    "causal_offset": 3, "v": [[1], [2], [3], [4], [5], [6], [7], [8], [9]]})",
                size);
}
/// A tree whose words all hang below the first.
inline std::shared_ptr<Graph> star(std::size_t size) {
  std::string parents = "0";
  for (std::size_t word = 1; word < lengths[size]; ++word) parents += ", 1";
  return walked(R"({"positions": "tree-bias", "max_distance": 3, "parents": [[)" + parents + "]]}", size);
}

/// An encoder and a decoder with states.
inline std::shared_ptr<Graph> aligned(std::string_view cell, std::string_view variant, std::size_t size) {
  const std::size_t width = lengths[size];
  EncoderDecoder model{.cell = &look_up(recurrences(), cell, "cell"),
                       .variant = &look_up(alignment_variants(), variant, "variant"),
                       .source_words = {"a", "b", "c", "<end>"},
                       .target_words = {"<start>", "<end>", "x", "y"},
                       .features = {},
                       .source_size = width,
                       .target_size = width,
                       .state_size = width};
  std::mt19937 generator(static_cast<std::uint32_t>(size + 1));
  std::normal_distribution<double> normal(0.0, 0.6);
  for (const ExpectedMatrix& expected : expected_matrices(model)) {
    model.parameters.emplace(
        expected.name, std::make_shared<const Matrix>(filled(expected.frame.shape, [&] { return normal(generator); })));
  }
  auto graph = std::make_shared<Graph>();
  RunningEncoderDecoder running(model, words_of(lengths[size], 1, 4), *graph);
  for (const std::size_t previous : {std::size_t{1}, std::size_t{3}, std::size_t{4}})
    running.step({previous}, axis("outputs"));
  return graph;
}

/// Sentences of a decoder alone: the last one is shorter than the others. Told, the words that should come out go in.
inline std::shared_ptr<Graph> loss_of(std::size_t size, bool is_told) {
  std::vector<TaskExample> examples;
  for (std::size_t s = 0; s < size + 2; ++s) {
    TaskExample one;
    const std::size_t words = lengths[size] - (s == 0 ? 0 : s % 2);
    for (std::size_t i = 0; i < words; ++i) {
      one.expected.push_back((s + (i + 1) * (i + 1)) % 6 + 1);
      one.given.push_back(is_told ? one.expected.back() : (s + i * i) % 6 + 1);
    }
    examples.push_back(std::move(one));
  }
  struct Losses {
    TrainedModel model;
    LossGraph loss;
    Losses(std::size_t size, const std::vector<TaskExample>& examples)
        : model(model_of({.kind = "decoder-only", .decoder_layers = 1}, size)),
          loss(model, BatchShape::of(examples, examples.size()), 0.1) {
      loss.put(batch_of(examples, loss.shape()));
    }
  };
  const auto losses = std::make_shared<Losses>(size, examples);
  return {losses, &losses->loss.graph()};
}

/// Words that are written one by one.
inline std::shared_ptr<Graph> written(const std::string& positions, const Sampling& sampling, std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const Transformer model =
      model_of({.kind = "decoder-only", .positions = positions, .heads = 1, .decoder_layers = 1}, size);
  RunningTransformer running(model, *graph);
  generate(running, *graph, {.prompt = words_of(lengths[size], 1, 6), .steps = 3}, std::nullopt, sampling);
  return graph;
}
/// The same without a prompt.
inline std::shared_ptr<Graph> step_by_step(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const Transformer model = model_of({.kind = "decoder-only", .heads = 1, .decoder_layers = 1}, size);
  RunningTransformer running(model, *graph);
  for (const std::size_t word : {2, 3, 1}) {
    const Graph::Scope step(*graph, scope::step, word);
    running.decode(words({word}), std::nullopt);
  }
  return graph;
}

/// Flows back from a result of random gradient.
inline std::shared_ptr<Graph> flown_back(const std::shared_ptr<Graph>& graph, std::string_view from) {
  const Node& result = graph->at(from);
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(0.0, 1.0);
  const Graph::Scope scope(*graph, result.place);
  const Value d =
      graph->input({family::gradient, *result.role}, filled(result.frame.shape, [&] { return normal(generator); }),
                   result.frame.rows, result.frame.columns);
  Backward(Value(result), d);
  return graph;
}
inline std::shared_ptr<Graph> layers_back(std::string_view activation, std::size_t size) {
  return flown_back(run({.kind = "encoder-only", .activation = activation}, size), "encoder.2.norm_2.output");
}

struct Problem {
  std::string_view name;
  std::shared_ptr<Graph> (*made)(std::size_t size);
};

using Size = std::size_t;
// clang-format off
inline constexpr Problem problems[] = {
    {"walk", [](Size n) { return walked("{}", n); }},
    {"two-heads", [](Size n) { return walked(R"({"heads": 2})", n); }},
    {"padded", [](Size n) { return walked(R"({"valid_length": 2})", n); }},
    {"capped", [](Size n) { return walked(R"({"heads": 2, "causal": true, "soft_cap": 2})", n); }},
    {"additive", [](Size n) { return walked(R"({"score": "additive"})", n); }},
    {"cosine", [](Size n) { return walked(R"({"score": "cosine"})", n); }},
    {"bilinear", [](Size n) { return walked(R"({"score": "bilinear"})", n); }},
    {"kernel", [](Size n) { return walked(R"({"score": "gaussian", "score_sigma": 0.5})", n); }},
    {"relative-bias", [](Size n) { return walked(R"({"positions": "relative-bias"})", n); }},
    {"relative-vectors", [](Size n) { return walked(R"({"positions": "relative-vectors"})", n); }},
    {"cached-bias", [](Size n) { return cached(R"("positions": "relative-bias", "max_distance": 4)", n); }},
    {"cached-learned", [](Size n) { return cached(R"("positions": "learned")", n); }},
    {"star", star},
    {"batch", batch_of_two},
    {"encoder-of-groups", [](Size n) { return of_groups(n, {}); }},
    {"decoder-of-groups", [](Size n) { return of_groups(n, {6, 2, 3}); }},
    {"both-of-groups", [](Size n) { return of_groups(n, {6, 2, 3, 1, 4}); }},
    {"one-head", [](Size n) { return run({.kind = "encoder-only", .heads = 1}, n); }},
    {"post", [](Size n) { return run({.kind = "encoder-only"}, n); }},
    {"pre", [](Size n) { return run({.kind = "encoder-only", .norm = "pre"}, n); }},
    {"rms", [](Size n) { return run({.kind = "encoder-only", .norm_kind = "rms"}, n); }},
    {"rms-plus-1", [](Size n) { return run({.kind = "encoder-only", .norm_kind = "rms-plus-1"}, n); }},
    {"gelu", [](Size n) { return run({.kind = "encoder-only", .activation = "gelu"}, n); }},
    {"gelu-tanh", [](Size n) { return run({.kind = "encoder-only", .activation = "gelu-tanh"}, n); }},
    {"silu", [](Size n) { return run({.kind = "encoder-only", .activation = "silu"}, n); }},
    {"tanh", [](Size n) { return run({.kind = "encoder-only", .activation = "tanh"}, n); }},
    {"gated", [](Size n) { return run({.kind = "encoder-only", .activation = "silu", .gated = true}, n); }},
    {"halves", [](Size n) { return run({.kind = "encoder-only", .positions = "concatenated"}, n); }},
    {"unscaled", [](Size n) { return run({.kind = "encoder-only"}, n, without_scale); }},
    {"learned", [](Size n) { return run({.kind = "decoder-only", .positions = "learned"}, n); }},
    {"rotary", [](Size n) { return run({.kind = "encoder-only", .positions = "rotary", .heads = 1}, n); }},
    {"rotary-halves", [](Size n) { return run({.kind = "encoder-only", .positions = "rotary-halves", .heads = 1}, n); }},
    {"rotary-longer",
     [](Size n) { return run({.kind = "encoder-only", .positions = "rotary-halves", .heads = 1}, n, with_longer_waves); }},
    {"rotary-drawn", [](Size n) { return drawn(run({.kind = "encoder-only", .positions = "rotary", .heads = 1}, n)); }},
    {"rotary-halves-drawn",
     [](Size n) { return drawn(run({.kind = "encoder-only", .positions = "rotary-halves", .heads = 1}, n)); }},
    {"rotary-heads", [](Size n) { return run({.kind = "encoder-only", .positions = "rotary", .heads = 2}, n); }},
    {"window", [](Size n) { return run({.kind = "decoder-only", .heads = 1}, n, with_window); }},
    {"grouped", [](Size n) { return run({.kind = "decoder-only", .heads = 4, .key_heads = 2}, n); }},
    {"both-sides", [](Size n) { return run({.heads = 1, .encoder_layers = 1, .decoder_layers = 1}, n); }},
    {"equal-sides",
     [](Size n) { return run({.heads = 1, .encoder_layers = 1, .decoder_layers = 1}, n, nothing_else, 0); }},
    {"luong", [](Size n) { return aligned("tanh", "luong", n); }},
    {"bahdanau", [](Size n) { return aligned("tanh", "bahdanau", n); }},
    {"scaled-dot", [](Size n) { return aligned("tanh", "scaled-dot", n); }},
    {"gru", [](Size n) { return aligned("gru", "luong", n); }},
    {"loss", [](Size n) { return loss_of(n, false); }},
    {"loss-told", [](Size n) { return loss_of(n, true); }},
    {"written", [](Size n) { return written("rotary", {.temperature = 2.0, .top_k = 3}, n); }},
    {"written-with-sines", [](Size n) { return written("sinusoidal", {}, n); }},
    {"step-by-step", step_by_step},
    {"attention-back", [](Size n) { return flown_back(walked("{}", n), "output"); }},
    {"relu-back", [](Size n) { return layers_back("relu", n); }},
    {"tanh-back", [](Size n) { return layers_back("tanh", n); }},
};
// clang-format on

}  // namespace attn::tried
