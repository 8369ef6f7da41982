#include <doctest/doctest.h>

#include <cmath>

#include "mistakes_tried.hpp"

namespace attn::tried {
namespace {

// --- one attention

std::shared_ptr<Graph> walk(std::size_t size) { return walked("{}", size); }
std::shared_ptr<Graph> causal(std::size_t size) { return walked(R"({"causal": true})", size); }
std::shared_ptr<Graph> two_heads(std::size_t size) { return walked(R"({"heads": 2})", size); }
std::shared_ptr<Graph> additive(std::size_t size) { return walked(R"({"score": "additive"})", size); }
std::shared_ptr<Graph> padded(std::size_t size) { return walked(R"({"valid_length": 2})", size); }
// More keys than queries, as with a cache.
std::shared_ptr<Graph> cached(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const std::array<std::string_view, sizes> fields = {
      R"({"q": [[1, 2], [0, 1]], "k": [[1, 0], [2, 1], [0, 3]], "causal": true, "causal_offset": 1})",
      R"({"q": [[1, 2]], "k": [[1, 0], [2, 1], [0, 3]], "mask": [[true, true, true]]})",
      R"({"q": [[1, -2], [2, 1]], "k": [[1, 0], [2, 1], [0, 3], [1, 1]], "causal": true, "causal_offset": 2})"};
  evaluate(build(read_problem_file(fields[size], "test")), *graph);
  return graph;
}
// Biases that are not 0.
std::shared_ptr<Graph> biased(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const std::array<std::string_view, sizes> fields = {
      R"({"text": "a b c", "d_model": 2, "b_q": [[1, 2]], "b_k": [[2, 1]], "b_v": [[3, 1]], "w_o": [[1, 2], [0, 1]],
          "b_o": [[1, 4]], "seed": 1})",
      R"({"text": "a b", "d_model": 2, "b_q": [[1, -2]], "b_k": [[0, 1]], "b_v": [[3, 2]], "w_o": [[1, 2], [3, 1]],
          "b_o": [[2, 4]], "seed": 2})",
      R"({"text": "a b c d", "d_model": 2, "b_q": [[2, 2]], "b_k": [[2, 5]], "b_v": [[0, 1]], "w_o": [[1, 0], [3, 1]],
          "b_o": [[1, -1]], "seed": 3})"};
  evaluate(build(read_problem_file(fields[size], "test")), *graph);
  return graph;
}
std::shared_ptr<Graph> biased_score(std::size_t size) {
  auto graph = std::make_shared<Graph>();
  const std::array<std::string_view, sizes> fields = {
      R"({"q": [[1, 2]], "k": [[1, 0], [2, 1]], "score": "additive", "score_wq": [[1], [2]], "score_wk": [[1], [0.5]],
          "score_wv": [[2]], "score_b": [[0.3]]})",
      R"({"q": [[1]], "k": [[1], [2]], "score": "additive", "score_wq": [[0.1]], "score_wk": [[0.2]],
          "score_wv": [[2]], "score_b": [[0.5]]})",
      R"({"q": [[0.5], [1]], "k": [[1], [2]], "score": "additive", "score_wq": [[0.1]], "score_wk": [[0.2]],
          "score_wv": [[3]], "score_b": [[-0.5]]})"};
  evaluate(build(read_problem_file(fields[size], "test")), *graph);
  return graph;
}

Matrix columns_of_head(const Matrix& all, std::size_t head, std::size_t size) {
  return cells_of({all.shape().rows, size}, [&](std::size_t i, std::size_t j) { return all(i, head * size + j); });
}
Matrix beside(const Matrix& a, const Matrix& b) {
  const std::size_t left = a.shape().columns;
  return cells_of({a.shape().rows, left + b.shape().columns},
                  [&](std::size_t i, std::size_t j) { return j < left ? a(i, j) : b(i, j - left); });
}

