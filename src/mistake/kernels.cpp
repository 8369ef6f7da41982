#include <array>
#include <cmath>

#include "attention/score.hpp"
#include "mistake/parts.hpp"

// Mistakes with the Gaussian kernel, by which values near a query are pooled.

namespace attn {
namespace {

/// The scores of a kernel: their width σ², and the queries and keys they were made of.
struct Kernel {
  const Node &q, &k;
  double squared_width;
};

std::optional<Kernel> kernel_of(const Node& node) {
  if (!node.scored_by || node.scored_by->score != gaussian || node.is_alias()) return std::nullopt;
  const Scalar* const width = number_of(*node.operation);
  const Node& distances = width ? *node.operands[0] : node;
  return Kernel{*distances.operands[0], *distances.operands[1], width ? width->value : 1.0};
}

Made by_factor(const Node& node, Rewriting& again, double factor) {
  return times(again.unchanged(node), plain_number(factor));
}

Made width_missing(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel || kernel->squared_width == 1.0) return std::nullopt;
  return by_factor(node, again, kernel->squared_width);
}

Made width_multiplied(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel || kernel->squared_width == 1.0) return std::nullopt;
  return by_factor(node, again, kernel->squared_width * kernel->squared_width);
}

// −½‖q − k‖: the length is its square over the unit vector.
Made distance_not_squared(const Node& node, Rewriting& again) {
  const auto kernel = kernel_of(node);
  if (!kernel) return std::nullopt;
  const Value q = again.of(kernel->q), k = again.of(kernel->k);
  const Value differences = pairwise_sum(q, times(k, plain_number(-1.0)));
  const Value lengths = row_sums(multiply(differences, unit_rows(differences)));
  return times(unpair(lengths, q, k), plain_number(-0.5 / kernel->squared_width));
}

constexpr std::array table = {
    Mistake{"kernel-width-missing", error, "a kernel without its width σ",
            "This is what the kernel gives without its width. Divide by σ².", width_missing},
    Mistake{"kernel-width-multiplied", error, "multiplication by σ² instead of division",
            "This is what multiplication by σ² gives. Divide by σ²: with a wide kernel far keys count more.",
            width_multiplied},
    Mistake{"kernel-distance-not-squared", error, "the distance instead of its square",
            "This is what the distance gives when it is not squared. The score is −½‖q − k‖²/σ².",
            distance_not_squared},
};

}  // namespace

std::span<const Mistake> mistakes_of_kernels() {
  return table;
}

}  // namespace attn
