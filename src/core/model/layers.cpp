#include "core/model/layers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "core/attention/attention.hpp"
#include "core/attention/score.hpp"
#include "core/op/operations.hpp"
#include "core/support/text.hpp"

namespace attn {

namespace {

// --- layer forms

// Each kind of layer in its two forms, position by position and as a whole.

using Positions = std::vector<Value>;

std::size_t position_count(const Value& x) { return x.shape().rows; }

Positions positions_of(const Value& x) {
  Positions positions;
  for (std::size_t i = 0; i < position_count(x); ++i) positions.push_back(rows(x, i, 1));
  return positions;
}

AttentionRecipe scaled_dot_recipe(const Layer& layer) {
  return {.divisor = divisor("sqrt-dk", {.d_k = layer.sizes.d})};
}

// A recipe names its steps: each query has a scope of its own.
Positions attend(const Positions& q, const Value& k, const Value& v, const Layer& layer) {
  Positions outputs;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Graph::Scope scope(k.graph(), scope::query, i + 1);
    outputs.push_back(attention(q[i], k, v, scaled_dot_recipe(layer)));
  }
  return outputs;
}

Positions projected(const Positions& x, const Value& w) {
  Positions results;
  for (const Value& position : x) results.push_back(matmul(position, w));
  return results;
}

// Where a window begins: so many positions after its own, or before it. `gap` parts its places.
struct Window {
  std::ptrdiff_t first;
  std::ptrdiff_t gap;
};

Window window_around(const Layer& layer) { return {-static_cast<std::ptrdiff_t>((layer.sizes.k - 1) / 2), 1}; }

Window back(const Layer& layer) {
  std::size_t gap = 1;
  // A gap of n already reaches beyond the first position, however large the kernel.
  for (std::size_t l = 1; l < layer.place && gap < layer.sizes.n; ++l) gap *= layer.sizes.k;
  const auto step = static_cast<std::ptrdiff_t>(gap);
  return {-step * static_cast<std::ptrdiff_t>(layer.sizes.k - 1), step};
}

Positions convolve(const Positions& x, Window window, const Layer& layer) {
  const Value& w = layer.parameters.front();
  const Value padding =
      w.graph().input(role::padding, Matrix({1, layer.sizes.d}, 0.0), axis("padding"), axis("features"));
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  Positions outputs;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    Positions places;
    for (std::size_t j = 0; j < layer.sizes.k; ++j) {
      const std::ptrdiff_t place = i + window.first + window.gap * static_cast<std::ptrdiff_t>(j);
      places.push_back(place < 0 || place >= n ? padding : x[static_cast<std::size_t>(place)]);
    }
    outputs.push_back(matmul(concatenate(places), w));
  }
  return outputs;
}

// Row i is row i + shift of x, or zeros where there is none.
Value rows_shifted(const Value& x, const Value& zeros, std::ptrdiff_t shift) {
  const std::size_t n = position_count(x), size = std::min(n, static_cast<std::size_t>(std::abs(shift)));
  if (size == 0) return x;
  if (size == n) return zeros;
  if (shift < 0) return stack({rows(zeros, 0, size), rows(x, 0, n - size)});
  return stack({rows(x, size, n - size), rows(zeros, 0, size)});
}

Value convolve(const Value& x, Window window, const Layer& layer) {
  const Value zeros = x.graph().input(role::padding, Matrix(x.shape(), 0.0), axis("padding"), axis("features"));
  Positions places;
  for (std::size_t j = 0; j < layer.sizes.k; ++j) {
    places.push_back(rows_shifted(x, zeros, window.first + window.gap * static_cast<std::ptrdiff_t>(j)));
  }
  return matmul(concatenate(places), layer.parameters.front());
}

// From what W_x makes of the inputs.
Positions recur(const Positions& inputs, const Layer& layer) {
  const Value &w_h = layer.parameters[1], &h_0 = layer.parameters[2];
  Positions states;
  for (const Value& input : inputs) {
    const Value& before = states.empty() ? h_0 : states.back();
    states.push_back(attn::tanh(add(matmul(before, w_h), input)));
  }
  return states;
}

