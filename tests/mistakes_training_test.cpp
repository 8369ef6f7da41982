#include <cmath>
#include <set>

#include "core/graph/run.hpp"
#include "core/math/random.hpp"
#include "core/op/backward.hpp"
#include "mistakes_tried.hpp"
#include "school/training/loss.hpp"
#include "testing.hpp"

namespace attn::tried {
namespace {

// --- recurrent networks

std::shared_ptr<Graph> aligned(std::string_view cell, std::string_view variant, std::size_t size) {
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
std::shared_ptr<Graph> luong(std::size_t size) { return aligned("tanh", "luong", size); }
std::shared_ptr<Graph> bahdanau(std::size_t size) { return aligned("tanh", "bahdanau", size); }
std::shared_ptr<Graph> scaled_dot(std::size_t size) { return aligned("tanh", "scaled-dot", size); }
std::shared_ptr<Graph> gated(std::size_t size) { return aligned("gru", "luong", size); }

constexpr std::string_view third_state = "encoder.3.h";

Matrix row_of(const Matrix& x, std::size_t i) {
  return cells_of({1, x.shape().columns}, [&](std::size_t, std::size_t j) { return x(i, j); });
}

// The third state of an encoder, by a step of one's own.
ByHand third(const std::function<Matrix(const Numbers& at, const Matrix& x, const Matrix& h)>& step) {
  return [=](const Numbers& at) {
    Matrix h({1, at(third_state).shape().columns}, 0.0);
    for (std::size_t t = 0; t < 3; ++t) h = step(at, row_of(at("encoder.x"), t), h);
    return h;
  };
}
Matrix tanh_of(const Matrix& x) {
  return each(x, [](double one) { return std::tanh(one); });
}
Matrix sigmoid_of(const Matrix& x) {
  return each(x, [](double one) { return 1 / (1 + std::exp(-one)); });
}
Matrix from_x(const Numbers& at, const Matrix& x, const std::string& to = "h") {
  return mul(x, at("encoder.w_x" + to));
}
Matrix from_h(const Numbers& at, const Matrix& h, const std::string& to = "h") {
  return mul(h, at("encoder.w_h" + to));
}
Matrix biased(const Numbers& at, const Matrix& x, const std::string& to = "h") {
  return plus(x, at("encoder.b_" + to));
}
Matrix gate(const Numbers& at, const Matrix& x, const Matrix& h, const std::string& to) {
  return sigmoid_of(biased(at, plus(from_x(at, x, to), from_h(at, h, to)), to));
}
Matrix mixed(const Matrix& z, const Matrix& kept, const Matrix& other) {
  return plus(by(z, kept), minus(other, by(z, other)));
}
// What words look at, and with which query.
Matrix attended(const Matrix& query, const Matrix& states) { return mul(softmax_rows(mul(query, tr(states))), states); }
Matrix below(const Matrix& a, const Matrix& b) {
  return cells_of({a.shape().rows + b.shape().rows, a.shape().columns}, [&](std::size_t i, std::size_t j) {
    return i < a.shape().rows ? a(i, j) : b(i - a.shape().rows, j);
  });
}
Matrix beside(const Matrix& a, const Matrix& b) { return tr(below(tr(a), tr(b))); }

const std::vector<Row> recurrence = {
    {"tanh-missing", luong, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       return biased(at, plus(from_x(at, x), from_h(at, h)));
     })},
    {"sigmoid-for-the-state", luong, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       return sigmoid_of(biased(at, plus(from_x(at, x), from_h(at, h))));
     })},
    {"previous-state-missing", luong, third_state,
     third([](const Numbers& at, const Matrix& x, const Matrix&) { return tanh_of(biased(at, from_x(at, x))); })},
    {"input-missing", luong, third_state,
     third([](const Numbers& at, const Matrix&, const Matrix& h) { return tanh_of(biased(at, from_h(at, h))); })},
    {"bias-missing", luong, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       return tanh_of(plus(from_x(at, x), from_h(at, h)));
     })},
    {"maps-transposed", luong, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       return tanh_of(biased(at, plus(mul(x, tr(at("encoder.w_xh"))), mul(h, tr(at("encoder.w_hh"))))));
     })},
    {"update-gate-exchanged", gated, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       const Matrix r = gate(at, x, h, "r"), z = gate(at, x, h, "z");
       return mixed(z, tanh_of(biased(at, plus(from_x(at, x), from_h(at, by(r, h))))), h);
     })},
    {"reset-after-the-product", gated, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       const Matrix r = gate(at, x, h, "r"), z = gate(at, x, h, "z");
       return mixed(z, h, tanh_of(biased(at, plus(from_x(at, x), by(r, from_h(at, h))))));
     })},
    {"reset-gate-missing", gated, third_state, third([](const Numbers& at, const Matrix& x, const Matrix& h) {
       return mixed(gate(at, x, h, "z"), h, tanh_of(biased(at, plus(from_x(at, x), from_h(at, h)))));
     })},
    {"states-of-the-decoder", luong, "decoder.2.context",
     [](const Numbers& at) {
       return attended(at("decoder.2.state"), below(at("decoder.0.state"), at("decoder.1.state")));
     }},
    // There is one state before the first output, and it has all the weight.
    {"states-of-the-decoder", bahdanau, "decoder.1.context", [](const Numbers& at) { return at("decoder.0.state"); }},
    {"query-is-the-new-state", scaled_dot, "decoder.2.scores",
     [](const Numbers& at) { return mul(at("decoder.2.state"), tr(at("h"))); }},
    {"query-is-the-previous-state", luong, "decoder.2.context",
     [](const Numbers& at) { return attended(at("decoder.1.state"), at("h")); }},
    {"context-last", luong, "decoder.2.joined",
     [](const Numbers& at) { return beside(at("decoder.2.state"), at("decoder.2.context")); }},
};

