#include "core/graph/function.hpp"

#include <cmath>

#include "core/math/elementary_functions.hpp"

namespace attn {

namespace {

template <double (*f)(double)>
void each(std::span<double> x) {
  for (double& value : x) value = f(value);
}

double root_of_number(double x) { return std::sqrt(x); }
double magnitude_of(double x) { return std::fabs(x); }

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr bool from_result = true, from_argument = false;

// clang-format off
constexpr Derivative
    of_tanh         = {from_result,   elementary::slope_of_tanh,         elementary::multiply_by_slope_of_tanh},
    of_logistic     = {from_result,   elementary::slope_of_logistic,     elementary::multiply_by_slope_of_logistic},
    of_rectifier    = {from_result,   elementary::slope_of_relu,         elementary::multiply_by_slope_of_relu},
    of_gelu         = {from_argument, elementary::slope_of_gelu,         elementary::multiply_by_slope_of_gelu},
    of_gelu_by_tanh = {from_argument, elementary::slope_of_gelu_by_tanh, elementary::multiply_by_slope_of_gelu_by_tanh},
    of_silu         = {from_argument, elementary::slope_of_silu,         elementary::multiply_by_slope_of_silu};
// clang-format on

}  // namespace

// clang-format off
const Function
    exponential           = {"exp",       "\\exp",
        elementary::exp, elementary::exp, nullptr, {0.0, unbounded, "A power of e is never negative."}},
    hyperbolic_tangent    = {"tanh",      "\\tanh",
        elementary::tanh, elementary::tanh, &of_tanh, {-1.0, 1.0, "tanh lies between −1 and 1."}},
    error_function        = {"erf",       "\\operatorname{erf}",
        elementary::erf, elementary::erf},
    logistic              = {"sigmoid",   "\\sigma",
        elementary::logistic, elementary::logistic, &of_logistic,
        {0.0, 1.0, "The sigmoid function lies between 0 and 1."}},
    rectifier             = {"ReLU",      "\\operatorname{ReLU}",
        elementary::relu, elementary::relu, &of_rectifier, {0.0, unbounded, "ReLU is never negative."}},
    gelu_function         = {"GELU",      "\\operatorname{GELU}",
        elementary::gelu, elementary::gelu, &of_gelu},
    gelu_by_tanh_function = {"GELU_tanh", "\\operatorname{GELU}_{\\tanh}",
        elementary::gelu_by_tanh, elementary::gelu_by_tanh, &of_gelu_by_tanh},
    silu_function         = {"SiLU",      "\\operatorname{SiLU}",
        elementary::silu, elementary::silu, &of_silu},
    sine                  = {"sin",       "\\sin",
        elementary::sin, each<elementary::sin>, nullptr, {-1.0, 1.0, "A sine lies between −1 and 1."}},
    cosine                = {"cos",       "\\cos",
        elementary::cos, each<elementary::cos>, nullptr, {-1.0, 1.0, "A cosine lies between −1 and 1."}},
    square_root           = {"√",         "\\operatorname{sqrt}",
        root_of_number, each<root_of_number>, nullptr, {0.0, unbounded, "A square root is never negative."}},
    logarithm             = {"ln",        "\\ln",
        elementary::log, each<elementary::log>},
    absolute_value        = {"abs",       "\\operatorname{abs}",
        magnitude_of, each<magnitude_of>, nullptr, {0.0, unbounded, "An absolute value is never negative."}};
// clang-format on

}  // namespace attn
