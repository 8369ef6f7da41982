#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "mistakes_tried.hpp"
#include "testing.hpp"

using namespace attn;
using namespace attn::tried;

namespace {

std::shared_ptr<Graph> post(std::size_t size) { return run({.kind = "encoder-only"}, size); }
std::shared_ptr<Graph> pre(std::size_t size) { return run({.kind = "encoder-only", .norm = "pre"}, size); }
std::shared_ptr<Graph> rms(std::size_t size) { return run({.kind = "encoder-only", .norm_kind = "rms"}, size); }
std::shared_ptr<Graph> gelu(std::size_t size) { return run({.kind = "encoder-only", .activation = "gelu"}, size); }
std::shared_ptr<Graph> gelu_by_tanh(std::size_t size) {
  return run({.kind = "encoder-only", .activation = "gelu-tanh"}, size);
}
std::shared_ptr<Graph> silu(std::size_t size) { return run({.kind = "encoder-only", .activation = "silu"}, size); }
std::shared_ptr<Graph> tanh(std::size_t size) { return run({.kind = "encoder-only", .activation = "tanh"}, size); }
std::shared_ptr<Graph> halves(std::size_t size) {
  return run({.kind = "encoder-only", .positions = "concatenated"}, size);
}
std::shared_ptr<Graph> learned(std::size_t size) { return run({.kind = "decoder-only", .positions = "learned"}, size); }
std::shared_ptr<Graph> rotary(std::size_t size) {
  return run({.kind = "encoder-only", .positions = "rotary", .heads = 1}, size);
}
std::shared_ptr<Graph> rotary_halves(std::size_t size) {
  return run({.kind = "encoder-only", .positions = "rotary-halves", .heads = 1}, size);
}
std::shared_ptr<Graph> rotary_longer(std::size_t size) {
  return run({.kind = "encoder-only", .positions = "rotary-halves", .heads = 1}, size,
             [](Transformer& model) { model.recipe.scaling.factor = 3.0; });
}
// Parameters that are drawn, and not a model's own.
std::shared_ptr<Graph> drawn(std::shared_ptr<Graph> graph) {
  graph->tell_origin(graph->at("encoder.1.self_attention.w_q"), "is random");
  return graph;
}
std::shared_ptr<Graph> drawn_rotary(std::size_t size) { return drawn(rotary(size)); }
std::shared_ptr<Graph> drawn_rotary_halves(std::size_t size) { return drawn(rotary_halves(size)); }
std::shared_ptr<Graph> rms_plus_one(std::size_t size) {
  return run({.kind = "encoder-only", .norm_kind = "rms-plus-1"}, size);
}
std::shared_ptr<Graph> gated(std::size_t size) {
  return run({.kind = "encoder-only", .activation = "silu", .gated = true}, size);
}
std::shared_ptr<Graph> with_window(std::size_t size) {
  return run({.kind = "decoder-only", .heads = 1}, size, [](Transformer& model) { model.recipe.window = 2; });
}
std::shared_ptr<Graph> rotary_heads(std::size_t size) {
  return run({.kind = "encoder-only", .positions = "rotary", .heads = 2}, size);
}
std::shared_ptr<Graph> unscaled(std::size_t size) {
  return run({.kind = "encoder-only"}, size, [](Transformer& model) { model.recipe.scale_embeddings = false; });
}
std::shared_ptr<Graph> both_sides(std::size_t size) {
  return run({.heads = 1, .encoder_layers = 1, .decoder_layers = 1}, size);
}
std::shared_ptr<Graph> grouped(std::size_t size) {
  return run({.kind = "decoder-only", .heads = 4, .key_heads = 2}, size);
}
std::shared_ptr<Graph> one_head(std::size_t size) { return walked("{}", size); }
std::shared_ptr<Graph> relative_bias(std::size_t size) { return walked(R"({"positions": "relative-bias"})", size); }
std::shared_ptr<Graph> relative_vectors(std::size_t size) {
  return walked(R"({"positions": "relative-vectors"})", size);
}
std::shared_ptr<Graph> narrow_kernel(std::size_t size) {
  return walked(R"({"score": "gaussian", "score_sigma": 0.5})", size);
}

// --- norms

constexpr std::string_view normed = "encoder.1.norm_1.output", sum = "encoder.1.sum_1";

// γ f(row) + β
template <class F>
Matrix norm_by(const Numbers& at, const Matrix& x, const F& f, const std::string& norm = "encoder.1.norm_1") {
  return plus(by(each_row(x, f), at(norm + ".gamma")), at(norm + ".beta"));
}
template <class Divisor>
ByHand divided(const Divisor& divisor) {
  return [=](const Numbers& at) {
    return norm_by(at, at(sum), [&](const List& x) {
      List result;
      for (const double one : x) result.push_back((one - mean_of(x)) / divisor(variance_of(x), x.size()));
      return result;
    });
  };
}
List standard(const List& x) {
  List result;
  for (const double one : x) result.push_back((one - mean_of(x)) / std::sqrt(variance_of(x) + epsilon));
  return result;
}
double mean_square(const List& x) {
  double sum = 0.0;
  for (const double one : x) sum += one * one / static_cast<double>(x.size());
  return sum;
}
List over(List x, double divisor) {
  for (double& one : x) one /= divisor;
  return x;
}
// The rows of a whole matrix as one.
Matrix as_one_row(const Matrix& x) {
  const std::size_t d = x.shape().columns;
  return cells_of({1, x.size()}, [&](std::size_t, std::size_t j) { return x(j / d, j % d); });
}

const std::vector<Row> norms = {
    {"variance-by-n-minus-1", post, normed, divided([](double v, std::size_t n) {
       const auto d = static_cast<double>(n);
       return std::sqrt(v * d / (d - 1) + epsilon);
     })},
    {"epsilon-outside-the-root", post, normed, divided([](double v, std::size_t) { return std::sqrt(v) + epsilon; })},
    {"epsilon-outside-the-root", rms, normed,
     [](const Numbers& at) {
       return by(each_row(at(sum), [](const List& x) { return over(x, std::sqrt(mean_square(x)) + epsilon); }),
                 at("encoder.1.norm_1.gamma"));
     }},
    {"one-not-added-to-gamma", rms_plus_one, normed,
     [](const Numbers& at) {
       return by(each_row(at(sum), [](const List& x) { return over(x, std::sqrt(mean_square(x) + epsilon)); }),
                 at("encoder.1.norm_1.gamma"));
     }},
    {"root-of-the-deviation", post, normed,
     divided([](double v, std::size_t) { return std::sqrt(std::sqrt(v) + epsilon); })},
    {"divided-by-the-variance", post, normed, divided([](double v, std::size_t) { return v + epsilon; })},
    {"divided-by-the-variance-squared", post, normed,
     divided([](double v, std::size_t) { return (v + epsilon) * (v + epsilon); })},
    {"norm-without-epsilon", post, normed, divided([](double v, std::size_t) { return std::sqrt(v); })},
    {"mean-not-subtracted", post, normed,
     [](const Numbers& at) {
       return norm_by(at, at(sum), [](const List& x) { return over(x, std::sqrt(variance_of(x) + epsilon)); });
     }},
    {"rms-for-layer-norm", post, normed,
     [](const Numbers& at) {
       return norm_by(at, at(sum), [](const List& x) { return over(x, std::sqrt(mean_square(x) + epsilon)); });
     }},
    {"norm-not-divided", post, normed, divided([](double, std::size_t) { return 1.0; })},
    {"norm-over-words", post, "encoder.1.norm_1.normalised",
     [](const Numbers& at) { return tr(each_row(tr(at(sum)), standard)); }},
    {"norm-over-everything", post, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       const Matrix& x = at(sum);
       const Matrix all = each_row(as_one_row(x), standard);
       return cells_of(x.shape(), [&](std::size_t i, std::size_t j) { return all(0, i * x.shape().columns + j); });
     }},
    {"gamma-missing", post, normed,
     [](const Numbers& at) { return plus(at("encoder.1.norm_1.normalised"), at("encoder.1.norm_1.beta")); }},
    {"beta-missing", post, normed,
     [](const Numbers& at) { return by(at("encoder.1.norm_1.normalised"), at("encoder.1.norm_1.gamma")); }},
    {"gamma-and-beta-missing", post, normed, [](const Numbers& at) { return at("encoder.1.norm_1.normalised"); }},
    {"gamma-and-beta-exchanged", post, normed,
     [](const Numbers& at) {
       return plus(by(at("encoder.1.norm_1.normalised"), at("encoder.1.norm_1.beta")), at("encoder.1.norm_1.gamma"));
     }},
    {"beta-before-gamma", post, normed,
     [](const Numbers& at) {
       return by(plus(at("encoder.1.norm_1.normalised"), at("encoder.1.norm_1.beta")), at("encoder.1.norm_1.gamma"));
     }},
    {"norm-missing", post, normed, [](const Numbers& at) { return at(sum); }},
    {"mean-square-without-root", rms, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       return each_row(at(sum), [](const List& x) { return over(x, mean_square(x) + epsilon); });
     }},
    {"divided-by-the-length", rms, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       return each_row(
           at(sum), [](const List& x) { return over(x, std::sqrt(mean_square(x) * static_cast<double>(x.size()))); });
     }},
    {"norm-without-epsilon", rms, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       return each_row(at(sum), [](const List& x) { return over(x, std::sqrt(mean_square(x))); });
     }},
    {"norm-over-words", rms, "encoder.1.norm_1.normalised",
     [](const Numbers& at) {
       return tr(each_row(tr(at(sum)), [](const List& x) { return over(x, std::sqrt(mean_square(x) + epsilon)); }));
     }},
    {"layer-norm-for-rms", rms, "encoder.1.norm_1.normalised",
     [](const Numbers& at) { return each_row(at(sum), standard); }},
};