template <class F>
ByHand weights_of_rows(const F& f) {
  return [=](const Numbers& at) { return each_row(at("scaled"), f); };
}
List divided_by(List x, double divisor) {
  for (double& one : x) one /= divisor;
  return x;
}
template <class F>
List each_of(List x, const F& f) {
  for (double& one : x) one = f(one);
  return x;
}
double of_exponentials(const List& x) {
  return sum_of_list(each_of(x, [](double one) { return std::exp(one); }));
}
double largest_of_list(const List& x) { return *std::ranges::max_element(x); }

// The weights of the first of two, where the second is another softmax's.
Matrix shared_with(const Matrix& own, const Matrix& other) {
  return both(own, other, [](double x, double y) { return std::exp(x) / (std::exp(x) + std::exp(y)); });
}
Matrix average(const Matrix& a, const Matrix& b) { return by(plus(a, b), 0.5); }

const std::vector<Row> softmaxes = {
    {"softmax-across-heads", two_heads, "head.1.weights",
     [](const Numbers& at) { return shared_with(at("head.1.scaled"), at("head.2.scaled")); }},
    {"softmax-across-sentences", batch_of_two, "sentence.2.weights",
     [](const Numbers& at) { return shared_with(at("sentence.2.scaled"), at("sentence.1.scaled")); }},
    {"weights-are-averaged", two_heads, "head.2.weights",
     [](const Numbers& at) { return average(at("head.1.weights"), at("head.2.weights")); }},
    {"weights-averaged-over-sentences", batch_of_two, "sentence.1.weights",
     [](const Numbers& at) { return average(at("sentence.1.weights"), at("sentence.2.weights")); }},
    {"squares-divided", walk, "weights", weights_of_rows([](const List& x) {
       const List squares = each_of(x, [](double one) { return one * one; });
       return divided_by(squares, sum_of_list(squares));
     })},
    {"positive-parts-divided", walk, "weights", weights_of_rows([](const List& x) {
       const List parts = each_of(x, [](double one) { return std::max(one, 0.0); });
       const double sum = sum_of_list(parts);
       return sum == 0.0 ? List(x.size(), 0.0) : divided_by(parts, sum);
     })},
    {"sizes-of-scores-divided", walk, "weights", weights_of_rows([](const List& x) {
       const List sizes = each_of(x, [](double one) { return std::fabs(one); });
       return divided_by(sizes, sum_of_list(sizes));
     })},
    {"exponentials-of-length-1", walk, "weights", weights_of_rows([](const List& x) {
       const List powers = each_of(x, [](double one) { return std::exp(one); });
       return divided_by(powers, std::sqrt(sum_of_list(each_of(powers, [](double one) { return one * one; }))));
     })},
    {"softmax-plus-one", walk, "weights", weights_of_rows([](const List& x) {
       const double sum = 1.0 + of_exponentials(x);
       return divided_by(each_of(x, [](double one) { return std::exp(one); }), sum);
     })},
    {"largest-subtracted-plus-one", walk, "weights", weights_of_rows([](const List& x) {
       const double largest = largest_of_list(x);
       const List less = each_of(x, [&](double one) { return one - largest; });
       return divided_by(each_of(less, [](double one) { return std::exp(one); }), 1.0 + of_exponentials(less));
     })},
    {"logarithms-of-weights", walk, "weights",
     [](const Numbers& at) { return each(at("weights"), [](double x) { return std::log(x); }); }},
};

Matrix squared_distances_of(const Numbers& at) {
  const Matrix &q = at("q"), &k = at("k");
  return cells_of({q.shape().rows, k.shape().rows}, [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.shape().columns; ++c) sum += (q(i, c) - k(j, c)) * (q(i, c) - k(j, c));
    return sum;
  });
}

