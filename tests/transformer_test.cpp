#include "core/model/transformer.hpp"

#include <fmt/format.h>

#include "core/graph/plan.hpp"
#include "core/op/operations.hpp"
#include "core/term/explanation.hpp"
#include "data/problem/model_file.hpp"
#include "evaluated.hpp"
#include "models.hpp"

using namespace attn;

namespace {

std::size_t numbers_within(const std::vector<ParameterRow>& rows, std::string_view scope) {
  std::size_t numbers = 0;
  for (const ParameterRow& row : rows) {
    if (row.name.starts_with(scope)) numbers += row.shape.cells();
  }
  return numbers;
}

// A model that has been run on words.
struct Ran {
  explicit Ran(Transformer given) : model(std::move(given)), running(model, graph) {}

  Ran& on(const ModelInput& source, const ModelInput& target) {
    std::optional<Value> encoded;
    if (model.kind->encodes) encoded = running.encode(source);
    if (model.kind->decodes) name(role::distribution, softmax(running.logits(running.decode(target, encoded))));
    return *this;
  }
  const Matrix& at(std::string_view node) const { return graph.at(node).matrix(); }

  Transformer model;
  Graph graph;
  RunningTransformer running;
};

// Every kind with every placement of norms and every kind of positions that a model may have, and with each
// kind of norm and each activation in turn.
template <class Action>
void for_each_model(const Action& action) {
  std::size_t turn = 0;
  for (const ModelKind& kind : model_kinds()) {
    for (const NormPlacement& norm : norm_placements()) {
      for (const char* positions : {"none", "sinusoidal", "learned", "rotary", "rotary-halves"}) {
        const NormKind& norm_kind = norm_kinds()[turn % norm_kinds().size()];
        const Activation& activation = activations()[turn % activations().size()];
        CAPTURE(kind.name);
        CAPTURE(norm.name);
        CAPTURE(norm_kind.name);
        CAPTURE(activation.name);
        CAPTURE(positions);
        action(RandomModel{.kind = kind.name,
                           .norm = norm.name,
                           .positions = positions,
                           .norm_kind = norm_kind.name,
                           .activation = activation.name,
                           .key_heads = turn % 2 + 1});
        ++turn;
      }
    }
  }
}

}  // namespace

TEST_CASE("layers of the base size have as many parameters as the paper's") {
  const TransformerSizes base{.encoder_layers = 6, .decoder_layers = 6, .d_model = 512, .heads = 8, .d_ff = 2048};
  std::vector<ParameterRow> rows = parameter_rows(model_kinds()[0], base);
  std::erase_if(rows,
                [](const ParameterRow& row) { return !row.parameter->is_drawn({.norm = &norm_placements()[1]}); });
  for (int layer = 1; layer <= 6; ++layer) {
    CHECK(numbers_within(rows, fmt::format("encoder.{}.", layer)) == 3152384);
    CHECK(numbers_within(rows, fmt::format("decoder.{}.", layer)) == 4204032);
  }
  CHECK(numbers_within(rows, "encoder.norm.") == 1024);
  CHECK(numbers_within(rows, "") == 6 * (3152384 + 4204032) + 2 * 1024);
}

TEST_CASE("a model that is to be drawn has norms where they are placed") {
  const auto has = [](std::string_view norm, std::string_view row) {
    const std::vector<ParameterRow> rows = parameters_of(random_model({.norm = norm}));
    return std::ranges::find(rows, row, &ParameterRow::name) != rows.end();
  };
  CHECK(has("post", "encoder.1.norm_1.gamma"));
  CHECK_FALSE(has("post", "encoder.norm.gamma"));
  CHECK(has("pre", "decoder.2.norm_3.beta"));
  CHECK(has("pre", "decoder.norm.gamma"));
  CHECK_FALSE(has("none", "encoder.1.norm_1.gamma"));
  CHECK_FALSE(has("none", "encoder.norm.gamma"));
  CHECK(has("none", "encoder.1.feed_forward.b_1"));
}

