#include "school/training/adam.hpp"

#include <cmath>

namespace attn {

namespace {

// By products alone, which are the same everywhere.
double power(double base, std::size_t exponent) {
  double result = 1.0;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

}  // namespace

double norm_of(std::span<const Matrix* const> gradients) {
  double squares = 0.0;
  for (const Matrix* gradient : gradients) squares += dot_product(cells(*gradient), cells(*gradient));
  return std::sqrt(squares);
}

double clipping(double norm, double most) { return most > 0.0 && norm > most ? most / norm : 1.0; }

AdamStep::AdamStep(const TrainingOptions& options, std::size_t step, double gradient_factor)
    : numbers{.rate = options.schedule->rate(options, step),
              .beta_1 = options.beta_1,
              .beta_2 = options.beta_2,
              .epsilon = options.epsilon,
              .factor = gradient_factor,
              .first_correction = 1.0 / (1.0 - power(options.beta_1, step)),
              .second_correction = 1.0 / (1.0 - power(options.beta_2, step))} {}

void AdamStep::apply(Matrix& parameter, const Matrix& gradient, Moments& moments) const {
  take_adam_step(cells(parameter), cells(moments.first), cells(moments.second), cells(gradient), numbers);
}

}  // namespace attn