// Σ w_v f(query's part, key's part)
template <class F>
Matrix additive_by(const Numbers& at, const Matrix& w_q, const Matrix& w_k, const F& f, bool weighs = true) {
  const Matrix q = mul(at("q"), w_q), k = mul(at("k"), w_k), &w_v = at("score_wv");
  return cells_of({q.shape().rows, k.shape().rows}, [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.shape().columns; ++c) sum += (weighs ? w_v(c, 0) : 1.0) * f(q(i, c), k(j, c));
    return sum;
  });
}
template <class F>
ByHand additive_score(const F& f, bool weighs = true) {
  return [=](const Numbers& at) { return additive_by(at, at("score_wq"), at("score_wk"), f, weighs); };
}
double tanh_of_sum(double q, double k) { return std::tanh(q + k); }

const std::vector<Row> scores = {
    {"distance-for-dot-product", walk, "scores", [](const Numbers& at) { return by(squared_distances_of(at), -1.0); }},
    {"half-distance-for-dot-product", walk, "scores",
     [](const Numbers& at) { return by(squared_distances_of(at), -0.5); }},
    {"relu-for-tanh-in-score", additive, "scores",
     additive_score([](double q, double k) { return std::max(q + k, 0.0); })},
    {"sigmoid-for-tanh-in-score", additive, "scores",
     additive_score([](double q, double k) { return 1 / (1 + std::exp(-q - k)); })},
    {"tanh-of-each-part", additive, "scores",
     additive_score([](double q, double k) { return std::tanh(q) + std::tanh(k); })},
    {"score-multiplies", additive, "scores", additive_score([](double q, double k) { return std::tanh(q * k); })},
    {"score-vector-missing", additive, "scores", additive_score(tanh_of_sum, false)},
    {"tanh-of-the-score", additive, "scores",
     [](const Numbers& at) {
       const Matrix sums = additive_by(at, at("score_wq"), at("score_wk"), [](double q, double k) { return q + k; });
       return each(sums, [](double x) { return std::tanh(x); });
     }},
    {"score-parameters-exchanged", additive, "scores",
     [](const Numbers& at) { return additive_by(at, at("score_wk"), at("score_wq"), tanh_of_sum); }},
    {"score-parameters-transposed", additive, "scores",
     [](const Numbers& at) { return additive_by(at, tr(at("score_wq")), tr(at("score_wk")), tanh_of_sum); }},
    {"score-query-parameters-transposed", additive, "scores",
     [](const Numbers& at) { return additive_by(at, tr(at("score_wq")), at("score_wk"), tanh_of_sum); }},
    {"score-key-parameters-transposed", additive, "scores",
     [](const Numbers& at) { return additive_by(at, at("score_wq"), tr(at("score_wk")), tanh_of_sum); }},
    {"score-bias-missing", biased_score, "scores", additive_score(tanh_of_sum)},
};

ByHand without_bias(const std::string& matrix, const std::string& bias) {
  return [=](const Numbers& at) { return minus(at(matrix), at(bias)); };
}

const std::vector<Row> values = {
    {"query-bias-missing", biased, "q", without_bias("q", "b_q")},
    {"key-bias-missing", biased, "k", without_bias("k", "b_k")},
    {"value-bias-missing", biased, "v", without_bias("v", "b_v")},
    {"output-bias-missing", biased, "output", without_bias("output", "b_o")},
    {"input-parameters-transposed", walk, "scores",
     [](const Numbers& at) { return mul(mul(at("x"), tr(at("w_q"))), tr(mul(at("x"), tr(at("w_k"))))); }},
    {"values-alone", walk, "output", [](const Numbers& at) { return at("v"); }},
};

// The output projection of both heads.
Matrix projected(const Numbers& at, const Matrix& concat) { return mul(concat, at("w_o")); }
Matrix in_each_head(const Numbers& at, double factor) {
  const Matrix sum = by(plus(at("head.1.output"), at("head.2.output")), factor);
  return projected(at, beside(sum, sum));
}