// softmax(x xᵀ / √d) x: the embeddings are queries, keys and values.
// (Zhang et al., Dive into Deep Learning, 11.6.1)
Positions self_attention_by_position(const Positions& x, const Layer& layer) {
  const Value all = stack(x);
  return attend(x, all, all, layer);
}

Value self_attention(const Value& x, const Layer& layer) { return attention(x, x, x, scaled_dot_recipe(layer)); }

// The same with w_q, w_k, w_v and w_o.  (Vaswani et al. 2017, section 3.2.2)
Positions projected_attention_by_position(const Positions& x, const Layer& layer) {
  const std::vector<Value>& w = layer.parameters;
  const Positions heads = attend(projected(x, w[0]), stack(projected(x, w[1])), stack(projected(x, w[2])), layer);
  return projected(heads, w[3]);
}

Value projected_attention(const Value& x, const Layer& layer) {
  const std::vector<Value>& w = layer.parameters;
  return matmul(attention(matmul(x, w[0]), matmul(x, w[1]), matmul(x, w[2]), scaled_dot_recipe(layer)), w[3]);
}

// h_t = tanh(x_t W_x + h_{t−1} W_h), one after another.  (Zhang et al., Dive into Deep Learning, 11.6.2)
Positions recurrent_by_position(const Positions& x, const Layer& layer) {
  return recur(projected(x, layer.parameters[0]), layer);
}

Value recurrent(const Value& x, const Layer& layer) {
  return stack(recur(positions_of(matmul(x, layer.parameters[0])), layer));
}

// A window of k neighbors times one matrix: the window lies around its position. Zeros stand beyond the
// ends.  (Zhang et al., Dive into Deep Learning, 11.6.2)
Positions convolution_by_position(const Positions& x, const Layer& layer) {
  return convolve(x, window_around(layer), layer);
}

Value convolution(const Value& x, const Layer& layer) { return convolve(x, window_around(layer), layer); }

// Windows that look back with gaps of k^(l − 1) in layer l, so that l layers see k^l positions.
// (Kalchbrenner et al. 2016; Vaswani et al. 2017, table 1)
Positions dilated_convolution_by_position(const Positions& x, const Layer& layer) {
  return convolve(x, back(layer), layer);
}

Value dilated_convolution(const Value& x, const Layer& layer) { return convolve(x, back(layer), layer); }

// All n·d numbers times one matrix of (n·d)².  (Lin et al. 2022; Stenzel 2023, Transformer Pt. 1)
Positions fully_connected_by_position(const Positions& x, const Layer& layer) {
  const std::size_t d = layer.sizes.d;
  const Value all = concatenate(x);
  Positions outputs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    outputs.push_back(matmul(all, columns(layer.parameters.front(), i * d, d)));
  }
  return outputs;
}

Value fully_connected(const Value& x, const Layer& layer) {
  const std::size_t n = position_count(x), d = layer.sizes.d;
  const Value all = matmul(concatenate(positions_of(x)), layer.parameters.front());
  Positions outputs;
  for (std::size_t i = 0; i < n; ++i) outputs.push_back(columns(all, i * d, d));
  return stack(outputs);
}

// --- layers

// Sizes as numbers that do not overflow when they are multiplied.
struct RealSizes {
  double n, d, k;
  explicit RealSizes(LayerSizes sizes)
      : n(static_cast<double>(sizes.n)), d(static_cast<double>(sizes.d)), k(static_cast<double>(sizes.k)) {}
};

double one_step(LayerSizes) { return 1.0; }

double all_positions(LayerSizes sizes) { return static_cast<double>(sizes.n); }

double of_convolution(LayerSizes sizes) {
  const RealSizes s(sizes);
  return s.k * s.n * s.d * s.d;
}

std::vector<Shape> matrix_of_window(LayerSizes sizes) { return {{sizes.k * sizes.d, sizes.d}}; }

// Each layer reaches k − 1 positions further.
double contiguous_path(LayerSizes sizes) {
  if (sizes.n == 1) return 1.0;
  if (sizes.k == 1) return std::numeric_limits<double>::infinity();
  return static_cast<double>((sizes.n - 1 + sizes.k - 2) / (sizes.k - 1));
}