// --- residual connections

// A layer by hand, for where its norms stand is the question.
struct Layer {
  const Numbers& at;
  std::string name;

  const Matrix& parameter(const std::string& leaf) const { return at(name + "." + leaf); }
  Matrix map(const Matrix& x, const std::string& w, const std::string& b) const {
    return plus(mul(x, parameter(w)), parameter(b));
  }
  Matrix norm(const Matrix& x, const std::string& number) const {
    return norm_by(at, x, standard, name + ".norm_" + number);
  }
  Matrix attention(const Matrix& x) const {
    const std::string a = "self_attention.";
    const Matrix q = map(x, a + "w_q", a + "b_q"), k = map(x, a + "w_k", a + "b_k"), v = map(x, a + "w_v", a + "b_v");
    const std::size_t d = q.shape().columns, heads = 2, size = d / heads;
    Matrix concat(q.shape());
    for (std::size_t h = 0; h < heads; ++h) {
      const auto part = [&](const Matrix& of) {
        return cells_of({of.shape().rows, size}, [&](std::size_t i, std::size_t j) { return of(i, h * size + j); });
      };
      const Matrix weights = softmax_rows(by(mul(part(q), tr(part(k))), 1.0 / std::sqrt(static_cast<double>(size))));
      const Matrix found = mul(weights, part(v));
      for (std::size_t i = 0; i < x.shape().rows; ++i) {
        for (std::size_t j = 0; j < size; ++j) concat(i, h * size + j) = found(i, j);
      }
    }
    return map(concat, a + "w_o", a + "b_o");
  }
  Matrix feed_forward(const Matrix& x) const {
    const std::string f = "feed_forward.";
    const Matrix inner = map(x, f + "w_1", f + "b_1");
    return map(each(inner, [](double one) { return std::max(one, 0.0); }), f + "w_2", f + "b_2");
  }
};