TEST_CASE("a model that is to be drawn has what its recipe asks for") {
  Transformer model = random_model({.norm = "pre"});
  model.parameters.clear();
  const auto has = [&](std::string_view row) {
    const std::vector<ParameterRow> rows = parameters_of(model);
    return std::ranges::find(rows, row, &ParameterRow::name) != rows.end();
  };
  CHECK(has("encoder.1.norm_1.beta"));
  CHECK(has("output.w"));
  model.recipe.norm_kind = find_row(norm_kinds(), "rms");
  CHECK_FALSE(has("encoder.1.norm_1.beta"));
  CHECK(has("encoder.norm.gamma"));
  model.recipe.biases = false;
  CHECK_FALSE(has("decoder.1.cross_attention.b_q"));
  model.recipe.tied_output = true;
  CHECK_FALSE(has("output.w"));
}

TEST_CASE("keys and values may have fewer heads than queries") {
  const Transformer model = random_model({.kind = "decoder-only", .key_heads = 1});
  CHECK(model.parameters.at("decoder.1.self_attention.w_k")->shape() == Shape{4, 2});
  Ran ran(model);
  ran.on({}, words({1, 2, 3}));
  CHECK(same(ran.at("decoder.1.self_attention.head.1.k"), ran.at("decoder.1.self_attention.head.2.k")));
  CHECK_FALSE(same(ran.at("decoder.1.self_attention.head.1.q"), ran.at("decoder.1.self_attention.head.2.q")));
}

TEST_CASE("a tied output compares what was decoded with the embedding of each word") {
  Transformer model = random_model({.kind = "decoder-only"});
  model.parameters.erase("output.w");
  model.parameters.erase("output.b");
  model.recipe.tied_output = true;
  Ran ran(model);
  ran.on({}, words({1, 2}));
  const Matrix &logits = ran.at("logits"), &decoded = ran.at("decoder.output");
  const Matrix& embedding = *model.parameters.at("target_embedding.e");
  double expected = 0.0;
  for (std::size_t j = 0; j < 4; ++j) expected += decoded(1, j) * embedding(3, j);
  CHECK(logits(1, 3) == doctest::Approx(expected));
}

TEST_CASE("rotary positions leave the scores of words that are moved together as they are") {
  const auto scores = [](std::size_t before) {
    Graph graph;
    const Value x = graph.input(role::x, matrix({{1, 2, 3, 4}, {-1, 0.5, 2, 1}}), axis("tokens"), axis("d"));
    const Value turned = rotate(x, {.positions = before});
    return matmul_transposed(turned, turned).matrix();
  };
  CHECK(close(scores(0), scores(7), 1e-12));
}

TEST_CASE("a layer normalization gives every row mean 0 and variance 1") {
  Ran ran(random_model({}));
  ran.on(words({1, 2, 3}), words({1, 5}));
  for (const char* scope : {"encoder.1.norm_1", "encoder.2.norm_2", "decoder.2.norm_3"}) {
    const Matrix& rows = ran.at(fmt::format("{}.normalised", scope));
    const Matrix& variances = ran.at(fmt::format("{}.variance", scope));
    for (std::size_t i = 0; i < rows.shape().rows; ++i) {
      double sum = 0.0, squares = 0.0;
      for (const double cell : row(rows, i)) {
        sum += cell;
        squares += cell * cell;
      }
      CHECK(sum == doctest::Approx(0.0).epsilon(1e-12));
      CHECK(squares / 4.0 == doctest::Approx(variances(i, 0) / (variances(i, 0) + 1e-5)));
    }
  }
}

TEST_CASE("a layer normalization by hand") {
  // Mean 4, variance 5, and √(5 + 4) = 3.
  Graph graph;
  const Value x = graph.input(role::x, matrix({{1, 3, 5, 7}}), axis("tokens"), axis("features"));
  const Value gamma = graph.input(role::gamma, matrix({{1, 2, 3, 6}}), axis("γ"), axis("features"));
  const Value beta = graph.input(role::beta, matrix({{0, 0, 1, -6}}), axis("β"), axis("features"));
  const Value output = layer_norm(x, {.gamma = gamma, .beta = beta, .epsilon = 4.0});
  CHECK(graph.at("mean").matrix()(0, 0) == 4.0);
  CHECK(graph.at("variance").matrix()(0, 0) == 5.0);
  CHECK(close(output.matrix(), matrix({{-1, -2.0 / 3, 2, 0}}), 1e-15));
}

