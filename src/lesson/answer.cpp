#include "lesson/answer.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "lesson/diagnosis.hpp"
#include "lesson/typed_answer.hpp"
#include "support/text.hpp"

namespace attn {
namespace {

// Yes and no choose the first and the second; a number or a word is looked for among the choices.
Quantity chosen(const Quantity& quantity, const Question& question) {
  if (const bool* is_so = std::get_if<bool>(&quantity)) return question.choices[*is_so ? 0 : 1];
  return written(quantity);
}

}  // namespace

Quantity as_answer(const Quantity& found, const Question& question) {
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

std::string_view what_is_wanted(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::number:
      return "Please type a number, such as 0.25, 1/4, 25 % or e^2.";
    case AnswerKind::choice:
      return "Please type one of the choices, or its number.";
    case AnswerKind::shape:
      return "Please type a shape, rows × columns, such as 2x4.";
    case AnswerKind::word:
      return "Please type a word.";
  }
  return "";
}

double tolerance_for(const SolvedQuestion& solved) {
  constexpr double usual = 0.005;
  const double size = std::fabs(std::get<double>(solved.answer));
  return solved.question.tolerance.value_or(usual * std::fmax(1.0, size));
}

bool is_same(const Quantity& one, const Quantity& other, const SolvedQuestion& solved) {
  const double *a = std::get_if<double>(&one), *b = std::get_if<double>(&other);
  if (!a || !b) return one == other;
  // A tolerance of 0 is for numbers that are exact but for their last bits.
  return std::fabs(*a - *b) <= tolerance_for(solved) * (1 + 1e-9) + 1e-12 * std::fabs(*b);
}

SolvedQuestion solve(Question question, const Graph& graph) {
  SolvedQuestion solved{std::move(question), {}, {}};
  const Question& asked = solved.question;
  at_place(asked.place, [&] {
    const LookedUp found = look_up_quantity(asked.of, &graph);
    if (!found.of_computation)
      fail(
          "of: '{}' names no part of the computation: give a cell such as scores[1,2], or a size such as d_k",
          asked.of);
    solved.answer = as_answer(found.quantity, asked);
    solved.graph = graph.weak_from_this().lock();
  });
  for (const AuthorsNote& note : asked.notes) {
    at_place({asked.place.path, note.line}, [&] {
      Quantity quantity = as_answer(look_up_quantity(note.of, &graph).quantity, asked);
      if (is_same(quantity, solved.answer, solved))
        fail("wrong: '{}' is {}, which is the correct answer", note.of, written(quantity));
      solved.notes.emplace_back(std::move(quantity), note.says);
    });
  }
  return solved;
}

std::string answer_of(const SolvedQuestion& solved) {
  return written(solved.answer);
}

std::string why_unreadable(std::string_view typed, AnswerKind kind) {
  const std::size_t numbers = count_of_numbers(typed);
  const std::string wanted(what_is_wanted(kind));
  if (kind == AnswerKind::number && numbers > 1) return "One number is asked for, not several. " + wanted;
  if (kind == AnswerKind::shape && numbers == 1) return "A shape has two numbers. " + wanted;
  if (kind == AnswerKind::shape && numbers > 2) return "A shape has only two numbers. " + wanted;
  return wanted;
}

Judgment judge(const SolvedQuestion& solved, std::string_view typed) {
  std::optional<TypedAnswer> answer;
  try {
    answer = read_answer(trimmed(typed), solved);
  } catch (const InputError& error) {
    return {Judgment::Mark::unreadable, fmt::format("{}.", error.what())};
  }
  if (!answer) return {Judgment::Mark::unreadable, why_unreadable(trimmed(typed), solved.question.kind)};
  if (is_same(answer->quantity, solved.answer, solved)) return {Judgment::Mark::right, ""};
  return diagnosed(solved, *answer);
}

}  // namespace attn