Matrix layers_with_norms_before(const Numbers& at) {
  Matrix x = at("source.positioned");
  for (const char* name : {"encoder.1", "encoder.2"}) {
    const Layer layer{at, name};
    x = plus(x, layer.attention(layer.norm(x, "1")));
    x = plus(x, layer.feed_forward(layer.norm(x, "2")));
  }
  return x;
}

Matrix layers_with_norms_behind(const Numbers& at) {
  Matrix x = at("source.positioned");
  for (const char* name : {"encoder.1", "encoder.2"}) {
    const Layer layer{at, name};
    x = layer.norm(plus(x, layer.attention(x)), "1");
    x = layer.norm(plus(x, layer.feed_forward(x)), "2");
  }
  return x;
}

Matrix layers_with_norms_inside(const Numbers& at) {
  Matrix x = at("source.positioned");
  for (const char* name : {"encoder.1", "encoder.2"}) {
    const Layer layer{at, name};
    x = plus(x, layer.norm(layer.attention(x), "1"));
    x = plus(x, layer.norm(layer.feed_forward(x), "2"));
  }
  return x;
}

Matrix layers_from_norms(const Numbers& at) {
  Matrix x = at("source.positioned");
  for (const char* name : {"encoder.1", "encoder.2"}) {
    const Layer layer{at, name};
    const Matrix first = layer.norm(x, "1");
    x = plus(first, layer.attention(first));
    const Matrix second = layer.norm(x, "2");
    x = plus(second, layer.feed_forward(second));
  }
  return norm_by(at, x, standard, "encoder.norm");
}

