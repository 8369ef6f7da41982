#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace attn {

/// The derivative of a function of one number, as it is worked out from z: from the function's result, where
/// that says it exactly, or else from its argument.
struct Derivative {
  bool of_result;
  double (*evaluate)(double z);
  void (*multiply)(std::span<double> d, std::span<const double> z);  // d ← d · f′, cell by cell
};

/// Between which numbers results lie, whatever they are computed from, and the sentence that says so. Without
/// bounds there is none.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::string_view says = {};
};

/// A function of one number that a term may call.
struct Function {
  std::string_view name;
  std::string_view latex;
  double (*evaluate)(double);
  void (*evaluate_all)(std::span<double> x);  // x ← f(x), cell by cell
  const Derivative* derivative = nullptr;     // null: no operation applies it to every cell
  Bounds bounds = {};
};
extern const Function exponential;
extern const Function hyperbolic_tangent;
extern const Function error_function;  // erf
extern const Function logistic;        // 1 / (1 + exp(−x))
extern const Function rectifier;       // max(x, 0), and NaN where x is
/// x Φ(x), where Φ is the distribution of a standard normal variable, and 0.5 x (1 + tanh(√(2/π) (x +
/// 0.044715 x³))), which is close to it.  (Hendrycks and Gimpel 2016, Gaussian Error Linear Units, section 2)
extern const Function gelu_function;
extern const Function gelu_by_tanh_function;
extern const Function silu_function;  // x / (1 + exp(−x))  (Hendrycks and Gimpel 2016, section 2)
extern const Function sine;
extern const Function cosine;
extern const Function square_root;
extern const Function logarithm;  // to the base e
extern const Function absolute_value;

}  // namespace attn
