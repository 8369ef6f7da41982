#include "lesson/posed.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace attn {
namespace {

// Yes and no choose the first and the second; a number or a word is looked for among the choices.
Quantity chosen(const Quantity& quantity, const Question& question) {
  if (const bool* is_so = std::get_if<bool>(&quantity)) return question.choices[*is_so ? 0 : 1];
  return written(quantity);
}

Quantity quantity_of(const Quantity& found, const Question& question) {
  const Quantity quantity = question.kind == AnswerKind::choice ? chosen(found, question) : found;
  const bool fits = question.kind == AnswerKind::number  ? std::holds_alternative<double>(quantity)
                    : question.kind == AnswerKind::shape ? std::holds_alternative<Shape>(quantity)
                                                         : std::holds_alternative<std::string>(quantity);
  if (!fits) fail("the kind of the question does not fit the value '{}': change kind:", written(found));
  if (const double* number = std::get_if<double>(&quantity); number && !std::isfinite(*number))
    fail("the value is {}, which cannot be typed: ask for something else", written(quantity));
  if (question.kind == AnswerKind::choice &&
      std::ranges::find(question.choices, written(quantity)) == question.choices.end())
    fail("'{}' is not among the choices: {}", written(quantity), fmt::join(question.choices, " | "));
  return quantity;
}

}  // namespace

double tolerance_for(const Posed& posed) {
  constexpr double usual = 0.005;
  const double size = std::fabs(std::get<double>(posed.answer));
  return posed.question.tolerance.value_or(usual * std::fmax(1.0, size));
}

bool is_same(const Quantity& one, const Quantity& other, const Posed& posed) {
  const double *a = std::get_if<double>(&one), *b = std::get_if<double>(&other);
  if (!a || !b) return one == other;
  // A tolerance of 0 is for numbers that are exact but for their last bits.
  return std::fabs(*a - *b) <= tolerance_for(posed) * (1 + 1e-9) + 1e-12 * std::fabs(*b);
}

Posed pose(Question question, const Graph& graph) {
  Posed posed{std::move(question), {}, {}};
  const Question& asked = posed.question;
  at_place(asked.place, [&] {
    const LookedUp found = look_up_quantity(asked.of, &graph);
    if (!found.of_computation)
      fail(
          "of: '{}' names no part of the computation: give a cell such as scores[1,2], or a size such as d_k",
          asked.of);
    posed.answer = quantity_of(found.quantity, asked);
  });
  for (const Mistake& mistake : asked.mistakes) {
    at_place({asked.place.path, mistake.line}, [&] {
      Quantity quantity = quantity_of(look_up_quantity(mistake.of, &graph).quantity, asked);
      if (is_same(quantity, posed.answer, posed))
        fail("wrong: '{}' is {}, which is the correct answer", mistake.of, written(quantity));
      posed.mistakes.emplace_back(std::move(quantity), mistake.says);
    });
  }
  return posed;
}

std::string answer_of(const Posed& posed) {
  return written(posed.answer);
}

}  // namespace attn
