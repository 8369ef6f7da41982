#include "lesson/first_step.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "lesson/last_steps.hpp"
#include "quantity/functions.hpp"
#include "quantity/working.hpp"

namespace attn {
namespace {

using Kind = Working::Kind;

constexpr std::size_t longest_step = 72, most_numbers = 8;

// The operation that is done first: its parts are numbers.
const Working* innermost(const Working& working) {
  for (const Working& part : working.parts) {
    const bool is_sign = part.kind == Kind::inverse || part.kind == Kind::negative;
    const Working& inner = is_sign ? part.parts.front() : part;
    if (!inner.parts.empty()) return innermost(inner);
  }
  return working.parts.empty() ? nullptr : &working;
}

// What there is to look at, where nothing is worked out.
std::string where_to_look(const Working& asked) {
  switch (asked.kind) {
    case Kind::row: {
      const std::vector<double> row = asked.node->row(asked.row);
      if (row.size() < 2 || row.size() > most_numbers) return "";
      std::vector<std::string> numbers;
      for (const double number : row) numbers.push_back(in_numbers(constant_of(number)));
      return fmt::format("look at the numbers of the row: {}", fmt::join(numbers, ", "));
    }
    case Kind::shape:
      return fmt::format("find {}, and count its rows and its columns", asked.node->title());
    case Kind::size:
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
      return asked.kind == Kind::shape ? first_step_to_shape(asked) : "";
    case AnswerKind::choice:
      return asked.parts.empty() ? where_to_look(asked) : first_step_to_choice(asked);
  }
  return "";
}

}  // namespace attn
