#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/math/random.hpp"

namespace attn {

/// Dropout: in training each number is set to 0 with probability `rate`, and the others are divided by 1 − rate,
/// so that their mean stays. Which numbers are left out is random, and changes from step to step.
/// (Srivastava et al. 2014, Dropout; Vaswani et al. 2017, section 5.4)
class Dropout {
 public:
  explicit Dropout(double rate) : rate_(rate) {}
  Dropout(const Dropout&) = delete;
  Dropout& operator=(const Dropout&) = delete;

  /// The number-th of the open scope. Nothing is left out before the first draw().  [m, n] -> [m, n].
  Value apply(const Value& x, std::size_t number);
  /// Leaves out others in all that it was applied to.
  void draw(Generator& generator);

 private:
  double rate_;
  std::vector<std::shared_ptr<Matrix>> kept_;  // 1, or 0 for what is left out
};

}  // namespace attn
