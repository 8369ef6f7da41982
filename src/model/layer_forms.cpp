#include "model/layer_forms.hpp"

#include "attention/attention.hpp"
#include "attention/scale.hpp"
#include "op/operations.hpp"

namespace attn {
namespace {

std::size_t count_of(const Value& x) {
  return x.shape().rows;
}

Positions positions_of(const Value& x) {
  Positions positions;
  for (std::size_t i = 0; i < count_of(x); ++i) positions.push_back(rows(x, i, 1));
  return positions;
}

Recipe scaled_dot(const Layer& layer) {
  return {.divisor = divisor("sqrt-dk", {.d_k = layer.sizes.d})};
}

// A recipe names its steps: each query has a scope of its own.
Positions attend(const Positions& q, const Value& k, const Value& v, const Layer& layer) {
  Positions outputs;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const Graph::Scope scope(k.graph(), scope::query, i + 1);
    outputs.push_back(attention(q[i], k, v, scaled_dot(layer)));
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

Window around(const Layer& layer) {
  return {-static_cast<std::ptrdiff_t>((layer.sizes.k - 1) / 2), 1};
}

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
Value shifted(const Value& x, const Value& zeros, std::ptrdiff_t shift) {
  const std::size_t n = count_of(x), size = std::min(n, static_cast<std::size_t>(std::abs(shift)));
  if (size == 0) return x;
  if (size == n) return zeros;
  if (shift < 0) return stack({rows(zeros, 0, size), rows(x, 0, n - size)});
  return stack({rows(x, size, n - size), rows(zeros, 0, size)});
}

Value convolve(const Value& x, Window window, const Layer& layer) {
  const Value zeros =
      x.graph().input(role::padding, Matrix(x.shape(), 0.0), axis("padding"), axis("features"));
  Positions places;
  for (std::size_t j = 0; j < layer.sizes.k; ++j) {
    places.push_back(shifted(x, zeros, window.first + window.gap * static_cast<std::ptrdiff_t>(j)));
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

}  // namespace

Positions self_attention_by_position(const Positions& x, const Layer& layer) {
  const Value all = stack(x);
  return attend(x, all, all, layer);
}

Value self_attention(const Value& x, const Layer& layer) {
  return attention(x, x, x, scaled_dot(layer));
}

Positions projected_attention_by_position(const Positions& x, const Layer& layer) {
  const std::vector<Value>& w = layer.parameters;
  const Positions heads =
      attend(projected(x, w[0]), stack(projected(x, w[1])), stack(projected(x, w[2])), layer);
  return projected(heads, w[3]);
}

Value projected_attention(const Value& x, const Layer& layer) {
  const std::vector<Value>& w = layer.parameters;
  return matmul(attention(matmul(x, w[0]), matmul(x, w[1]), matmul(x, w[2]), scaled_dot(layer)), w[3]);
}

Positions recurrent_by_position(const Positions& x, const Layer& layer) {
  return recur(projected(x, layer.parameters[0]), layer);
}

Value recurrent(const Value& x, const Layer& layer) {
  return stack(recur(positions_of(matmul(x, layer.parameters[0])), layer));
}

Positions convolution_by_position(const Positions& x, const Layer& layer) {
  return convolve(x, around(layer), layer);
}

Value convolution(const Value& x, const Layer& layer) {
  return convolve(x, around(layer), layer);
}

Positions dilated_convolution_by_position(const Positions& x, const Layer& layer) {
  return convolve(x, back(layer), layer);
}

Value dilated_convolution(const Value& x, const Layer& layer) {
  return convolve(x, back(layer), layer);
}

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
  const std::size_t n = count_of(x), d = layer.sizes.d;
  const Value all = matmul(concatenate(positions_of(x)), layer.parameters.front());
  Positions outputs;
  for (std::size_t i = 0; i < n; ++i) outputs.push_back(columns(all, i * d, d));
  return stack(outputs);
}

}  // namespace attn