// --- losses

constexpr double smoothing = 0.1;

// Sentences of a decoder alone: the last one is shorter than the others.
std::vector<TaskExample> examples_of(std::size_t size) {
  std::vector<TaskExample> examples;
  for (std::size_t s = 0; s < size + 2; ++s) {
    TaskExample one;
    const std::size_t words = lengths[size] - (s == 0 ? 0 : s % 2);
    for (std::size_t i = 0; i < words; ++i) {
      one.given.push_back((s + i * i) % 6 + 1);
      one.expected.push_back((s + (i + 1) * (i + 1)) % 6 + 1);
    }
    examples.push_back(std::move(one));
  }
  return examples;
}

struct Losses {
  TrainedModel model;
  LossGraph loss;

  Losses(std::size_t size, const std::vector<TaskExample>& examples)
      : model(model_of({.kind = "decoder-only", .decoder_layers = 1}, size)),
        loss(model, BatchShape::of(examples, examples.size()), smoothing) {
    loss.put(batch_of(examples, loss.shape()));
  }
};

std::shared_ptr<Graph> loss_of(std::size_t size, const std::vector<TaskExample>& examples) {
  const auto losses = std::make_shared<Losses>(size, examples);
  return {losses, &losses->loss.graph()};
}
std::shared_ptr<Graph> losses_of(std::size_t size) { return loss_of(size, examples_of(size)); }

Matrix cross_entropies(const Matrix& logits, const Matrix& ids, double smooth = smoothing) {
  const std::size_t all = logits.shape().columns;
  return cells_of({logits.shape().rows, 1}, [&](std::size_t i, std::size_t) {
    double sum = 0.0, target = 0.0;
    for (std::size_t k = 0; k < all; ++k) {
      sum += std::exp(logits(i, k));
      const double wanted = static_cast<double>(k + 1) == ids(i, 0) ? 1 - smooth : 0.0;
      target += (wanted + smooth / static_cast<double>(all)) * logits(i, k);
    }
    return std::log(sum) - target;
  });
}
ByHand losses_times(double factor) {
  return [=](const Numbers& at) { return by(at("losses"), factor); };
}

