#include "school/tutor/steps.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/support/number.hpp"
#include "core/term/functions.hpp"
#include "core/term/working.hpp"
#include "school/tutor/known.hpp"
#include "school/tutor/slips.hpp"

namespace attn {

// --- first step

namespace {

constexpr std::size_t longest_step = 72, most_numbers_in_step = 8;

// The operation that is done first: its parts are numbers.
const Working* innermost(const Working& working) {
  for (const Working& part : working.parts) {
    const bool is_sign = part.kind == TermKind::inverse || part.kind == TermKind::negative;
    const Working& inner = is_sign ? part.parts.front() : part;
    if (!inner.parts.empty()) return innermost(inner);
  }
  return working.parts.empty() ? nullptr : &working;
}

// What there is to look at, where nothing is worked out.
std::string where_to_look(const Working& asked) {
  switch (asked.kind) {
    case TermKind::row: {
      const std::vector<double> row = asked.node->row(asked.row);
      if (row.size() < 2 || row.size() > most_numbers_in_step) return "";
      std::vector<std::string> numbers;
      for (const double number : row) numbers.push_back(in_numbers(constant_of(number)));
      return fmt::format("look at the numbers of the row: {}", fmt::join(numbers, ", "));
    }
    case TermKind::shape:
      return fmt::format("find {}, and count its rows and its columns", asked.node->title());
    case TermKind::size:
      if (!asked.node) return "";
      return fmt::format("find {}, and count its {}", asked.node->title(),
                         asked.side == &Shape::rows ? "rows" : "columns");
    default:
      return "";
  }
}

std::string first_step_to_number(const Working& asked) {
  const Working steps = last_steps(asked);
  const Working* const first = innermost(steps);
  if (!first) return where_to_look(steps);
  const std::string numbers = in_numbers(*first);
  if (numbers.size() > longest_step) return "";
  if (first == &steps || equal_but_for_last_bits(number_from(*first), number_from(steps))) return numbers;
  return fmt::format("{} = {}", numbers, in_numbers(constant_of(number_from(*first))));
}

std::string first_step_to_shape(const Working& asked) {
  const std::vector<const Node*> operands = asked.node->named_operands();
  if (!asked.node->original().operation || operands.empty()) return where_to_look(asked);
  std::vector<std::string> shapes;
  for (const Node* operand : operands)
    shapes.push_back(fmt::format("{} is {}", operand->title(), written(operand->frame.shape)));
  return fmt::format("{}. {}", formula_of(*asked.node).plain, fmt::join(shapes, ", "));
}

std::string first_step_to_choice(const Working& asked) {
  for (const Working& side : asked.parts) {
    const Working steps = last_steps(side);
    const Working* const first = innermost(steps);
    if (first && in_numbers(*first).size() <= longest_step)
      return fmt::format("{} = {}", in_numbers(*first), in_numbers(constant_of(number_from(*first))));
  }
  return "";
}

}  // namespace

std::string first_step(const SolvedQuestion& solved) {
  if (!solved.graph) return "";
  const Working asked = read_working(solved.question.of, solved.graph.get());
  switch (solved.question.kind) {
    case AnswerKind::number:
      return first_step_to_number(asked);
    case AnswerKind::word:
      return where_to_look(asked);
    case AnswerKind::shape:
      return asked.kind == TermKind::shape ? first_step_to_shape(asked) : "";
    case AnswerKind::choice:
      return asked.parts.empty() ? where_to_look(asked) : first_step_to_choice(asked);
  }
  return "";
}

// --- last steps

namespace {

// The m of exp(a − m), or null.
const Working* shift_of(const Working& working) {
  const bool is_shifted = working.kind == TermKind::call && working.function == &exponential &&
                          working.parts[0].kind == TermKind::sum && working.parts[0].parts.size() == 2 &&
                          is_negative(working.parts[0].parts[1]);
  return is_shifted ? &working.parts[0].parts[1].parts[0] : nullptr;
}

Working exponents_shifted(const Working& working, const std::function<Working(const Working&)>& by) {
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
  if (exponents.size() < 2 || std::ranges::max(exponents) > most || std::ranges::max(exponents) < -most) return steps;
  return exponents_shifted(steps, [](const Working& exponent) { return exponent; });
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
  return exponents_shifted(steps, [&](const Working& exponent) {
    return made_of(TermKind::sum, {exponent, made_of(TermKind::negative, {constant_of(least)})});
  });
}

}  // namespace

Working with_numbers(Working working, const std::vector<double>& given) {
  for (Working& part : working.parts) part = with_numbers(std::move(part), given);
  if (working.kind != TermKind::cell) return working;
  const double value = number_from(working);
  for (const double number : given) {
    if (stands_for(number, value)) return constant_of(number);
  }
  return working;
}

namespace {

// Powers of constants as numbers, without divisions by 1: 2 / 100 for 2 / 10000^(2/4), whose divisor is one constant
// with a name.
Working simplified(Working working) {
  for (Working& part : working.parts) part = simplified(std::move(part));
  if (working.kind == TermKind::power && nodes_of(working).empty()) return constant_of(number_from(working));
  if (working.kind == TermKind::constant && working.name.find('^') != std::string::npos)
    return constant_of(number_from(working));
  if (working.kind != TermKind::product) return working;
  const auto divides_by_one = [](const Working& part) {
    return is_inverse(part) && part.parts[0].kind == TermKind::constant && number_from(part) == 1.0;
  };
  const auto one = std::ranges::find_if(working.parts, divides_by_one);
  if (one == working.parts.end()) return working;
  return simplified(without_part(working, static_cast<std::size_t>(one - working.parts.begin())));
}

// A cell's own terms in place of the cell; of another name for a matrix, the terms behind it.
Working explained(const Working& asked) {
  constexpr int deepest = 4;
  Working steps = asked;
  for (int depth = 0; steps.kind == TermKind::cell && depth < deepest; ++depth) {
    const Cell cell{steps.node, steps.row, steps.column};
    Working next = working_of(explain(cell).expression);
    const bool is_same = next.kind == TermKind::cell && Cell{next.node, next.row, next.column} == cell;
    if (is_same || next.kind == TermKind::constant || size_of(next) > most_parts) break;
    steps = std::move(next);
  }
  return simplified(std::move(steps));
}

}  // namespace

Working last_steps(const Working& asked) { return asked.kind == TermKind::cell ? unshifted(explained(asked)) : asked; }
std::optional<Working> steps_by_hand(const Working& asked) {
  return asked.kind == TermKind::cell ? shifted_by_least(explained(asked)) : std::nullopt;
}

}  // namespace attn