Matrix layers_without_residuals(const Numbers& at) {
  Matrix x = at("source.positioned");
  for (const char* name : {"encoder.1", "encoder.2"}) {
    const Layer layer{at, name};
    x = layer.norm(layer.attention(x), "1");
    x = layer.norm(layer.feed_forward(x), "2");
  }
  return x;
}

// Both layers, of one of which its sums are another's.
template <class Sums>
ByHand layers_with(const Sums& sums) {
  return [=](const Numbers& at) {
    Matrix x = at("source.positioned");
    for (const char* name : {"encoder.1", "encoder.2"}) x = sums(Layer{at, name}, x);
    return x;
  };
}

const std::vector<Row> residuals = {
    {"first-residual-missing", post, "encoder.output", layers_with([](const Layer& layer, const Matrix& x) {
       const Matrix words = layer.norm(layer.attention(x), "1");
       return layer.norm(plus(words, layer.feed_forward(words)), "2");
     })},
    {"second-residual-missing", post, "encoder.output", layers_with([](const Layer& layer, const Matrix& x) {
       const Matrix words = layer.norm(plus(x, layer.attention(x)), "1");
       return layer.norm(layer.feed_forward(words), "2");
     })},
    {"residual-from-the-layer", post, "encoder.output", layers_with([](const Layer& layer, const Matrix& x) {
       const Matrix words = layer.norm(plus(x, layer.attention(x)), "1");
       return layer.norm(plus(x, layer.feed_forward(words)), "2");
     })},
    {"norms-exchanged", post, "encoder.output", layers_with([](const Layer& layer, const Matrix& x) {
       const Matrix words = layer.norm(plus(x, layer.attention(x)), "2");
       return layer.norm(plus(words, layer.feed_forward(words)), "1");
     })},
    {"residual-missing", post, "encoder.output", layers_without_residuals},
    {"residual-from-the-norm", pre, "encoder.output", layers_from_norms},
    {"norm-inside-the-residual", post, "encoder.output", layers_with_norms_inside},
    {"pre-norm", post, "encoder.output", layers_with_norms_before},
    {"pre-norm", post, "encoder.1.norm_1.output",
     [](const Numbers& at) {
       return Layer{at, "encoder.1"}.norm(at("source.positioned"), "1");
     }},
    {"post-norm", pre, "encoder.output", layers_with_norms_behind},
    {"post-norm", pre, "encoder.1.norm_1.output",
     [](const Numbers& at) {
       const Layer layer{at, "encoder.1"};
       const Matrix& x = at("source.positioned");
       return layer.norm(plus(x, layer.attention(x)), "1");
     }},
};

// --- feed-forward layers

constexpr std::string_view fed = "encoder.1.feed_forward.output";

Matrix inner_of(const Numbers& at) { return at("encoder.1.feed_forward.inner"); }
Matrix second_map(const Numbers& at, const Matrix& x) {
  return Layer{at, "encoder.1"}.map(x, "feed_forward.w_2", "feed_forward.b_2");
}
double rectified(double x) { return std::max(x, 0.0); }
double logistic_of(double x) { return 1.0 / (1.0 + std::exp(-x)); }
template <class F>
ByHand activated_by(const F& f) {
  return [=](const Numbers& at) { return second_map(at, each(inner_of(at), f)); };
}

const std::vector<Row> feed_forward = {
    {"activation-missing", post, fed, activated_by([](double x) { return x; })},
    {"gates-exchanged", gated, "encoder.1.feed_forward.gated",
     [](const Numbers& at) {
       const std::string here = "encoder.1.feed_forward.";
       return by(each(at(here + "inner"), [](double x) { return x * logistic_of(x); }), at(here + "gate"));
     }},
    {"activation-last", post, fed, [](const Numbers& at) { return each(second_map(at, inner_of(at)), rectified); }},
    {"activation-twice", post, fed, [](const Numbers& at) { return each(at(fed), rectified); }},
    {"gelu-for-relu", post, fed,
     activated_by([](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); })},
    {"gelu-by-tanh-for-relu", post, fed, activated_by([](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     })},
    {"silu-for-relu", post, fed, activated_by([](double x) { return x * logistic_of(x); })},
    {"sigmoid-for-relu", post, fed, activated_by(logistic_of)},
    {"relu-keeps-negative-numbers", post, fed, activated_by([](double x) { return std::min(x, 0.0); })},
    {"relu-drops-the-sign", post, fed, activated_by([](double x) { return std::fabs(x); })},
    {"relu-for-gelu", gelu, fed, activated_by(rectified)},
    {"relu-for-gelu", gelu_by_tanh, fed, activated_by(rectified)},
    {"gelu-by-tanh", gelu, fed, activated_by([](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     })},
    {"gelu-by-erf", gelu_by_tanh, fed,
     activated_by([](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); })},
    {"gelu-by-sigmoid", gelu, fed, activated_by([](double x) { return x * logistic_of(1.702 * x); })},
    {"sigmoid-for-silu", silu, fed, activated_by(logistic_of)},
    {"sigmoid-for-tanh", tanh, fed, activated_by(logistic_of)},
    {"bias-after-activation", post, fed,
     [](const Numbers& at) {
       const Matrix& b = at("encoder.1.feed_forward.b_1");
       return second_map(at, plus(each(minus(inner_of(at), b), rectified), b));
     }},
    {"first-bias-missing", post, fed,
     [](const Numbers& at) {
       return second_map(at, each(minus(inner_of(at), at("encoder.1.feed_forward.b_1")), rectified));
     }},
    {"second-bias-missing", post, fed,
     [](const Numbers& at) { return minus(at(fed), at("encoder.1.feed_forward.b_2")); }},
};