const std::vector<Row> losses = {
    {"softmax-before-cross-entropy", losses_of, "losses",
     [](const Numbers& at) { return cross_entropies(softmax_rows(at("logits")), at("expected")); }},
    {"smoothing-missing", losses_of, "losses",
     [](const Numbers& at) { return cross_entropies(at("logits"), at("expected"), 0.0); }},
    {"loss-in-bits", losses_of, "losses", losses_times(1 / std::log(2.0))},
    {"logarithm-to-base-10", losses_of, "losses", losses_times(1 / std::log(10.0))},
    {"probability-without-logarithm", losses_of, "losses",
     [](const Numbers& at) {
       const Matrix likely = softmax_rows(at("logits"));
       return cells_of({likely.shape().rows, 1}, [&](std::size_t i, std::size_t) {
         return likely(i, static_cast<std::size_t>(at("expected")(i, 0)) - 1);
       });
     }},
    {"loss-summed", losses_of, "loss",
     [](const Numbers& at) {
       return mul(each(at("counted"), [](double one) { return one == 0.0 ? 0.0 : 1.0; }), at("losses"));
     }},
    {"padding-in-the-loss", losses_of, "loss",
     [](const Numbers& at) {
       const Matrix& all = at("losses");
       return mul(Matrix({1, all.size()}, 1.0 / static_cast<double>(all.size())), all);
     }},
    {"target-not-shifted", losses_of, "losses",
     [](const Numbers& at) {
       const std::size_t size = at.graph.at("expected").frame.rows.batch - 2;
       std::vector<TaskExample> told = examples_of(size);
       for (TaskExample& one : told) one.given = one.expected;
       return Matrix(loss_of(size, told)->at("losses").matrix());
     }},
    {"labels-not-shifted", losses_of, "losses",
     [](const Numbers& at) { return cross_entropies(at("logits"), at("target.ids")); }},
    {"shifted-twice", losses_of, "loss",
     [](const Numbers& at) {
       const Matrix &expected = at("expected"), &counted = at("counted"), &logits = at("logits");
       const std::size_t all = expected.shape().rows, words = all / at.graph.at("expected").frame.rows.batch;
       double sum = 0.0, count = 0.0;
       for (std::size_t i = 0; i + 1 < all; ++i) {
         const bool counts = (i + 1) % words != 0 && counted(0, i + 1) != 0.0;
         if (!counts) continue;
         sum += cross_entropies(row_of(logits, i), row_of(expected, i + 1))(0, 0);
         ++count;
       }
       return Matrix({1, 1}, sum / count);
     }},
};

// --- the next word

std::shared_ptr<Graph> written(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const Transformer model =
      model_of({.kind = "decoder-only", .positions = "rotary", .heads = 1, .decoder_layers = 1}, size);
  RunningTransformer running(model, *graph);
  generate(running, *graph, {.prompt = words_of(lengths[size], 1, 6), .steps = 3}, std::nullopt,
           {.temperature = 2.0, .top_k = 3});
  return graph;
}

// Neighbors turned together, for words at these positions.
Matrix turned_at(const Matrix& x, const std::vector<double>& positions) {
  const auto d = static_cast<double>(x.shape().columns);
  return cells_of(x.shape(), [&](std::size_t i, std::size_t j) {
    const bool is_first = j % 2 == 0;
    const double angle = positions[i] / std::pow(1e4, 2 * std::floor(static_cast<double>(j) / 2) / d);
    return x(i, j) * std::cos(angle) + (is_first ? -1 : 1) * x(i, is_first ? j + 1 : j - 1) * std::sin(angle);
  });
}
// The positions of the words of the prompt, and then of each that was written.
ByHand keys_at(double (*of_new)(double before)) {
  return [=](const Numbers& at) {
    const Matrix& keys = at("step.3.decoder.1.self_attention.keys");
    std::vector<double> positions;
    for (std::size_t i = 0; i < keys.shape().rows; ++i) {
      const bool is_new = i + 2 >= keys.shape().rows;
      positions.push_back(is_new ? of_new(static_cast<double>(i)) : static_cast<double>(i));
    }
    return turned_at(keys, positions);
  };
}
constexpr std::string_view keys_of_third = "step.3.decoder.1.self_attention.rotated_k",
                           query_of_third = "step.3.decoder.1.self_attention.rotated_q";

