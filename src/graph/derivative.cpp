#include <cmath>
#include <numbers>

#include "graph/expression.hpp"
#include "math/elementary.hpp"

// The derivatives of functions of one number. What these are made of is in expression.cpp.

namespace attn {
namespace {

Expression one() {
  return number(1.0);
}
Expression half() {
  return number(0.5);
}

// --- from the result

Expression tanh_worked_out(const Expression& y) {
  return one() - squared(y);
}
Formula tanh_formula(const Formula& y) {
  const Formula whole = within(Binding::whole, y);
  return {"1 − " + whole.plain + "²", "1 - {" + whole.latex + "}^{2}", Binding::sum};
}

Expression logistic_worked_out(const Expression& y) {
  return product({y, one() - y});
}
Formula logistic_formula(const Formula& y) {
  const Formula factor = within(Binding::product, y);
  return {factor.plain + " ⊙ (1 − " + factor.plain + ")",
          factor.latex + " \\odot \\left(1 - " + factor.latex + "\\right)", Binding::product};
}

Expression rectifier_worked_out(const Expression& y) {
  return number(elementary::slope_of_relu(y.value));
}
Formula rectifier_formula(const Formula& y) {
  return {"(1 where " + y.plain + " > 0, else 0)",
          "\\begin{cases}1 & " + y.latex + " > 0 \\\\ 0 & \\text{otherwise}\\end{cases}"};
}

// At 0 itself there is no slope; 0 is what libraries take.
std::string rectifier_reason(const std::string& cell, double y) {
  return y > 0.0 ? cell + " is above 0, where the slope of ReLU is 1"
                 : cell + " is 0: the argument was not above 0, where the slope of ReLU is 0";
}

// --- from the argument

// As an operator name with a stroke: GELU′(x).
template <const Function& function>
Formula with_stroke(const Formula& x) {
  return {std::string(function.name) + "′(" + x.plain + ")",
          std::string(function.latex) + "'\\left(" + x.latex + "\\right)"};
}

// Φ(x) + x φ(x), of the standard normal distribution and its density.
Expression gelu_worked_out(const Expression& x) {
  const Expression root = number(std::numbers::sqrt2, {"√2", "\\sqrt{2}"});
  const Expression density = call(exponential, product({number(-0.5), squared(x)})) /
                             number(std::sqrt(2.0 * std::numbers::pi), {"√(2π)", "\\sqrt{2\\pi}"});
  return sum({product({half(), sum({one(), call(error_function, x / root)})}), product({x, density})});
}

constexpr double cubic = 0.044715;

Expression gelu_by_tanh_worked_out(const Expression& x) {
  const Expression slope = number(std::sqrt(2.0 / std::numbers::pi), {"√(2/π)", "\\sqrt{2/\\pi}"});
  const Expression factor = number(cubic, {"0.044715", "0.044715"});
  const Expression bent = call(hyperbolic_tangent, product({slope, sum({x, product({factor, x, x, x})})}));
  const Expression inner = product({slope, sum({one(), product({number(3.0), factor, squared(x)})})});
  return sum({product({half(), sum({one(), bent})}), product({half(), x, one() - squared(bent), inner})});
}

Expression silu_worked_out(const Expression& x) {
  const Expression s = call(logistic, x);
  return product({s, sum({one(), product({x, one() - s})})});
}

}  // namespace

const Derivative tanh_derivative = {
    true,   elementary::slope_of_tanh, elementary::multiply_by_slope_of_tanh, tanh_worked_out, tanh_formula,
    nullptr};
const Derivative logistic_derivative = {true,
                                        elementary::slope_of_logistic,
                                        elementary::multiply_by_slope_of_logistic,
                                        logistic_worked_out,
                                        logistic_formula,
                                        nullptr};
const Derivative rectifier_derivative = {true,
                                         elementary::slope_of_relu,
                                         elementary::multiply_by_slope_of_relu,
                                         rectifier_worked_out,
                                         rectifier_formula,
                                         rectifier_reason};
const Derivative gelu_derivative = {
    false,           elementary::slope_of_gelu,  elementary::multiply_by_slope_of_gelu,
    gelu_worked_out, with_stroke<gelu_function>, nullptr};
const Derivative gelu_by_tanh_derivative = {false,
                                            elementary::slope_of_gelu_by_tanh,
                                            elementary::multiply_by_slope_of_gelu_by_tanh,
                                            gelu_by_tanh_worked_out,
                                            with_stroke<gelu_by_tanh_function>,
                                            nullptr};
const Derivative silu_derivative = {
    false,           elementary::slope_of_silu,  elementary::multiply_by_slope_of_silu,
    silu_worked_out, with_stroke<silu_function>, nullptr};

}  // namespace attn