// --- embeddings and positions

double root_of_size(const Matrix& x) { return std::sqrt(static_cast<double>(x.shape().columns)); }
// sin and cos of what an angle is, for position i and column j of d.
template <class Angle>
ByHand waves(const Angle& angle, bool cosine_first = false) {
  return [=](const Numbers& at) {
    const Shape shape = at("source.positions").shape();
    return cells_of(shape, [&](std::size_t i, std::size_t j) {
      const double a = angle(static_cast<double>(i), static_cast<double>(j), static_cast<double>(shape.columns));
      return (j % 2 == 0) == cosine_first ? std::cos(a) : std::sin(a);
    });
  };
}
double pair_of(double j) { return std::floor(j / 2); }
// All sines before all cosines, of frequency k.
template <class Divisor>
ByHand waves_in_halves(Divisor divisor, bool cosines_first = false) {
  return [=](const Numbers& at) {
    const Shape shape = at("source.positions").shape();
    const std::size_t half = shape.columns / 2;
    return cells_of(shape, [&](std::size_t i, std::size_t j) {
      const double a =
          static_cast<double>(i) / divisor(static_cast<double>(j % half), static_cast<double>(shape.columns));
      return (j < half) == cosines_first ? std::cos(a) : std::sin(a);
    });
  };
}
double usual_divisor(double frequency, double d) { return std::pow(1e4, 2 * frequency / d); }

// The rows of the table so far below those of the words, which begins again at its end.
ByHand rows_below(std::size_t by) {
  return [by](const Numbers& at) {
    const Matrix &ids = at("source.ids"), &table = at("source_embedding.e");
    return cells_of(at("source.x").shape(), [&](std::size_t i, std::size_t j) {
      return table((static_cast<std::size_t>(ids(i, 0)) - 1 + by) % table.shape().rows, j);
    });
  };
}
ByHand row_above() {
  return [](const Numbers& at) { return rows_below(at("source_embedding.e").shape().rows - 1)(at); };
}