const std::vector<Row> next_words = {
    {"temperature-multiplied", written, "step.1.distribution",
     [](const Numbers& at) { return softmax_rows(by(at("step.1.logits"), 2.0)); }},
    {"temperature-missing", written, "step.1.distribution",
     [](const Numbers& at) { return softmax_rows(at("step.1.logits")); }},
    {"temperature-after-softmax", written, "step.1.distribution",
     [](const Numbers& at) { return by(softmax_rows(at("step.1.logits")), 0.5); }},
    {"choice-not-normalized", written, "step.1.limited",
     [](const Numbers& at) { return by(at("step.1.distribution"), at("step.1.allowed")); }},
    {"softmax-of-probabilities", written, "step.1.limited",
     [](const Numbers& at) {
       const Matrix likely = each(at("step.1.distribution"), [](double one) { return std::exp(one); });
       const Matrix left = by(likely, at("step.1.allowed"));
       return by(left, 1 / sum_of_list({cells(left).begin(), cells(left).end()}));
     }},
    {"rotary-from-0-with-cache", written, keys_of_third, keys_at([](double) { return 0.0; })},
    {"rotary-one-late-with-cache", written, keys_of_third, keys_at([](double before) { return before + 1; })},
    {"rotary-from-0-with-cache", written, query_of_third,
     [](const Numbers& at) { return at("step.3.decoder.1.self_attention.q"); }},
    {"rotary-one-late-with-cache", written, query_of_third,
     [](const Numbers& at) {
       const auto words = static_cast<double>(at("step.3.decoder.1.self_attention.keys").shape().rows);
       return turned_at(at("step.3.decoder.1.self_attention.q"), {words});
     }},
};

// --- gradients

// Flows back from a result of random gradient.
void flow_back(Graph& graph, const Node& result) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal(0.0, 1.0);
  const Graph::Scope scope(graph, result.place);
  const Value d =
      graph.input({family::gradient, *result.role}, filled(result.frame.shape, [&] { return normal(generator); }),
                  result.frame.rows, result.frame.columns);
  Backward(Value(result), d);
}

std::shared_ptr<Graph> attention_back(std::size_t size) {
  const auto graph = walked("{}", size);
  flow_back(*graph, graph->at("output"));
  return graph;
}
std::shared_ptr<Graph> layers_back(std::size_t size, std::string_view activation) {
  const auto graph = run({.kind = "encoder-only", .activation = activation}, size);
  flow_back(*graph, graph->at("encoder.2.norm_2.output"));
  return graph;
}
std::shared_ptr<Graph> relu_back(std::size_t size) { return layers_back(size, "relu"); }
std::shared_ptr<Graph> tanh_back(std::size_t size) { return layers_back(size, "tanh"); }

// Row after row, of weights and the gradient by them.
template <class F>
ByHand of_weights(const F& f) {
  return [=](const Numbers& at) {
    const Matrix &weights = at("weights"), &d = at("d_weights");
    Matrix result(d.shape());
    for (std::size_t i = 0; i < d.shape().rows; ++i) {
      for (std::size_t j = 0; j < d.shape().columns; ++j) {
        double weighted = 0.0, plain = 0.0;
        for (std::size_t k = 0; k < d.shape().columns; ++k) {
          weighted += weights(i, k) * d(i, k);
          plain += d(i, k);
        }
        result(i, j) = f(weights(i, j), d(i, j), weighted, plain);
      }
    }
    return result;
  };
}
Matrix to_words(const Numbers& at, const std::string& map) {
  const std::string attention = "encoder.2.self_attention.";
  return mul(at(attention + "d_" + map), tr(at(attention + "w_" + map)));
}

