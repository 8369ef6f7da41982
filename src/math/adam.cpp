#include "math/adam.hpp"

#include <cmath>

#include "math/instructions.hpp"

namespace attn {
namespace {

ATTN_FOR_EACH_PROCESSOR void step(double* __restrict p, double* __restrict m, double* __restrict v,
                                  const double* __restrict g, std::size_t n, const AdamNumbers& numbers) {
  const AdamNumbers by = numbers;
  for (std::size_t j = 0; j < n; ++j) {
    const double now = g[j] * by.factor;
    m[j] = by.beta_1 * m[j] + (1.0 - by.beta_1) * now;
    v[j] = by.beta_2 * v[j] + (1.0 - by.beta_2) * (now * now);
    p[j] -= by.rate * (m[j] * by.first_correction) / (std::sqrt(v[j] * by.second_correction) + by.epsilon);
  }
}

}  // namespace

void take_adam_step(std::span<double> parameter, std::span<double> first, std::span<double> second,
                    std::span<const double> gradient, const AdamNumbers& numbers) {
  step(parameter.data(), first.data(), second.data(), gradient.data(), parameter.size(), numbers);
}

}  // namespace attn
