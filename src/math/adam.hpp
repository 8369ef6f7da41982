#pragma once

#include <span>

namespace attn {

/// What one step of Adam multiplies with, of all parameters.  (Kingma and Ba 2015, algorithm 1)
struct AdamNumbers {
  double rate, beta_1, beta_2, epsilon;
  double factor;                               // of every gradient, where it is clipped
  double first_correction, second_correction;  // 1 / (1 − β^step)
};

/// One step of Adam on a parameter, with its gradient g in one pass: m ← β₁ m + (1 − β₁) g, v ← β₂ v + (1 −
/// β₂) g², θ ← θ − rate · m̂ / (√v̂ + ε). All have the same size. The same bits on every processor.
void take_adam_step(std::span<double> parameter, std::span<double> first, std::span<double> second,
                    std::span<const double> gradient, const AdamNumbers& numbers);

}  // namespace attn