TEST_CASE("a root mean square normalization by hand") {
  // The mean of the squares is 25, and √(25 + 11) = 6.
  Graph graph;
  const Value x = graph.input(role::x, matrix({{5, -5, 7, 1}}), axis("tokens"), axis("features"));
  const Value gamma = graph.input(role::gamma, matrix({{6, 6, 12, 60}}), axis("γ"), axis("features"));
  const Value output = rms_norm(x, {.gamma = gamma, .beta = {}, .epsilon = 11.0});
  CHECK(close(output.matrix(), matrix({{5, -5, 14, 10}}), 1e-14));
}

TEST_CASE("an activation is the function that its name says") {
  const auto of = [](std::string_view name, double x) {
    return look_up(activations(), name, "activation").function.evaluate(x);
  };
  CHECK(of("relu", -1.0) == 0.0);
  CHECK(of("gelu", 1.0) == doctest::Approx(0.841344746068543).epsilon(1e-15));
  CHECK(of("gelu-tanh", 1.0) == doctest::Approx(0.841191990608276).epsilon(1e-14));
  CHECK(of("tanh", 1.0) == doctest::Approx(0.761594155955765).epsilon(1e-14));
  CHECK(of("silu", 1.0) == doctest::Approx(0.731058578630005).epsilon(1e-14));
}

TEST_CASE("a normalization comes after the residual connection, before the sub-layer, or not at all") {
  for (const NormPlacement& norm : norm_placements()) {
    CAPTURE(norm.name);
    Ran ran(random_model({.kind = "encoder-only", .norm = norm.name}));
    ran.on(words({1, 2}), {});
    const Node& sum = ran.graph.at("encoder.1.sum_1");
    CHECK(sum.operands.at(0)->original().name == "source.positioned");
    const std::string_view of_output = norm.has_two() ? "encoder.1.post_norm_1.output"
                                       : norm.after   ? "encoder.1.norm_1.output"
                                                      : "encoder.1.self_attention.output";
    CHECK(sum.operands.at(1)->original().name == of_output);
    const Node& query = *ran.graph.at("encoder.1.self_attention.q").operands.at(0)->operands.at(0);
    CHECK(query.original().name == (norm.before ? "encoder.1.norm_1.output" : "source.positioned"));
    CHECK((ran.graph.find("encoder.1.norm_1.output") != nullptr) == norm.in_layers());
    CHECK((ran.graph.find("encoder.norm.output") != nullptr) == norm.at_the_end);
  }
}

TEST_CASE("side by side, attention and feed-forward layer work on what goes into the layer") {
  Ran ran(random_model({.kind = "decoder-only", .norm = "parallel"}));
  ran.on({}, words({1, 2, 3}));
  const auto input_of_norm = [&](std::string_view norm) {
    return ran.graph.at(fmt::format("decoder.2.{}.mean", norm)).operands.at(0)->original().name;
  };
  CHECK(input_of_norm("norm_1") == "decoder.1.sum_2");
  CHECK(input_of_norm("norm_2") == "decoder.1.sum_2");
  const Node& sum = ran.graph.at("decoder.2.sum_2");
  CHECK(sum.operands.at(0)->original().name == "decoder.2.sum_1");
  CHECK(sum.operands.at(1)->original().name == "decoder.2.feed_forward.output");
}

TEST_CASE("a gate is what the activation is applied to, and multiplies what the layer has inside") {
  Transformer model = random_model({.kind = "decoder-only", .activation = "silu"});
  model.parameters.clear();
  model.recipe.gated = true;
  std::mt19937 generator(3);
  std::normal_distribution<double> normal(0.0, 0.6);
  ModelParameters parameters;
  for (const ParameterRow& row : parameters_of(model))
    parameters.emplace(row.name, std::make_shared<const Matrix>(filled(row.shape, [&] { return normal(generator); })));
  model.parameters = std::move(parameters);
  REQUIRE(model.parameters.contains("decoder.1.feed_forward.w_gate"));
  Ran ran(std::move(model));
  ran.on({}, words({1, 2, 3}));
  const std::string layer = "decoder.1.feed_forward.";
  const Matrix &gate = ran.at(layer + "gate"), &inner = ran.at(layer + "inner"), &gated = ran.at(layer + "gated");
  for (std::size_t i = 0; i < gated.size(); ++i) {
    const double x = cells(gate)[i];
    CHECK(cells(gated)[i] == doctest::Approx(x / (1.0 + std::exp(-x)) * cells(inner)[i]));
  }
}