const std::vector<Row> embeddings = {
    {"next-embeddings", post, "source.x", rows_below(1)},
    {"embeddings-before", post, "source.x", row_above()},
    {"embeddings-not-scaled", post, "source.positioned",
     [](const Numbers& at) { return plus(at("source.x"), at("source.positions")); }},
    {"embeddings-divided", post, "source.scaled_x",
     [](const Numbers& at) { return by(at("source.x"), 1 / root_of_size(at("source.x"))); }},
    {"embeddings-times-d", post, "source.scaled_x",
     [](const Numbers& at) { return by(at("source.x"), static_cast<double>(at("source.x").shape().columns)); }},
    {"embeddings-scaled", unscaled, "source.positioned",
     [](const Numbers& at) { return plus(by(at("source.x"), root_of_size(at("source.x"))), at("source.positions")); }},
    {"positions-scaled-too", post, "source.positioned",
     [](const Numbers& at) { return by(plus(at("source.x"), at("source.positions")), root_of_size(at("source.x"))); }},
    {"positions-missing", post, "source.positioned", [](const Numbers& at) { return at("source.scaled_x"); }},
    {"positions-alone", post, "source.positioned", [](const Numbers& at) { return at("source.positions"); }},
    {"positions-multiplied", post, "source.positioned",
     [](const Numbers& at) { return by(at("source.scaled_x"), at("source.positions")); }},
    {"positions-by-sentence", post, "source.positioned",
     [](const Numbers& at) {
       const Matrix& p = at("source.positions");
       return plus(at("source.scaled_x"),
                   cells_of({1, p.shape().columns}, [&](std::size_t, std::size_t j) { return p(0, j); }));
     }},
    {"exponent-counts-columns", post, "source.positions",
     waves([](double i, double j, double d) { return i / std::pow(1e4, 2 * j / d); })},
    {"cosine-has-its-own-frequency", post, "source.positions",
     waves([](double i, double j, double d) { return i / std::pow(1e4, j / d); })},
    {"exponent-without-2", post, "source.positions",
     waves([](double i, double j, double d) { return i / std::pow(1e4, pair_of(j) / d); })},
    {"frequency-multiplied", post, "source.positions",
     waves([](double i, double j, double d) { return i * std::pow(1e4, 2 * pair_of(j) / d); })},
    {"exponent-floored", post, "source.positions", waves([](double i, double j, double d) {
       return i * std::exp(2 * pair_of(j) * std::floor(-std::log(1e4) / d / 2));
     })},
    {"exponent-is-zero", post, "source.positions", waves([](double i, double, double) { return i; })},
    {"degrees", post, "source.positions", waves([](double i, double j, double d) {
       return i / std::pow(1e4, 2 * pair_of(j) / d) * std::numbers::pi / 180;
     })},
    {"positions-from-1", post, "source.positions",
     waves([](double i, double j, double d) { return (i + 1) / std::pow(1e4, 2 * pair_of(j) / d); })},
    {"cosines-first", post, "source.positions",
     waves([](double i, double j, double d) { return i / std::pow(1e4, 2 * pair_of(j) / d); }, true)},
    {"sines-then-cosines", post, "source.positions", waves_in_halves(usual_divisor)},
    {"waves-up-to-the-base", post, "source.positions",
     waves_in_halves([](double k, double d) { return std::pow(1e4, k / (d / 2 - 1)); })},
    {"sines-beside-cosines", halves, "source.positions",
     waves([](double i, double j, double d) { return i / std::pow(1e4, 2 * pair_of(j) / d); })},
    {"cosines-first", halves, "source.positions", waves_in_halves(usual_divisor, true)},
    {"positions-from-1", learned, "target.positions",
     [](const Numbers& at) {
       const Matrix& table = at("target_positions.table");
       return cells_of(at("target.positions").shape(), [&](std::size_t i, std::size_t j) { return table(i + 1, j); });
     }},
};

// --- positions that turn, and those of distances

using Angles = double (*)(double i, double j, double d);
double angle_of_pair(double i, double j, double d) { return i / std::pow(1e4, 2 * std::floor(j / 2) / d); }
double angle_of_halves(double i, double j, double d) { return i / std::pow(1e4, 2 * std::fmod(j, d / 2) / d); }
// x cos − y sin, x sin + y cos, with each column by its own angle.
ByHand turned(const std::string& from, bool in_halves, Angles angle, double shift = 0.0, double sign = 1.0) {
  return [=](const Numbers& at) {
    const Matrix& x = at(from);
    const std::size_t d = x.shape().columns, half = d / 2;
    return cells_of(x.shape(), [&](std::size_t i, std::size_t j) {
      const bool is_first = in_halves ? j < half : j % 2 == 0;
      const std::size_t apart = in_halves ? half : 1, partner = is_first ? j + apart : j - apart;
      const double a = sign * angle(static_cast<double>(i) + shift, static_cast<double>(j), static_cast<double>(d));
      return x(i, j) * std::cos(a) + (is_first ? -1 : 1) * x(i, partner) * std::sin(a);
    });
  };
}
const std::string q = "encoder.1.self_attention.q", first_q = "encoder.1.self_attention.head.1.q";
constexpr std::string_view rotated_q = "encoder.1.self_attention.rotated_q",
                           first_rotated_q = "encoder.1.self_attention.head.1.rotated_q";