const std::vector<Row> heads = {
    {"heads-summed-in-each", two_heads, "output", [](const Numbers& at) { return in_each_head(at, 1.0); }},
    {"heads-averaged-in-each", two_heads, "output", [](const Numbers& at) { return in_each_head(at, 0.5); }},
    {"heads-reversed", two_heads, "output",
     [](const Numbers& at) { return projected(at, beside(at("head.2.output"), at("head.1.output"))); }},
    {"heads-interleaved", two_heads, "concat",
     [](const Numbers& at) {
       const Matrix &one = at("head.1.output"), &two = at("head.2.output");
       return cells_of(at("concat").shape(),
                       [&](std::size_t i, std::size_t j) { return (j % 2 == 0 ? one : two)(i, j / 2); });
     }},
    {"first-keys-and-values-for-all", two_heads, "head.2.output",
     [](const Numbers& at) {
       const std::size_t size = at("head.1.k").shape().columns;
       const Matrix scores = mul(columns_of_head(at("q"), 1, size), tr(columns_of_head(at("k"), 0, size)));
       return mul(softmax_rows(by(scores, 1 / std::sqrt(static_cast<double>(size)))),
                  columns_of_head(at("v"), 0, at("head.1.v").shape().columns));
     }},
};

// What a query of some words finds among others.
Matrix attended(const Matrix& q, const Matrix& k, const Matrix& v) {
  return mul(softmax_rows(by(mul(q, tr(k)), 1 / std::sqrt(static_cast<double>(q.shape().columns)))), v);
}
Matrix below(const Matrix& a, const Matrix& b) { return tr(beside(tr(a), tr(b))); }
Matrix row_of(const Matrix& x, std::size_t i) {
  return cells_of({1, x.shape().columns}, [&](std::size_t, std::size_t j) { return x(i, j); });
}

const std::string cross = "decoder.1.cross_attention.";
Matrix mapped(const Numbers& at, const std::string& scope, const std::string& map, const Matrix& x) {
  return plus(mul(x, at(scope + "w_" + map)), at(scope + "b_" + map));
}

const std::vector<Row> sides = {
    {"keys-of-the-wrong-side", equal_sides, "decoder.1.cross_attention.k",
     [](const Numbers& at) { return mapped(at, cross, "k", at("decoder.1.norm_1.output")); }},
    {"values-of-the-wrong-side", equal_sides, "decoder.1.cross_attention.v",
     [](const Numbers& at) { return mapped(at, cross, "v", at("decoder.1.norm_1.output")); }},
    {"queries-of-the-wrong-side", equal_sides, "decoder.1.cross_attention.q",
     [](const Numbers& at) { return mapped(at, cross, "q", at("encoder.output")); }},
    {"parameters-of-self-attention", equal_sides, "decoder.1.cross_attention.q",
     [](const Numbers& at) { return mapped(at, "decoder.1.self_attention.", "q", at("decoder.1.norm_1.output")); }},
    {"batch-taken-for-words", batch_of_two, "sentence.2.output",
     [](const Numbers& at) {
       const Matrix& q = at("sentence.2.q");
       Matrix result(at("sentence.2.output").shape());
       for (std::size_t i = 0; i < q.shape().rows; ++i) {
         const Matrix found =
             attended(row_of(q, i), below(row_of(at("sentence.1.k"), i), row_of(at("sentence.2.k"), i)),
                      below(row_of(at("sentence.1.v"), i), row_of(at("sentence.2.v"), i)));
         for (std::size_t j = 0; j < result.shape().columns; ++j) result(i, j) = found(0, j);
       }
       return result;
     }},
    {"batch-as-one-sentence", batch_of_two, "sentence.1.output",
     [](const Numbers& at) {
       return attended(at("sentence.1.q"), below(at("sentence.1.k"), at("sentence.2.k")),
                       below(at("sentence.1.v"), at("sentence.2.v")));
     }},
    {"first-sentence-for-all", batch_of_two, "sentence.2.output",
     [](const Numbers& at) { return attended(at("sentence.2.q"), at("sentence.1.k"), at("sentence.1.v")); }},
};

constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<Row> masks = {
    {"queries-masked-as-well", padded, "masked",
     [](const Numbers& at) {
       const Matrix& scaled = at("scaled");
       return cells_of(scaled.shape(),
                       [&](std::size_t i, std::size_t j) { return i < 2 && j < 2 ? scaled(i, j) : -infinity; });
     }},
    {"newest-key-missing", cached, "weights",
     [](const Numbers& at) {
       const Matrix& masked = at("masked");
       return softmax_rows(cells_of(masked.shape(), [&](std::size_t i, std::size_t j) {
         return j + 1 == masked.shape().columns ? -infinity : masked(i, j);
       }));
     }},
};

// --- layers

std::shared_ptr<Graph> post(std::size_t size) { return run({.kind = "encoder-only", .heads = 1}, size); }
std::shared_ptr<Graph> pre(std::size_t size) { return run({.kind = "encoder-only", .norm = "pre"}, size); }
std::shared_ptr<Graph> decoding(std::size_t size) {
  return run({.heads = 1, .encoder_layers = 1, .decoder_layers = 1}, size);
}
std::shared_ptr<Graph> silu_layer(std::size_t size) {
  return run({.kind = "encoder-only", .activation = "silu"}, size);
}
std::shared_ptr<Graph> gelu_layer(std::size_t size) {
  return run({.kind = "encoder-only", .activation = "gelu"}, size);
}

// A layer of one head by hand.
struct Layer {
  const Numbers& at;
  std::string name;

  Matrix norm(const Matrix& x, const std::string& number, const std::string& of = "") const {
    const std::string place = (of.empty() ? name : of) + ".norm_" + number;
    return plus(by(each_row(x,
                            [](const List& row) {
                              List result;
                              for (const double one : row)
                                result.push_back((one - mean_of(row)) / std::sqrt(variance_of(row) + epsilon));
                              return result;
                            }),
                   at(place + ".gamma")),
                at(place + ".beta"));
  }
  Matrix attention(const std::string& which, const Matrix& x, const Matrix& memory) const {
    const std::string scope = name + "." + which + ".";
    Matrix q = mapped(at, scope, "q", x);
    Matrix scores =
        by(mul(q, tr(mapped(at, scope, "k", memory))), 1 / std::sqrt(static_cast<double>(q.shape().columns)));
    if (at.graph.find(scope + "masked") && !at.graph.at(scope + "masked").is_alias())
      scores = cells_of(scores.shape(), [&](std::size_t i, std::size_t j) { return j > i ? -infinity : scores(i, j); });
    return mapped(at, scope, "o", mul(softmax_rows(scores), mapped(at, scope, "v", memory)));
  }
  Matrix self(const Matrix& x) const { return attention("self_attention", x, x); }
  Matrix cross_attention(const Matrix& x) const { return cross_attention(x, at("encoder.output")); }
  Matrix cross_attention(const Matrix& x, const Matrix& memory) const {
    return attention("cross_attention", x, memory);
  }
  Matrix feed_forward(const Matrix& x) const {
    const auto map = [&](const Matrix& of, const std::string& number) {
      return plus(mul(of, at(name + ".feed_forward.w_" + number)), at(name + ".feed_forward.b_" + number));
    };
    return map(each(map(x, "1"), [](double one) { return std::max(one, 0.0); }), "2");
  }
};

// The encoder with its feed-forward layer first, and the decoder with its cross-attention first.
ByHand first_two_exchanged(const std::string& first, const std::string& second) {
  return [=](const Numbers& at) {
    const Layer encoder{at, "encoder.1"}, decoder{at, "decoder.1"};
    Matrix memory = at("source.positioned"), x = at("target.positioned");
    memory = encoder.norm(plus(memory, encoder.feed_forward(memory)), first);
    memory = encoder.norm(plus(memory, encoder.self(memory)), second);
    x = decoder.norm(plus(x, decoder.cross_attention(x, memory)), first);
    x = decoder.norm(plus(x, decoder.self(x)), second);
    return decoder.norm(plus(x, decoder.feed_forward(x)), "3");
  };
}

