#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/graph/function.hpp"
#include "school/tutor/slips.hpp"

// Slips with functions: one that is left out, and one that is taken for another.

namespace attn {

namespace {

Term called_instead(const Term& call, const Function& function) {
  Term other = call;
  other.function = &function;
  return other;
}

// What is taken in place of a function.
struct Exchange {
  const Function* function;
  Function taken;
  std::string_view says;
  SlipLikelihood often = SlipLikelihood::function;
};

constexpr double degree = std::numbers::pi / 180;

// One that is not the field's, as a slip makes it.
constexpr Function slip(std::string_view name, double (*evaluate)(double)) { return {name, name, evaluate, nullptr}; }

const Exchange exchanges[] = {
    {&exponential, slip("2^", [](double x) { return std::exp2(x); }), "This is with powers of 2. Take powers of e.",
     SlipLikelihood::rare},
    {&exponential, slip("10^", [](double x) { return std::pow(10.0, x); }),
     "This could be with powers of 10. Take powers of e.", SlipLikelihood::rare},
    {&exponential, slip("e·", [](double x) { return std::numbers::e * x; }),
     "This could be with e times the number. Raise e to the power of the number.", SlipLikelihood::rare},
    {&exponential, slip("exp−", [](double x) { return std::exp(-x); }), "The exponent has the wrong sign here.",
     SlipLikelihood::rare},
    {&exponential, slip("square", [](double x) { return x * x; }),
     "This could be with squares. Raise e to the power of the number.", SlipLikelihood::rare},
    {&logarithm, slip("log₂", [](double x) { return std::log2(x); }),
     "This is with the logarithm to the base 2. Take the one to the base e."},
    {&logarithm, slip("less 1", [](double x) { return x - 1; }),
     "This is with 1 minus the number. Take its logarithm."},
    {&logarithm, slip("log₁₀", [](double x) { return std::log10(x); }),
     "This is with the logarithm to the base 10. Take the one to the base e."},
    {&square_root, slip("half", [](double x) { return x / 2; }),
     "This could be with half of the number. Take its square root.", SlipLikelihood::rare},
    {&square_root, slip("square", [](double x) { return x * x; }),
     "This could be with the square. Take the square root.", SlipLikelihood::rare},
    {&sine, cosine, "This is with the cosine. Take the sine."},
    {&cosine, sine, "This is with the sine. Take the cosine."},
    {&sine, slip("sin°", [](double x) { return std::sin(x * degree); }), "This is the sine in degrees. Use radians."},
    {&cosine, slip("cos°", [](double x) { return std::cos(x * degree); }),
     "This is the cosine in degrees. Use radians."},
    {&rectifier, absolute_value, "This is with the absolute value. ReLU makes 0 of a negative number."},
    {&hyperbolic_tangent, logistic, "This is with the sigmoid function. Take tanh."},
    {&logistic, hyperbolic_tangent, "This is with tanh. Take the sigmoid function."},
};

std::string told_without(const Function& function) {
  if (&function == &exponential) return "This is without the exponential. Take e to the power of each number first.";
  const std::string_view name = &function == &square_root ? "the square root" : function.name;
  return fmt::format("This is without {0}. Take {0} of the number first.", name);
}

void collect_calls(const Term& working, std::vector<const Function*>& called) {
  if (working.kind == Term::Kind::call) called.push_back(working.function);
  for (const Term& part : working.parts) collect_calls(part, called);
}

}  // namespace

void add_slips_of_call(const Term& call, Slips& slips) {
  slips.push_back({call.parts[0], told_without(*call.function), SlipLikelihood::function});
  for (const Exchange& exchange : exchanges) {
    if (exchange.function == call.function)
      slips.push_back({called_instead(call, exchange.taken), std::string(exchange.says), exchange.often});
  }
  static constexpr Function reciprocal = slip("1/", [](double x) { return 1 / std::fabs(x); });
  if (call.function == &exponential)
    slips.push_back({called_instead(call, reciprocal),
                     "This could be 1 divided by the number. Raise e to the power of it.", SlipLikelihood::rare});
  if (call.function == &logarithm)
    slips.push_back({called_instead(call, reciprocal), "This could be 1 divided by the number. Take its logarithm.",
                     SlipLikelihood::rare});
}

// A number that is written as a root.
void add_slips_of_constant(const Term& constant, Slips& slips) {
  const double* const value = std::get_if<double>(&constant.constant);
  if (!value || !constant.notation.plain.starts_with("√")) return;
  slips.push_back(
      {constant_of(*value * *value), fmt::format("The root is missing here: it is {}.", constant.notation.plain)});
  slips.push_back(
      {constant_of(*value * *value / 2),
       fmt::format("This could be with half of the number. Take its square root: {}.", constant.notation.plain),
       SlipLikelihood::rare});
}

std::vector<const Function*> often_called(const Term& working) {
  std::vector<const Function*> called, often;
  collect_calls(working, called);
  for (const Function* function : called) {
    if (std::ranges::count(called, function) > 1 && std::ranges::find(often, function) == often.end())
      often.push_back(function);
  }
  return often;
}

// A function that is called several times, above and below the line of a fraction, is mistaken in all places.
Slips slips_everywhere(const Term& working) {
  Slips slips;
  if (Term unsigned_working = without_signs(working, true); has_minus(working) && size_of(working) > 1)
    slips.push_back({std::move(unsigned_working), "A minus sign is lost here.", SlipLikelihood::rare});
  for (const Function* function : often_called(working)) {
    slips.push_back({replace_calls(working, *function, [](const Term& call) { return call.parts.front(); }),
                     told_without(*function), SlipLikelihood::function});
    for (const Exchange& exchange : exchanges) {
      if (exchange.function != function) continue;
      const auto taken = [&](const Term& call) { return called_instead(call, exchange.taken); };
      slips.push_back({replace_calls(working, *function, taken), std::string(exchange.says), exchange.often});
    }
  }
  return slips;
}

}  // namespace attn