// One more layer of scores from a table of distances, read from its other end.
Matrix reversed_bias(const Numbers& at) {
  const Matrix &right = at("relative"), &table = at("position_table");
  const auto most = static_cast<long>(table.shape().columns / 2);
  return cells_of(right.shape(), [&](std::size_t i, std::size_t j) {
    const long distance = std::clamp(static_cast<long>(i) - static_cast<long>(j), -most, most);
    return table(0, static_cast<std::size_t>(distance + most));
  });
}
// As if the first query stood beside the first key.
Matrix restarted_bias(const Numbers& at) {
  const Matrix &right = at("relative"), &table = at("position_table");
  const auto most = static_cast<long>(table.shape().columns / 2);
  return cells_of(right.shape(), [&](std::size_t i, std::size_t j) {
    const long distance = std::clamp(static_cast<long>(j) - static_cast<long>(i), -most, most);
    return table(0, static_cast<std::size_t>(distance + most));
  });
}
Matrix first_learned(const Numbers& at) {
  const Matrix& table = at("position_table");
  return cells_of(at("positions").shape(), [&](std::size_t i, std::size_t j) { return table(i, j); });
}
Matrix distances_in_text(const Numbers& at) {
  const Matrix &right = at("relative"), &table = at("position_table");
  return cells_of(right.shape(), [&](std::size_t i, std::size_t j) {
    return table(0, std::min(i > j ? i - j : j - i, table.shape().columns - 1));
  });
}
Matrix reversed_vectors(const Numbers& at) {
  const Matrix &right = at("relative"), all = mul(at("q"), tr(at("position_table")));
  const auto most = static_cast<long>(all.shape().columns / 2);
  return cells_of(right.shape(), [&](std::size_t i, std::size_t j) {
    const long distance = std::clamp(static_cast<long>(i) - static_cast<long>(j), -most, most);
    return all(i, static_cast<std::size_t>(distance + most));
  });
}

const std::vector<Row> rotations = {
    {"rotary-halves", drawn_rotary, rotated_q, turned(q, true, angle_of_halves)},
    {"rotary-neighbors", drawn_rotary_halves, rotated_q, turned(q, false, angle_of_pair)},
    {"halves-for-neighbors", rotary, rotated_q, turned(q, true, angle_of_halves)},
    {"neighbors-for-halves", rotary_halves, rotated_q, turned(q, false, angle_of_pair)},
    {"wave-scaling-forgotten", rotary_longer, rotated_q, turned(q, true, angle_of_halves)},
    {"rotary-halves-angles-repeated", rotary_halves, rotated_q, turned(q, true, angle_of_pair)},
    {"rotary-backwards", rotary_halves, rotated_q, turned(q, true, angle_of_halves, 0.0, -1.0)},
    {"rotary-angles-tiled", rotary, rotated_q, turned(q, false, angle_of_halves)},
    {"rotary-angles-repeated", rotary, rotated_q, turned(q, true, angle_of_pair)},
    {"rotary-backwards", rotary, rotated_q, turned(q, false, angle_of_pair, 0.0, -1.0)},
    {"rotary-keys-not-turned", rotary, "encoder.1.self_attention.rotated_k",
     [](const Numbers& at) { return at("encoder.1.self_attention.k"); }},
    {"rotary-queries-not-turned", rotary, rotated_q, [](const Numbers& at) { return at(q); }},
    {"rotary-missing", rotary, rotated_q, [](const Numbers& at) { return at(q); }},
    {"rotary-missing", rotary, "encoder.1.self_attention.rotated_k",
     [](const Numbers& at) { return at("encoder.1.self_attention.k"); }},
    {"rotary-keys-one-late", rotary, "encoder.1.self_attention.rotated_k",
     turned("encoder.1.self_attention.k", false, angle_of_pair, 1.0)},
    {"rotary-values-turned", rotary_heads, "encoder.1.self_attention.head.2.output",
     [](const Numbers& at) {
       const std::string head = "encoder.1.self_attention.head.2.";
       return mul(at(head + "weights"), turned(head + "v", false, angle_of_pair)(at));
     }},
    {"rotary-exponent-without-2", rotary, rotated_q,
     turned(q, false, [](double i, double j, double d) { return i / std::pow(1e4, std::floor(j / 2) / d); })},
    {"positions-from-1", rotary, rotated_q, turned(q, false, angle_of_pair, 1.0)},
    // Only distances count in the scores: all positions may move together.
    {"positions-from-1", rotary, "encoder.1.self_attention.scores",
     [](const Numbers& at) { return at("encoder.1.self_attention.scores"); }, false},
    {"rotary-size-of-all-heads", rotary_heads, first_rotated_q,
     turned(first_q, false,
            [](double i, double j, double d) { return i / std::pow(1e4, 2 * std::floor(j / 2) / (2 * d)); }),
     true},
    {"distance-reversed", relative_bias, "relative", reversed_bias},
    {"distance-reversed", relative_vectors, "relative", reversed_vectors},
    {"distance-from-0-with-cache", cached_bias, "relative", restarted_bias},
    {"learned-position-restarted", cached_learned, "positions", first_learned},
    {"distance-in-text", star, "relative", distances_in_text},
    {"distance-missing", relative_vectors, "scores", [](const Numbers& at) { return at("content"); }},
};