const std::vector<Row> layers = {
    {"length-1-for-layer-norm", post, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       return each_row(at("encoder.1.sum_1"), [](const List& x) {
         const double mean = mean_of(x);
         const List less = each_of(x, [&](double one) { return one - mean; });
         return divided_by(less, std::sqrt(sum_of_list(each_of(less, [](double one) { return one * one; }))));
       });
     }},
    {"last-norm-missing", pre, "encoder.output", [](const Numbers& at) { return at("encoder.2.sum_2"); }},
    {"third-residual-missing", decoding, "decoder.output",
     [](const Numbers& at) {
       return Layer{at, "decoder.1"}.norm(at("decoder.1.feed_forward.output"), "3");
     }},
    {"first-norm-for-all", post, "encoder.1.norm_2.output",
     [](const Numbers& at) {
       return Layer{at, "encoder.1"}.norm(at("encoder.1.sum_2"), "1");
     }},
    {"second-norm-for-the-first", post, "encoder.1.norm_1.output",
     [](const Numbers& at) {
       return Layer{at, "encoder.1"}.norm(at("encoder.1.sum_1"), "2");
     }},
    {"first-layer-in-all", post, "encoder.2.self_attention.q",
     [](const Numbers& at) { return mapped(at, "encoder.1.self_attention.", "q", at("encoder.1.norm_2.output")); }},
    {"layers-reversed", post, "encoder.1.self_attention.q",
     [](const Numbers& at) { return mapped(at, "encoder.2.self_attention.", "q", at("source.positioned")); }},
    {"first-sub-layers-exchanged", decoding, "decoder.output", first_two_exchanged("2", "1")},
    {"last-sub-layers-exchanged", decoding, "decoder.output",
     [](const Numbers& at) {
       const Layer layer{at, "decoder.1"};
       Matrix x = at("decoder.1.norm_1.output");
       x = layer.norm(plus(x, layer.feed_forward(x)), "3");
       return layer.norm(plus(x, layer.cross_attention(x)), "2");
     }},
    {"first-sub-layers-exchanged-norms-kept", decoding, "decoder.output", first_two_exchanged("1", "2")},
    {"last-sub-layers-exchanged-norms-kept", decoding, "decoder.output",
     [](const Numbers& at) {
       const Layer layer{at, "decoder.1"};
       Matrix x = at("decoder.1.norm_1.output");
       x = layer.norm(plus(x, layer.feed_forward(x)), "2");
       return layer.norm(plus(x, layer.cross_attention(x)), "3");
     }},
};

template <class F>
ByHand activated_by_function(const F& f) {
  return [=](const Numbers& at) { return each(at("encoder.1.feed_forward.inner"), f); };
}
constexpr std::string_view rectified = "encoder.1.feed_forward.rectified",
                           activated = "encoder.1.feed_forward.activated";

const std::vector<Row> activations = {
    {"tanh-as-activation", post, rectified, activated_by_function([](double x) { return std::tanh(x); })},
    {"relu-as-activation", silu_layer, activated, activated_by_function([](double x) { return std::max(x, 0.0); })},
    {"gelu-as-activation", silu_layer, activated,
     activated_by_function([](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); })},
    {"sigmoid-as-activation", gelu_layer, activated,
     activated_by_function([](double x) { return 1 / (1 + std::exp(-x)); })},
    {"elu-as-activation", post, rectified, activated_by_function([](double x) { return x > 0 ? x : std::exp(x) - 1; })},
    {"softplus-as-activation", post, rectified,
     activated_by_function([](double x) { return std::log(1 + std::exp(x)); })},
    {"squared-relu-as-activation", post, rectified,
     activated_by_function([](double x) { return std::max(x, 0.0) * std::max(x, 0.0); })},
    {"relu6-as-activation", silu_layer, activated,
     activated_by_function([](double x) { return std::min(std::max(x, 0.0), 6.0); })},
    {"selu-as-activation", post, rectified, activated_by_function([](double x) {
       return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (std::exp(x) - 1));
     })},
    {"mish-as-activation", post, rectified,
     activated_by_function([](double x) { return x * std::tanh(std::log(1 + std::exp(x))); })},
};

