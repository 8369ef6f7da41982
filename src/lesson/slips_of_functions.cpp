#include "lesson/slip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

// Slips with functions: one that is left out, and one that is taken for another.

namespace attn {
namespace {

using Kind = Working::Kind;

Working called_instead(const Working& call, std::string_view name, double (*function)(double)) {
  Working other = call;
  other.name = name;
  other.function = function;
  return other;
}

// What is taken in place of a function.
struct Exchange {
  std::string_view function, name;
  double (*taken)(double);
  std::string_view says;
};

constexpr double degree = std::numbers::pi / 180;

constexpr Exchange exchanges[] = {
    {"exp", "2^", [](double x) { return std::exp2(x); }, "This is with powers of 2. Take powers of e."},
    {"exp", "10^", [](double x) { return std::pow(10.0, x); },
     "This is with powers of 10. Take powers of e."},
    {"exp", "e·", [](double x) { return std::numbers::e * x; },
     "This is e times the number. Raise e to the power of the number."},
    {"exp", "exp−", [](double x) { return std::exp(-x); }, "The exponent has the wrong sign here."},
    {"exp", "square", [](double x) { return x * x; },
     "This is with squares. Raise e to the power of the number."},
    {"log", "log₂", [](double x) { return std::log2(x); },
     "This is with the logarithm to the base 2. Take the one to the base e."},
    {"log", "log₁₀", [](double x) { return std::log10(x); },
     "This is with the logarithm to the base 10. Take the one to the base e."},
    {"ln", "log₂", [](double x) { return std::log2(x); },
     "This is with the logarithm to the base 2. Take the one to the base e."},
    {"ln", "log₁₀", [](double x) { return std::log10(x); },
     "This is with the logarithm to the base 10. Take the one to the base e."},
    {"sqrt", "half", [](double x) { return x / 2; },
     "This is with half of the number. Take its square root."},
    {"sqrt", "square", [](double x) { return x * x; }, "This is with the square. Take the square root."},
    {"√", "half", [](double x) { return x / 2; }, "This is with half of the number. Take its square root."},
    {"√", "square", [](double x) { return x * x; }, "This is with the square. Take the square root."},
    {"sin", "cos", [](double x) { return std::cos(x); }, "This is with the cosine. Take the sine."},
    {"cos", "sin", [](double x) { return std::sin(x); }, "This is with the sine. Take the cosine."},
    {"sin", "sin°", [](double x) { return std::sin(x * degree); },
     "This is the sine in degrees. Use radians."},
    {"cos", "cos°", [](double x) { return std::cos(x * degree); },
     "This is the cosine in degrees. Use radians."},
    {"ReLU", "abs", [](double x) { return std::fabs(x); },
     "This is with the absolute value. ReLU makes 0 of a negative number."},
    {"tanh", "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); },
     "This is with the sigmoid function. Take tanh."},
    {"sigmoid", "tanh", [](double x) { return std::tanh(x); },
     "This is with tanh. Take the sigmoid function."},
};

}  // namespace

void add_slips_of_call(const Working& call, Slips& slips) {
  slips.push_back(
      {call.parts[0], fmt::format("This is without {}. Take {} of the number first.",
                                  call.name == "√" || call.name == "sqrt" ? "the square root" : call.name,
                                  call.name == "√" || call.name == "sqrt" ? "the square root" : call.name)});
  for (const Exchange& exchange : exchanges) {
    if (exchange.function == call.name)
      slips.push_back({called_instead(call, exchange.name, exchange.taken), std::string(exchange.says)});
  }
}

// A number that is written as a root.
void add_slips_of_constant(const Working& constant, Slips& slips) {
  const double* const value = std::get_if<double>(&constant.constant);
  if (!value || !constant.name.starts_with("√")) return;
  slips.push_back(
      {constant_of(*value * *value), fmt::format("The root is missing here: it is {}.", constant.name)});
  slips.push_back({constant_of(*value * *value / 2),
                   fmt::format("This is with half of the number. Take its square root: {}.", constant.name)});
}
std::size_t count_of_calls(const Working& working, std::string_view called) {
  std::size_t count = working.kind == Kind::call && working.name == called ? 1 : 0;
  for (const Working& part : working.parts) count += count_of_calls(part, called);
  return count;
}
// A function that is called several times, above and below the line of a fraction, is mistaken in all places.
Slips slips_everywhere(const Working& working) {
  Slips slips;
  for (const std::string_view name : {"exp", "log", "ln", "sqrt", "√", "sin", "cos", "tanh", "ReLU"}) {
    if (count_of_calls(working, name) < 2) continue;
    slips.push_back({everywhere(working, name, [](const Working& call) { return call.parts.front(); }),
                     fmt::format("This is without {}. Take {} of each number first.", name, name)});
  }
  for (const Exchange& exchange : exchanges) {
    if (count_of_calls(working, exchange.function) < 2) continue;
    const auto taken = [&](const Working& call) {
      return called_instead(call, exchange.name, exchange.taken);
    };
    slips.push_back({everywhere(working, exchange.function, taken), std::string(exchange.says)});
  }
  return slips;
}

}  // namespace attn