TEST_CASE("a window leaves out what stands before it, in the layers that have it") {
  Transformer model = random_model({.kind = "decoder-only"});
  model.recipe.window = 2.0;
  model.recipe.window_layers = "2";
  const auto is_zero = [](const Matrix& weights, std::size_t row, std::size_t column) {
    return weights(row, column) == 0.0;
  };
  Ran ran(model);
  ran.on({}, words({1, 2, 3, 4}));
  const Matrix &whole = ran.at("decoder.1.self_attention.head.1.weights"),
               &local = ran.at("decoder.2.self_attention.head.1.weights");
  CHECK_FALSE(is_zero(whole, 3, 0));
  CHECK(is_zero(local, 3, 0));
  CHECK(is_zero(local, 3, 1));
  CHECK_FALSE(is_zero(local, 3, 2));
  CHECK_FALSE(is_zero(local, 1, 0));
  CHECK(mask_source(ran.graph.at("decoder.local_mask")) == "the causal order and the window of 2 words");
  CHECK(mask_source(ran.graph.at("decoder.mask")) == "the causal order");
  // Of all layers it is the only mask; where no key lies before it, there is none.
  model.recipe.window_layers = "all";
  Ran all(model);
  all.on({}, words({1, 2, 3, 4}));
  CHECK(mask_source(all.graph.at("decoder.mask")) == "the causal order and the window of 2 words");
  CHECK_FALSE(all.graph.find("decoder.local_mask"));
  Ran few(model);
  few.on({}, words({1, 2}));
  CHECK(mask_source(few.graph.at("decoder.mask")) == "the causal order");
}

TEST_CASE("long waves are slowed by the factor, short ones are left, and those between are mixed") {
  const std::vector<double> slower = slower_waves({8.0, 1.0, 4.0, 8192.0}, 500000.0, 128);
  REQUIRE(slower.size() == 64);
  CHECK(slower.front() == 1.0);
  CHECK(slower.back() == 8.0);
  CHECK(std::ranges::is_sorted(slower));
  CHECK(std::ranges::any_of(slower, [](double factor) { return factor > 1.0 && factor < 8.0; }));
  CHECK(slower_waves({4.0, 1.0, 4.0, 0.0}, 10000.0, 4) == std::vector<double>{4.0, 4.0});
  CHECK(slower_waves({}, 10000.0, 4).empty());
}

TEST_CASE("the explanation of every cell of every kind of model is what was computed") {
  for_each_model([](const RandomModel& recipe) {
    Ran ran(random_model(recipe));
    ran.on({.tokens = {"a", "b", "c"}, .ids = {1, 2, 3}, .blank = {false, false, true}}, words({2, 5}));
    for (const Node& node : ran.graph.nodes()) {
      if (!node.op) continue;
      CAPTURE(node.title());
      for (std::size_t i = 0; i < node.frame.shape.rows; ++i) {
        for (std::size_t j = 0; j < node.frame.shape.columns; ++j) {
          const double explained = evaluated(explain({&node, i, j}).term);
          if (!close(explained, node.matrix()(i, j), 1e-12)) CHECK(explained == node.matrix()(i, j));
        }
      }
    }
  });
}

TEST_CASE("no output at or before a place depends on the words after it") {
  for (const char* kind : {"encoder-decoder", "decoder-only"}) {
    for (const NormPlacement& norm : norm_placements()) {
      const Transformer model = random_model({.kind = kind, .norm = norm.name});
      const std::vector<std::size_t> ids = {1, 2, 3, 4};
      Ran original(model);
      original.on(words({1, 2, 3}), words(ids));
      for (std::size_t t = 1; t < ids.size(); ++t) {
        std::vector<std::size_t> changed = ids;
        changed[t] = 6;
        Ran other(model);
        other.on(words({1, 2, 3}), words(changed));
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const bool moved =
              !std::ranges::equal(row(other.at("decoder.output"), i), row(original.at("decoder.output"), i));
          CHECK(moved == (i >= t));
        }
      }
    }
  }
}