// --- positions

double usual_angle(std::size_t i, std::size_t j, std::size_t d, double power = 1.0) {
  const double exponent = 2.0 * std::floor(static_cast<double>(j) / 2) / static_cast<double>(d);
  return static_cast<double>(i) / std::pow(1e4, power * exponent);
}
template <class F>
ByHand positions_by(const F& f) {
  return [=](const Numbers& at) {
    const Shape shape = at("source.positions").shape();
    return cells_of(shape, [&](std::size_t i, std::size_t j) { return f(i, j, shape.columns); });
  };
}

const std::vector<Row> positions = {
    {"exponent-doubled", post, "source.positions", positions_by([](std::size_t i, std::size_t j, std::size_t d) {
       const double angle = usual_angle(i, j, d, 2.0);
       return j % 2 == 0 ? std::sin(angle) : std::cos(angle);
     })},
    {"sines-alone", post, "source.positions",
     positions_by([](std::size_t i, std::size_t j, std::size_t d) { return std::sin(usual_angle(i, j, d)); })},
    {"cosines-alone", post, "source.positions",
     positions_by([](std::size_t i, std::size_t j, std::size_t d) { return std::cos(usual_angle(i, j, d)); })},
};

TEST_SUITE("mistakes in models") {
  TEST_CASE("mistakes with other softmaxes give what is computed by hand") { check_all(softmaxes); }
  TEST_CASE("mistakes with other scores give what is computed by hand") { check_all(scores); }
  TEST_CASE("mistakes with values and biases give what is computed by hand") { check_all(values); }
  TEST_CASE("mistakes with how heads are put together give what is computed by hand") { check_all(heads); }
  TEST_CASE("mistakes with sides and batches give what is computed by hand") { check_all(sides); }
  TEST_CASE("mistakes with other masks give what is computed by hand") { check_all(masks); }
  TEST_CASE("mistakes with the order of layers give what is computed by hand") { check_all(layers); }
  TEST_CASE("mistakes with other activations give what is computed by hand") { check_all(activations); }
  TEST_CASE("mistakes with waves give what is computed by hand") { check_all(positions); }

  TEST_CASE("a word that is written with the first position has the first row of the positions") {
    const std::span<const Mistake> all = mistakes();
    const auto restarted = std::ranges::find(all, "position-restarted", &Mistake::name);
    REQUIRE(restarted != all.end());
    const Transformer model = model_of({.kind = "decoder-only", .heads = 1, .decoder_layers = 1}, 0);
    const auto graph = std::make_shared<Graph>();
    RunningTransformer running(model, *graph);
    for (const std::size_t word : {2, 3, 1}) {
      const Graph::Scope step(*graph, scope::step, word);
      running.decode(words({word}), std::nullopt);
    }
    Rewriting again(*graph, *restarted);
    for (const std::string_view name : {"step.3.target.positions", "step.1.target.positions"}) {
      const Matrix now = again.of(graph->at(name)).matrix();
      for (std::size_t j = 0; j < now.shape().columns; ++j) CHECK(now(0, j) == (j % 2 == 0 ? 0.0 : 1.0));
    }
  }
}

}  // namespace

std::vector<std::string_view> tried_further() {
  std::vector<std::string_view> names =
      mistakes_in({&softmaxes, &scores, &values, &heads, &sides, &masks, &layers, &activations, &positions});
  names.emplace_back("position-restarted");
  return names;
}

}  // namespace attn::tried
