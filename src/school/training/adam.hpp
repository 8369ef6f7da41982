#pragma once

#include <span>

#include "core/math/matrix.hpp"
#include "core/math/rows.hpp"
#include "school/training/task.hpp"

namespace attn {

/// Moments of the gradients of one parameter, as Adam remembers them.  (Kingma and Ba 2015, algorithm 1)
struct Moments {
  Matrix first, second;
};

/// The length of all gradients as one vector: the same bits on every processor.
double norm_of(std::span<const Matrix* const> gradients);

/// What a gradient is multiplied by so that the norm of all is at most `most`; 1 where it is, or where `most`
/// is 0.  (Pascanu et al. 2013, algorithm 1)
double clipping(double norm, double most);

/// One step of Adam on one parameter, from its gradient times `factor`. Steps count from 1.
/// (Kingma and Ba 2015, algorithm 1)
struct AdamStep {
  AdamStep(const TrainingOptions& options, std::size_t step, double gradient_factor);
  void apply(Matrix& parameter, const Matrix& gradient, Moments& moments) const;

  AdamNumbers numbers;
};

}  // namespace attn
