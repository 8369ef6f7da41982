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

Working called_instead(const Working& call, const Function& function) {
  Working other = call;
  other.function = &function;
  return other;
}

// What is taken in place of a function.
struct Exchange {
  const Function* function;
  Function taken;
  std::string_view says;
};

constexpr double degree = std::numbers::pi / 180;

// One that is not the field's, as a slip makes it.
constexpr Function slip(std::string_view name, double (*evaluate)(double)) {
  return {name, name, evaluate, nullptr};
}

const Exchange exchanges[] = {
    {&exponential, slip("2^", [](double x) { return std::exp2(x); }),
     "This is with powers of 2. Take powers of e."},
    {&exponential, slip("10^", [](double x) { return std::pow(10.0, x); }),
     "This is with powers of 10. Take powers of e."},
    {&exponential, slip("e·", [](double x) { return std::numbers::e * x; }),
     "This is e times the number. Raise e to the power of the number."},
    {&exponential, slip("exp−", [](double x) { return std::exp(-x); }),
     "The exponent has the wrong sign here."},
    {&exponential, slip("square", [](double x) { return x * x; }),
     "This is with squares. Raise e to the power of the number."},
    {&logarithm, slip("log₂", [](double x) { return std::log2(x); }),
     "This is with the logarithm to the base 2. Take the one to the base e."},
    {&logarithm, slip("log₁₀", [](double x) { return std::log10(x); }),
     "This is with the logarithm to the base 10. Take the one to the base e."},
    {&square_root, slip("half", [](double x) { return x / 2; }),
     "This is with half of the number. Take its square root."},
    {&square_root, slip("square", [](double x) { return x * x; }),
     "This is with the square. Take the square root."},
    {&sine, cosine, "This is with the cosine. Take the sine."},
    {&cosine, sine, "This is with the sine. Take the cosine."},
    {&sine, slip("sin°", [](double x) { return std::sin(x * degree); }),
     "This is the sine in degrees. Use radians."},
    {&cosine, slip("cos°", [](double x) { return std::cos(x * degree); }),
     "This is the cosine in degrees. Use radians."},
    {&rectifier, absolute_value, "This is with the absolute value. ReLU makes 0 of a negative number."},
    {&hyperbolic_tangent, logistic, "This is with the sigmoid function. Take tanh."},
    {&logistic, hyperbolic_tangent, "This is with tanh. Take the sigmoid function."},
};

std::string_view in_words(const Function& function) {
  return &function == &square_root ? "the square root" : function.name;
}

}  // namespace

void add_slips_of_call(const Working& call, Slips& slips) {
  slips.push_back({call.parts[0], fmt::format("This is without {0}. Take {0} of the number first.",
                                              in_words(*call.function))});
  for (const Exchange& exchange : exchanges) {
    if (exchange.function == call.function)
      slips.push_back({called_instead(call, exchange.taken), std::string(exchange.says)});
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

namespace {

void collect_calls(const Working& working, std::vector<const Function*>& called) {
  if (working.kind == Kind::call) called.push_back(working.function);
  for (const Working& part : working.parts) collect_calls(part, called);
}

// Those that are called several times, each once.
std::vector<const Function*> often_called(const Working& working) {
  std::vector<const Function*> called, often;
  collect_calls(working, called);
  for (const Function* function : called) {
    if (std::ranges::count(called, function) > 1 && std::ranges::find(often, function) == often.end())
      often.push_back(function);
  }
  return often;
}

}  // namespace

// A function that is called several times, above and below the line of a fraction, is mistaken in all places.
Slips slips_everywhere(const Working& working) {
  Slips slips;
  for (const Function* function : often_called(working)) {
    slips.push_back(
        {everywhere(working, *function, [](const Working& call) { return call.parts.front(); }),
         fmt::format("This is without {0}. Take {0} of each number first.", in_words(*function))});
    for (const Exchange& exchange : exchanges) {
      if (exchange.function != function) continue;
      const auto taken = [&](const Working& call) { return called_instead(call, exchange.taken); };
      slips.push_back({everywhere(working, *function, taken), std::string(exchange.says)});
    }
  }
  return slips;
}

}  // namespace attn
