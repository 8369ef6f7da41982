#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "model/layers.hpp"

namespace attn {

/// The median of several runs: one that was interrupted does not count. `run` returns its seconds.
template <class Run>
double median_seconds(const Run& run) {
  constexpr std::size_t repetitions = 5;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repetitions; ++i) seconds.push_back(run());
  std::ranges::sort(seconds);
  return seconds[repetitions / 2];
}

/// How long something takes.
template <class Action>
double seconds_of(const Action& action) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How long one layer takes, of which only the result is kept.
double layer_seconds(const LayerKind& kind, LayerSizes sizes);

}  // namespace attn