// Each layer reaches k times as far.
double dilated_path(LayerSizes sizes) {
  if (sizes.n == 1) return 1.0;
  if (sizes.k == 1) return std::numeric_limits<double>::infinity();
  double layers = 1.0;
  for (std::size_t reach = sizes.k; reach < sizes.n; reach *= sizes.k) ++layers;
  return layers;
}

constexpr std::string_view chapter = "Dive into Deep Learning, 11.6.2", paper = "Vaswani et al. 2017, table 1";
constexpr Complexity of_attention = {"O(n²d)", "O(1)", "O(1)", chapter};

constexpr std::array layer_kind_table = {
    LayerKind{"self-attention",
              "only scores and weighted sums: x is queries, keys and values",
              "2n²d",
              of_attention,
              {"O(T²D)", "O(1)", "O(1)"},
              [](LayerSizes sizes) {
                const RealSizes s(sizes);
                return 2 * s.n * s.n * s.d;
              },
              [](LayerSizes) { return 4.0; },
              one_step,
              [](LayerSizes) { return std::vector<Shape>(); },
              self_attention_by_position,
              self_attention},
    LayerKind{"with projections",
              "self-attention with w_q, w_k, w_v and w_o, which O(n²d) leaves out",
              "2n²d + 4nd²",
              {"O(n²d + nd²)", "O(1)", "O(1)"},
              {},
              [](LayerSizes sizes) {
                const RealSizes s(sizes);
                return 2 * s.n * s.n * s.d + 4 * s.n * s.d * s.d;
              },
              [](LayerSizes) { return 6.0; },
              one_step,
              [](LayerSizes sizes) {
                return std::vector<Shape>(4, {sizes.d, sizes.d});
              },
              projected_attention_by_position,
              projected_attention},
    LayerKind{"recurrent",
              "one state after another, each from its input and the previous state",
              "2nd²",
              {"O(nd²)", "O(n)", "O(n)", chapter},
              {"O(TD²)", "O(T)", "O(T)"},
              [](LayerSizes sizes) {
                const RealSizes s(sizes);
                return 2 * s.n * s.d * s.d;
              },
              [](LayerSizes sizes) { return 3.0 * static_cast<double>(sizes.n); },
              all_positions,
              [](LayerSizes sizes) {
                return std::vector<Shape>{{sizes.d, sizes.d}, {sizes.d, sizes.d}, {1, sizes.d}};
              },
              recurrent_by_position,
              recurrent},
    LayerKind{"convolution",
              "windows of k neighboring positions, zeros beyond the ends",
              "knd²",
              {"O(knd²)", "O(1)", "O(n/k)", chapter},
              {},
              of_convolution,
              one_step,
              contiguous_path,
              matrix_of_window,
              convolution_by_position,
              convolution},
    LayerKind{"dilated",
              "windows of k positions up to its own, k^(l−1) apart in layer l",
              "knd²",
              {"O(knd²)", "O(1)", "O(log_k n)", paper},
              {"O(KTD²)", "O(1)", "O(log_K T)"},
              of_convolution,
              one_step,
              dilated_path,
              matrix_of_window,
              dilated_convolution_by_position,
              dilated_convolution},
    LayerKind{"fully connected",
              "every number of every position depends on every number of the input",
              "n²d²",
              {"O(n²d²)", "O(1)", "O(1)"},
              {"O(T²D²)", "O(1)", "O(1)"},
              [](LayerSizes sizes) {
                const RealSizes s(sizes);
                return s.n * s.n * s.d * s.d;
              },
              one_step,
              one_step,
              [](LayerSizes sizes) {
                return std::vector<Shape>{{sizes.n * sizes.d, sizes.n * sizes.d}};
              },
              fully_connected_by_position,
              fully_connected},
};

}  // namespace

std::span<const LayerKind> layer_kinds() { return layer_kind_table; }

const LayerKind& layer_kind(std::string_view name) { return look_up(layer_kinds(), name, "kind of layer"); }

}  // namespace attn
