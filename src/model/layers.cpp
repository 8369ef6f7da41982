#include "model/layers.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "model/layer_forms.hpp"

namespace attn {
namespace {

// Sizes as numbers that do not overflow when they are multiplied.
struct Numbers {
  double n, d, k;
  explicit Numbers(LayerSizes sizes)
      : n(static_cast<double>(sizes.n)), d(static_cast<double>(sizes.d)), k(static_cast<double>(sizes.k)) {}
};

double one(LayerSizes) {
  return 1.0;
}

double all_positions(LayerSizes sizes) {
  return static_cast<double>(sizes.n);
}

double of_convolution(LayerSizes sizes) {
  const Numbers s(sizes);
  return s.k * s.n * s.d * s.d;
}

std::vector<Shape> matrix_of_window(LayerSizes sizes) {
  return {{sizes.k * sizes.d, sizes.d}};
}

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

constexpr std::string_view chapter = "Dive into Deep Learning, 11.6.2",
                           paper = "Vaswani et al. 2017, table 1";
constexpr Growth of_attention = {"O(n²d)", "O(1)", "O(1)", chapter};

constexpr std::array table = {
    LayerKind{"self-attention",
              "only scores and weighted sums: x is queries, keys and values",
              "2n²d",
              of_attention,
              {"O(T²D)", "O(1)", "O(1)"},
              [](LayerSizes sizes) {
                const Numbers s(sizes);
                return 2 * s.n * s.n * s.d;
              },
              [](LayerSizes) { return 4.0; },
              one,
              [](LayerSizes) { return std::vector<Shape>(); },
              self_attention_by_position,
              self_attention},
    LayerKind{"with projections",
              "self-attention with w_q, w_k, w_v and w_o, which O(n²d) leaves out",
              "2n²d + 4nd²",
              {"O(n²d + nd²)", "O(1)", "O(1)"},
              {},
              [](LayerSizes sizes) {
                const Numbers s(sizes);
                return 2 * s.n * s.n * s.d + 4 * s.n * s.d * s.d;
              },
              [](LayerSizes) { return 6.0; },
              one,
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
                const Numbers s(sizes);
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
              one,
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
              one,
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
                const Numbers s(sizes);
                return s.n * s.n * s.d * s.d;
              },
              one,
              one,
              [](LayerSizes sizes) {
                return std::vector<Shape>{{sizes.n * sizes.d, sizes.n * sizes.d}};
              },
              fully_connected_by_position,
              fully_connected},
};

}  // namespace

std::span<const LayerKind> layer_kinds() {
  return table;
}

}  // namespace attn