// --- which words look at which

Matrix encoder_side(const Numbers& at, const std::string& map, const Matrix& x) {
  const std::string scope = "decoder.1.cross_attention.";
  return plus(mul(x, at(scope + "w_" + map)), at(scope + "b_" + map));
}

// softmax of the scaled scores, of keys up to the query.
Matrix up_to_the_query(const Numbers& at, const std::string& attention) {
  const Matrix& scaled = at(attention + "scaled");
  return softmax_rows(cells_of(scaled.shape(), [&](std::size_t i, std::size_t j) {
    return j <= i ? scaled(i, j) : -std::numeric_limits<double>::infinity();
  }));
}

const std::vector<Row> sides = {
    {"order-masked", rotary, "encoder.1.self_attention.weights",
     [](const Numbers& at) { return up_to_the_query(at, "encoder.1.self_attention."); }},
    {"window-forgotten", with_window, "decoder.1.self_attention.weights",
     [](const Numbers& at) { return up_to_the_query(at, "decoder.1.self_attention."); }},
    {"sides-exchanged", both_sides, "decoder.1.cross_attention.scores",
     [](const Numbers& at) {
       return mul(encoder_side(at, "q", at("encoder.output")),
                  tr(encoder_side(at, "k", at("decoder.1.norm_1.output"))));
     }},
    {"cross-attention-to-itself", equal_sides, "decoder.1.cross_attention.scores",
     [](const Numbers& at) {
       const Matrix& words = at("decoder.1.norm_1.output");
       return mul(encoder_side(at, "q", words), tr(encoder_side(at, "k", words)));
     }},
    {"words-taken-for-examples", one_head, "output", [](const Numbers& at) { return at("v"); }},
    {"groups-in-turn", grouped, "decoder.1.self_attention.head.2.k",
     [](const Numbers& at) { return at("decoder.1.self_attention.head.3.k"); }},
};

// --- kernels

Matrix squared_distances(const Numbers& at) {
  const Matrix &queries = at("q"), &keys = at("k");
  return cells_of({queries.shape().rows, keys.shape().rows}, [&](std::size_t i, std::size_t j) {
    double sum = 0.0;
    for (std::size_t c = 0; c < queries.shape().columns; ++c)
      sum += (queries(i, c) - keys(j, c)) * (queries(i, c) - keys(j, c));
    return sum;
  });
}
template <class F>
ByHand of_distances(const F& f) {
  return [=](const Numbers& at) { return each(squared_distances(at), f); };
}

const std::vector<Row> kernels = {
    {"kernel-width-missing", narrow_kernel, "scores", of_distances([](double d) { return -0.5 * d; })},
    {"kernel-width-multiplied", narrow_kernel, "scores", of_distances([](double d) { return -0.5 * d * 0.25; })},
    {"kernel-distance-not-squared", narrow_kernel, "scores",
     of_distances([](double d) { return -0.5 * std::sqrt(d) / 0.25; })},
};

TEST_SUITE("mistakes in models") {
  TEST_CASE("mistakes with norms give what is computed by hand") { check_all(norms); }
  TEST_CASE("mistakes with residual connections give what is computed by hand") { check_all(residuals); }
  TEST_CASE("mistakes with feed-forward layers and maps give what is computed by hand") { check_all(feed_forward); }
  TEST_CASE("mistakes with embeddings and positions give what is computed by hand") { check_all(embeddings); }
  TEST_CASE("mistakes with rotations and distances give what is computed by hand") { check_all(rotations); }
  TEST_CASE("mistakes with who looks at whom give what is computed by hand") { check_all(sides); }
  TEST_CASE("mistakes with kernels give what is computed by hand") { check_all(kernels); }

  TEST_CASE("every mistake in a model is tried on numbers that are worked out by hand") {
    const std::vector<std::string_view> here =
        mistakes_in({&norms, &residuals, &feed_forward, &embeddings, &rotations, &sides, &kernels});
    std::set<std::string_view> tried(here.begin(), here.end());
    for (const std::string_view name : tried_in_training()) tried.insert(name);
    for (const std::string_view name : tried_further()) tried.insert(name);
    for (const Mistake& mistake : mistakes_in_models()) {
      CAPTURE(mistake.name);
      CHECK(tried.contains(mistake.name));
    }
  }
}

}  // namespace