const std::vector<Row> gradients = {
    {"softmax-diagonal-only", attention_back, "d_scaled",
     of_weights([](double a, double d, double, double) { return a * (1 - a) * d; })},
    {"softmax-sum-not-subtracted", attention_back, "d_scaled",
     of_weights([](double a, double d, double, double) { return a * d; })},
    {"softmax-sum-without-weights", attention_back, "d_scaled",
     of_weights([](double a, double d, double, double plain) { return a * (d - plain); })},
    {"softmax-skipped", attention_back, "d_scaled", of_weights([](double, double d, double, double) { return d; })},
    {"gradient-not-scaled", attention_back, "d_scores", [](const Numbers& at) { return at("d_scaled"); }},
    {"factor-not-transposed", attention_back, "d_v",
     [](const Numbers& at) { return mul(at("weights"), at("d_output")); }},
    {"matrix-not-transposed", attention_back, "d_x",
     [](const Numbers& at) {
       return plus(plus(mul(at("d_q"), at("w_q")), mul(at("d_k"), at("w_k"))), mul(at("d_v"), at("w_v")));
     }},
    {"slope-missing", relu_back, "encoder.2.feed_forward.d_inner",
     [](const Numbers& at) { return at("encoder.2.feed_forward.d_rectified"); }},
    {"slope-at-the-argument", tanh_back, "encoder.2.feed_forward.d_inner",
     [](const Numbers& at) {
       return by(at("encoder.2.feed_forward.d_activated"),
                 each(at("encoder.2.feed_forward.inner"), [](double z) { return 1 - z * z; }));
     }},
    {"mean-and-variance-fixed", relu_back, "encoder.2.d_sum_2",
     [](const Numbers& at) {
       const Matrix roots =
           each(at("encoder.2.norm_2.variance"), [](double variance) { return 1 / std::sqrt(variance + epsilon); });
       return by(at("encoder.2.norm_2.d_normalised"), roots);
     }},
    {"residual-forgotten", relu_back, "encoder.2.norm_1.d_output",
     [](const Numbers& at) { return mul(at("encoder.2.feed_forward.d_inner"), tr(at("encoder.2.feed_forward.w_1"))); }},
};

TEST_SUITE("mistakes in models") {
  TEST_CASE("mistakes with recurrent networks give what is computed by hand") { check_all(recurrence); }
  TEST_CASE("mistakes with losses give what is computed by hand") { check_all(losses); }
  TEST_CASE("mistakes with the next word give what is computed by hand") { check_all(next_words); }
  TEST_CASE("mistakes with gradients give what is computed by hand") { check_all(gradients); }
}

// How many matrices of a computation a mistake changes; those that it makes impossible are none.
std::size_t changed(const Graph& graph, const Mistake& mistake) {
  Rewriting again(graph, mistake);
  std::size_t count = 0;
  for (const Node* node : graph.named()) {
    try {
      if (!again.changes(*node)) continue;
      count += !close(again.of(*node).matrix(), node->matrix(), 1e-9);
    } catch (const InputError&) {
    }
  }
  return count;
}

// Words that are written one by one, with positions that are added.
std::shared_ptr<Graph> written_with_sines(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const Transformer model = model_of({.kind = "decoder-only", .heads = 1, .decoder_layers = 1}, size);
  RunningTransformer running(model, *graph);
  generate(running, *graph, {.prompt = words_of(lengths[size], 1, 6), .steps = 3}, std::nullopt, {});
  return graph;
}

