#include "school/tutor/solution_steps.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/support/number.hpp"
#include "core/term/expression_functions.hpp"
#include "core/term/quantity.hpp"
#include "core/term/term.hpp"
#include "school/tutor/learner_knowledge.hpp"
#include "school/tutor/slips.hpp"

namespace attn {

namespace {

// --- first step

constexpr std::size_t longest_step = 72, most_numbers_in_step = 8;

// The operation that is done first: its parts are numbers.
const Term* innermost(const Term& working) {
  for (const Term& part : working.parts) {
    const bool is_sign = part.kind == Term::Kind::inverse || part.kind == Term::Kind::negative;
    const Term& inner = is_sign ? part.parts.front() : part;
    if (!inner.parts.empty()) return innermost(inner);
  }
  return working.parts.empty() ? nullptr : &working;
}

// What there is to look at, where nothing is worked out.
std::string where_to_look(const Term& asked) {
  switch (asked.kind) {
    case Term::Kind::row: {
      const std::vector<double> row = asked.node->row(asked.row);
      if (row.size() < 2 || row.size() > most_numbers_in_step) return "";
      std::vector<std::string> numbers;
      for (const double number : row) numbers.push_back(in_numbers(constant_of(number)));
      return fmt::format("look at the numbers of the row: {}", fmt::join(numbers, ", "));
    }
    case Term::Kind::shape:
      return fmt::format("find {}, and count its rows and its columns", asked.node->title());
    case Term::Kind::size:
      if (!asked.node) return "";
      return fmt::format("find {}, and count its {}", asked.node->title(),
                         asked.side == &Shape::rows ? "rows" : "columns");
    default:
      return "";
  }
}

std::string first_step_to_number(const Term& steps) {
  const Term* const first = innermost(steps);
  if (!first) return where_to_look(steps);
  const std::string numbers = in_numbers(*first);
  if (numbers.size() > longest_step) return "";
  if (first == &steps || equal_but_for_last_bits(number_from(*first), number_from(steps))) return numbers;
  return fmt::format("{} = {}", numbers, in_numbers(constant_of(number_from(*first))));
}

std::string first_step_to_shape(const Term& asked) {
  const std::vector<const Node*> operands = asked.node->named_operands();
  if (!asked.node->original().op || operands.empty()) return where_to_look(asked);
  std::vector<std::string> shapes;
  for (const Node* operand : operands)
    shapes.push_back(fmt::format("{} is {}", operand->title(), written(operand->frame.shape)));
  return fmt::format("{}. {}", formula_of(*asked.node).plain, fmt::join(shapes, ", "));
}

std::string first_step_to_choice(const Term& asked) {
  for (const Term& side : asked.parts) {
    const Term steps = last_steps(side);
    const Term* const first = innermost(steps);
    if (first && in_numbers(*first).size() <= longest_step)
      return fmt::format("{} = {}", in_numbers(*first), in_numbers(constant_of(number_from(*first))));
  }
  return "";
}

// --- last steps

// The m of exp(a − m), or null.
const Term* shift_of(const Term& working) {
  const bool is_shifted = working.kind == Term::Kind::call && working.function == &exponential &&
                          working.parts[0].kind == Term::Kind::sum && working.parts[0].parts.size() == 2 &&
                          is_negative(working.parts[0].parts[1]);
  return is_shifted ? &working.parts[0].parts[1].parts[0] : nullptr;
}

Term exponents_shifted(const Term& working, const std::function<Term(const Term&)>& by) {
  return replace_calls(working, exponential, [&](const Term& call) {
    if (!shift_of(call)) return call;
    Term other = call;
    other.parts[0] = by(call.parts[0].parts[0]);
    return other;
  });
}

void collect_exponents(const Term& working, std::vector<double>& exponents) {
  if (shift_of(working)) exponents.push_back(number_from(working.parts[0].parts[0]));
  for (const Term& part : working.parts) collect_exponents(part, exponents);
}

// The softmax of a cell is explained with the largest score subtracted. Here it is as its definition says,
// where that can be computed.
Term unshifted(const Term& steps) {
  constexpr double most = 300.0;
  std::vector<double> exponents;
  collect_exponents(steps, exponents);
  if (exponents.size() < 2 || std::ranges::max(exponents) > most || std::ranges::max(exponents) < -most) return steps;
  return exponents_shifted(steps, [](const Term& exponent) { return exponent; });
}

// And here with the smallest one subtracted, as it is done by hand.
std::optional<Term> shifted_by_least(const Term& steps) {
  constexpr double most = 300.0;
  std::vector<double> exponents;
  collect_exponents(steps, exponents);
  std::erase_if(exponents, [](double exponent) { return !std::isfinite(exponent); });
  if (exponents.size() < 2) return std::nullopt;
  const double least = std::ranges::min(exponents);
  if (least == 0.0 || std::ranges::max(exponents) - least > most) return std::nullopt;
  return exponents_shifted(steps, [&](const Term& exponent) {
    return term_of(Term::Kind::sum, {exponent, term_of(Term::Kind::negative, {constant_of(least)})});
  });
}

// Powers of constants as numbers, without divisions by 1: 2 / 100 for 2 / 10000^(2/4), whose divisor is one constant
// with a name.
Term simplified(Term working) {
  for (Term& part : working.parts) part = simplified(std::move(part));
  if (working.kind == Term::Kind::power && nodes_of(working).empty()) return constant_of(number_from(working));
  if (working.kind == Term::Kind::constant && working.notation.plain.find('^') != std::string::npos)
    return constant_of(number_from(working));
  if (working.kind != Term::Kind::product) return working;
  const auto divides_by_one = [](const Term& part) {
    return is_inverse(part) && part.parts[0].kind == Term::Kind::constant && number_from(part) == 1.0;
  };
  const auto one = std::ranges::find_if(working.parts, divides_by_one);
  if (one == working.parts.end()) return working;
  return simplified(without_part(working, static_cast<std::size_t>(one - working.parts.begin())));
}

// A cell's own terms in place of the cell; of another name for a matrix, the terms behind it.
Term explained(const Term& asked) {
  constexpr int deepest = 4;
  Term steps = asked;
  for (int depth = 0; steps.kind == Term::Kind::cell && depth < deepest; ++depth) {
    const Cell cell{steps.node, steps.row, steps.column};
    Term next = explain(cell).term;
    const bool is_same = next.kind == Term::Kind::cell && Cell{next.node, next.row, next.column} == cell;
    if (is_same || next.kind == Term::Kind::constant || size_of(next) > most_parts) break;
    steps = std::move(next);
  }
  return simplified(std::move(steps));
}

}  // namespace

// --- first step

std::string first_step(const SolvedQuestion& solved) {
  if (!solved.graph) return "";
  const Term asked = read_term(solved.question.of, solved.graph.get());
  switch (solved.question.kind) {
    case AnswerKind::number:
      return first_step_to_number(taught_paths(solved).front());
    case AnswerKind::word:
      return where_to_look(asked);
    case AnswerKind::shape:
      return asked.kind == Term::Kind::shape ? first_step_to_shape(asked) : "";
    case AnswerKind::choice:
      return asked.parts.empty() ? where_to_look(asked) : first_step_to_choice(asked);
  }
  return "";
}

// --- last steps

Term with_numbers(Term working, const std::vector<double>& given) {
  for (Term& part : working.parts) part = with_numbers(std::move(part), given);
  if (working.kind != Term::Kind::cell) return working;
  const double value = number_from(working);
  for (const double number : given) {
    if (stands_for(number, value)) return constant_of(number);
  }
  return working;
}

Term last_steps(const Term& asked) { return asked.kind == Term::Kind::cell ? unshifted(explained(asked)) : asked; }

std::vector<Term> taught_paths(const SolvedQuestion& solved) {
  const Graph* const graph = solved.graph.get();
  std::vector<Term> paths;
  for (const AuthorsPath& path : solved.question.paths) paths.push_back(read_term(path.of, graph));
  if (paths.empty()) paths.push_back(last_steps(read_term(solved.question.of, graph)));
  return paths;
}

std::vector<Term> steps_by_hand(const Term& asked) {
  if (asked.kind != Term::Kind::cell) return {};
  const Term with_largest = explained(asked);
  const std::optional<Term> with_least = shifted_by_least(with_largest);
  return with_least ? std::vector<Term>{*with_least, with_largest} : std::vector<Term>();
}

}  // namespace attn
