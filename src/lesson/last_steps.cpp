#include "lesson/last_steps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "graph/graph.hpp"
#include "lesson/slip.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

using Kind = Working::Kind;

// The m of exp(a − m), or null.
const Working* shift_of(const Working& working) {
  const bool is_shifted = working.kind == Kind::call && working.function == &exponential &&
                          working.parts[0].kind == Kind::sum && working.parts[0].parts.size() == 2 &&
                          is_negative(working.parts[0].parts[1]);
  return is_shifted ? &working.parts[0].parts[1].parts[0] : nullptr;
}

Working shifted(const Working& working, const std::function<Working(const Working&)>& by) {
  return everywhere(working, exponential, [&](const Working& call) {
    if (!shift_of(call)) return call;
    Working other = call;
    other.parts[0] = by(call.parts[0].parts[0]);
    return other;
  });
}

void collect_exponents(const Working& working, std::vector<double>& exponents) {
  if (shift_of(working)) exponents.push_back(number_from(working.parts[0].parts[0]));
  for (const Working& part : working.parts) collect_exponents(part, exponents);
}

// The softmax of a cell is explained with the largest score subtracted. Here it is as its definition says,
// where that can be computed.
Working unshifted(const Working& steps) {
  constexpr double most = 300.0;
  std::vector<double> exponents;
  collect_exponents(steps, exponents);
  if (exponents.size() < 2 || std::ranges::max(exponents) > most || std::ranges::max(exponents) < -most)
    return steps;
  return shifted(steps, [](const Working& exponent) { return exponent; });
}

// And here with the smallest one subtracted, as it is done by hand.
std::optional<Working> shifted_by_least(const Working& steps) {
  constexpr double most = 300.0;
  std::vector<double> exponents;
  collect_exponents(steps, exponents);
  std::erase_if(exponents, [](double exponent) { return !std::isfinite(exponent); });
  if (exponents.size() < 2) return std::nullopt;
  const double least = std::ranges::min(exponents);
  if (least == 0.0 || std::ranges::max(exponents) - least > most) return std::nullopt;
  return shifted(steps, [&](const Working& exponent) {
    return made_of(Kind::sum, {exponent, made_of(Kind::negative, {constant_of(least)})});
  });
}

}  // namespace

Working with_numbers(Working working, const std::vector<double>& given) {
  for (Working& part : working.parts) part = with_numbers(std::move(part), given);
  if (working.kind != Kind::cell) return working;
  const double value = number_from(working);
  for (const double number : given) {
    const std::string digits = written(std::fabs(number));
    const std::size_t point = digits.find('.');
    if (point == std::string::npos) continue;
    const double half = 0.5 * std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
    if (std::fabs(value - number) <= half * (1 + 1e-9)) return constant_of(number);
  }
  return working;
}

namespace {

// A cell's own terms in place of the cell; of another name for a matrix, the terms behind it.
Working explained(const Working& asked) {
  constexpr int deepest = 4;
  Working steps = asked;
  for (int depth = 0; steps.kind == Kind::cell && depth < deepest; ++depth) {
    const Cell cell{steps.node, steps.row, steps.column};
    Working next = working_of(explain(cell).expression);
    const bool is_same = next.kind == Kind::cell && Cell{next.node, next.row, next.column} == cell;
    if (is_same || next.kind == Kind::constant || size_of(next) > most_parts) break;
    steps = std::move(next);
  }
  return steps;
}

}  // namespace

Working last_steps(const Working& asked) {
  return asked.kind == Kind::cell ? unshifted(explained(asked)) : asked;
}
std::optional<Working> steps_by_hand(const Working& asked) {
  return asked.kind == Kind::cell ? shifted_by_least(explained(asked)) : std::nullopt;
}

}  // namespace attn