std::vector<std::shared_ptr<Graph>> some_computations() {
  return {
      attention_back(0),
      walked(R"({"heads": 2, "causal": true, "positions": "learned"})", 0),
      walked(R"({"score": "gaussian", "score_sigma": 0.5, "layers": 2})", 0),
      walked(R"({"score": "additive", "positions": "relative-vectors"})", 0),
      run({}, 0),
      run({.norm = "pre", .positions = "concatenated", .norm_kind = "rms", .activation = "silu"}, 0),
      run({.heads = 4, .activation = "gelu-tanh", .key_heads = 2}, 0,
          [](Transformer& model) { model.recipe.scale_embeddings = false; }),
      run({.activation = "gelu"}, 1),
      run({.positions = "rotary"}, 0),
      run({.positions = "rotary-halves", .d_model = 8}, 0),
      run({.positions = "rotary"}, 0, [](Transformer& model) { model.recipe.scaling.factor = 3.0; }),
      run({.norm_kind = "rms-plus-1", .activation = "silu", .gated = true}, 0),
      walked(R"({"positions": "rotary-halves", "d_model": 8})", 0),
      relu_back(0),
      tanh_back(0),
      luong(0),
      bahdanau(0),
      scaled_dot(0),
      gated(0),
      losses_of(0),
      equal_sides(0),
      written(0),
      written_with_sines(0),
      batch_of_two(0),
      walked(R"({"heads": 2})", 0),
      cached_learned(0),
      cached_bias(0),
      star(0),
  };
}

std::shared_ptr<Graph> problem_of(std::string_view fields) {
  auto graph = std::make_shared<Graph>();
  evaluate(build(read_problem_file(fields, "test")), *graph);
  return graph;
}

}  // namespace

TEST_SUITE("mistakes in models") {
  TEST_CASE("every mistake can be tried in every computation and those in models change some") {
    const std::vector<std::shared_ptr<Graph>> computations = some_computations();
    const std::vector<Mistake> in_models = mistakes_in_models();
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      std::size_t count = 0;
      for (const std::shared_ptr<Graph>& graph : computations) count += changed(*graph, mistake);
      const bool is_in_models = std::ranges::find(in_models, mistake.name, &Mistake::name) != in_models.end();
      CHECK((count > 0 || !is_in_models));
    }
  }

  TEST_CASE("every mistake can be made at some node, and what is asked of nodes computes nothing") {
    std::vector<std::shared_ptr<Graph>> computations = some_computations();
    for (const std::string_view fields :
         {R"({"text": "a b c", "heads": 2, "causal": true, "soft_cap": 2, "positions": "relative-bias"})",
          R"({"text": "a b c", "score": "cosine"})", R"({"text": "a b c", "score": "bilinear"})",
          R"({"text": ["a cat sat", "it sat"], "d_model": 4, "heads": 2, "valid_length": [3, 2]})",
          R"({"q": [[1]], "k": [[1], [2]], "score": "additive", "score_wq": [[1]], "score_wk": [[2]],
              "score_wv": [[2]], "score_b": [[0.5]]})",
          R"({"q": [[1, 0, 0, 0]], "k": [[0, 1, 1, 1], [0, 1, 1, 1]], "mask": [[0.5, 2.5]]})"})
      computations.push_back(problem_of(fields));
    std::set<std::string_view> possible;
    for (const std::shared_ptr<Graph>& graph : computations) {
      const auto held = [&] {
        return std::ranges::count_if(graph->nodes(), [&](const Node& node) { return graph->run().holds(node); });
      };
      const auto before = held();
      for (const auto& [mistake, first] : possible_mistakes(*graph)) possible.insert(mistake->name);
      CHECK(held() == before);
    }
    for (const Mistake& mistake : mistakes()) {
      CAPTURE(mistake.name);
      CHECK(possible.contains(mistake.name));
    }
  }
}

std::vector<std::string_view> tried_in_training() {
  return mistakes_in({&recurrence, &losses, &next_words, &gradients});
}

}  // namespace attn::tried