TEST_CASE("what stands at a blank changes nothing elsewhere") {
  for (const NormPlacement& norm : norm_placements()) {
    const Transformer model = random_model({.norm = norm.name});
    const auto run = [&](std::size_t of_source, std::size_t of_target) {
      Ran ran(model);
      ran.on({.ids = {3, 1, of_source}, .blank = {false, false, true}},
             {.ids = {1, of_target, 2}, .blank = {false, true, false}});
      return std::pair(ran.at("encoder.output"), ran.at("decoder.output"));
    };
    const auto [encoded, decoded] = run(2, 4);
    const auto [other_encoded, other_decoded] = run(5, 6);
    for (const std::size_t i : {0, 1}) CHECK(std::ranges::equal(row(encoded, i), row(other_encoded, i)));
    for (const std::size_t i : {0, 2}) CHECK(std::ranges::equal(row(decoded, i), row(other_decoded, i)));
    CHECK_FALSE(std::ranges::equal(row(encoded, 2), row(other_encoded, 2)));
  }
}

TEST_CASE("without positions an encoder does not know the order of its words") {
  const Transformer without = random_model({.kind = "encoder-only", .positions = "none"});
  const Transformer with = random_model({.kind = "encoder-only", .positions = "sinusoidal"});
  const std::vector<std::size_t> order = {2, 0, 1};
  const auto moved = [&](const Transformer& model) {
    Ran straight(model), permuted(model);
    straight.on(words({1, 3, 5}), {});
    permuted.on(words({5, 1, 3}), {});
    double most = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        most =
            std::max(most, std::fabs(permuted.at("encoder.output")(i, j) - straight.at("encoder.output")(order[i], j)));
      }
    }
    return most;
  };
  CHECK(moved(without) < 1e-12);
  CHECK(moved(with) > 1e-3);
}

TEST_CASE("a graph without numbers has the names, shapes and costs of one that is run") {
  for_each_model([](const RandomModel& recipe) {
    const Transformer model = random_model(recipe);
    Transformer planned = model;
    planned.parameters.clear();
    const ModelInput source = words({1, 2, 3}), target = words({2, 5});
    Ran ran(model);
    ran.on(source, target);
    Graph plan;
    RunningTransformer running(planned, plan);
    std::optional<Value> encoded;
    if (model.kind->encodes) encoded = running.encode(source);
    if (model.kind->decodes) name(role::distribution, softmax(running.logits(running.decode(target, encoded))));
    std::vector<std::string> names = plan.names(), expected = ran.graph.names();
    std::ranges::sort(names);
    std::ranges::sort(expected);
    REQUIRE(names == expected);
    for (const Node& node : ran.graph.nodes()) {
      if (node.name.empty()) continue;
      const Node& same_node = plan.at(node.name);
      CAPTURE(node.name);
      CHECK(same_node.frame.shape == node.frame.shape);
      REQUIRE((same_node.op == nullptr) == (node.op == nullptr));
      if (!node.op) continue;
      CHECK(cost_of(same_node).multiply_adds == cost_of(node).multiply_adds);
    }
  });
}

TEST_CASE("embeddings are multiplied by the root of d_model before positions are added") {
  Transformer model = random_model({.kind = "encoder-only"});
  Ran ran(model);
  ran.on(words({2}), {});
  const Matrix& embedding = *model.parameters.at("source_embedding.e");
  for (std::size_t j = 0; j < 4; ++j) CHECK(ran.at("source.scaled_x")(0, j) == 2.0 * embedding(1, j));
  model.recipe.scale_embeddings = false;
  Ran plain(model);
  plain.on(words({2}), {});
  CHECK(plain.graph.find("source.scaled_x") == nullptr);
  CHECK(std::ranges::equal(row(plain.at("source.x"), 0), row(embedding, 1)));
}
