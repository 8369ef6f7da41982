#include <algorithm>
#include <array>

#include "mistake/parts.hpp"

// Mistakes with learned maps outside of attention.

namespace attn {
namespace {

bool is_one_of(const Node& node, std::span<const Role* const> some) {
  return std::ranges::any_of(some, [&](const Role* one) { return node.is(*one); });
}

// Those of attention have rows of their own, and so do the biases of feed-forward layers.
constexpr std::array matrices = {&role::w_1,  &role::w_2,  &role::w,    &role::w_s,  &role::w_xh,
                                 &role::w_hh, &role::w_xr, &role::w_hr, &role::w_xz, &role::w_hz};
constexpr std::array biases = {&role::b, &role::b_s, &role::b_h, &role::b_r, &role::b_z};

// A product with a square matrix, which also fits when it is transposed.
Made transposed(const Node& node, Rewriting& again) {
  if (!node.operation || !is_matmul(*node.operation) || is_gradient(node)) return std::nullopt;
  const Node& w = *node.operands[1];
  if (!is_one_of(w, matrices) || w.frame.shape.rows != w.frame.shape.columns) return std::nullopt;
  return matmul_transposed(again.of(*node.operands[0]), again.of(w));
}

Made bias_missing(const Node& node, Rewriting& again) {
  const Node* const added = operand(node, 1);
  return added && is_one_of(*added, biases) ? Made(again.of(*node.operands[0])) : std::nullopt;
}

constexpr std::array table = {
    Mistake{"maps-transposed", error, "square matrices used transposed",
            "This is what the transposed square matrices give, as if there were a row for each output "
            "(nn.Linear of PyTorch stores them so). Here a matrix has a row for each input: x W. A square "
            "matrix fits both ways.",
            transposed},
    Mistake{"bias-missing", error, "no bias",
            "This is what comes out without the bias. Add it behind the product.", bias_missing},
};

}  // namespace

std::span<const Mistake> mistakes_of_maps() {
  return table;
}

}  // namespace attn
