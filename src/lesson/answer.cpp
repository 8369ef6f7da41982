#include "lesson/answer.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "support/text.hpp"

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

// "2x4", "2 × 4", "2 by 4", "[2, 4]". Anything else between the numbers is a slip, such as in "2.4".
std::optional<Quantity> read_shape(std::string_view typed) {
  std::string plain = in_lower_case(typed);
  for (const std::string_view sign : {"×", "by", "x", "*", ",", "[", "]", "(", ")"}) {
    for (std::size_t at; (at = plain.find(sign)) != std::string::npos;) plain.replace(at, sign.size(), " ");
  }
  if (plain.find_first_not_of("0123456789 ") != std::string::npos) return std::nullopt;
  const std::vector<std::string> numbers = parted(plain, " ");
  const bool short_enough = std::ranges::all_of(numbers, [](const std::string& n) { return n.size() < 10; });
  if (numbers.size() != 2 || !short_enough) return std::nullopt;
  return Shape{std::stoul(numbers[0]), std::stoul(numbers[1])};
}

std::optional<Quantity> read_word(std::string_view typed, const SolvedQuestion& solved) {
  const std::string word = in_lower_case(typed);
  const std::vector<std::string>& choices = solved.question.choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (word == in_lower_case(choices[i]) || word == std::to_string(i + 1)) return choices[i];
  }
  if (!choices.empty()) return std::nullopt;
  const std::string& answer = std::get<std::string>(solved.answer);
  if (word == in_lower_case(answer)) return answer;
  for (const auto& [quantity, says] : solved.mistakes) {
    if (word == in_lower_case(written(quantity))) return quantity;
  }
  return std::string(typed);
}

// The end of the digits, points and commas that stand here.
std::size_t end_of_number(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_not_of("0123456789.,", begin), text.size());
}

// "0,88" has a decimal comma, "2,099,712" and "1,024.5" have commas between thousands, and "1,024" is
// ambiguous. Other commas stay, and then it is no number.
std::string with_decimal_point(std::string_view number) {
  const std::vector<std::string> groups = parted(number.substr(0, number.find('.')), ",");
  const auto is_thousand = [](const std::string& group) { return group.size() == 3; };
  const bool one_comma = groups.size() == 2 && number.find('.') == std::string_view::npos;
  const bool by_thousands = groups.size() > 1 && groups.front().size() <= 3 && groups.front() != "0" &&
                            std::all_of(groups.begin() + 1, groups.end(), is_thousand);
  std::string point(number), plain(number);
  std::erase(plain, ',');
  if (!one_comma) return by_thousands ? plain : point;
  std::ranges::replace(point, ',', '.');
  if (by_thousands) fail("{} could be {} or {}: write it without a comma", number, plain, point);
  return point;
}

std::string with_decimal_points(std::string_view typed) {
  std::string result;
  for (std::size_t at = 0; at < typed.size();) {
    const std::size_t end = end_of_number(typed, at);
    result += end == at ? std::string(1, typed[at]) : with_decimal_point(typed.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return result;
}

std::optional<Quantity> read_number(std::string_view typed) {
  const std::string expression = with_decimal_points(typed);
  try {
    const Quantity quantity = look_up_quantity(expression, nullptr).quantity;
    const double* const number = std::get_if<double>(&quantity);
    if (number && std::isfinite(*number)) return quantity;
  } catch (const InputError&) {
    // Whatever it is, it is no number.
  }
  return std::nullopt;
}

std::optional<Quantity> read_answer(std::string_view typed, const SolvedQuestion& solved) {
  if (typed.empty()) return std::nullopt;
  if (solved.question.kind == AnswerKind::shape) return read_shape(typed);
  if (solved.question.kind != AnswerKind::number) return read_word(typed, solved);
  return read_number(typed);
}

std::string_view wanted(AnswerKind kind) {
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

}  // namespace

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
    solved.answer = quantity_of(found.quantity, asked);
  });
  for (const Mistake& mistake : asked.mistakes) {
    at_place({asked.place.path, mistake.line}, [&] {
      Quantity quantity = quantity_of(look_up_quantity(mistake.of, &graph).quantity, asked);
      if (is_same(quantity, solved.answer, solved))
        fail("wrong: '{}' is {}, which is the correct answer", mistake.of, written(quantity));
      solved.mistakes.emplace_back(std::move(quantity), mistake.says);
    });
  }
  return solved;
}

std::string answer_of(const SolvedQuestion& solved) {
  return written(solved.answer);
}

Judgment judge(const SolvedQuestion& solved, std::string_view typed) {
  std::optional<Quantity> answer;
  try {
    answer = read_answer(trimmed(typed), solved);
  } catch (const InputError& error) {
    return {Judgment::Mark::unreadable, fmt::format("{}.", error.what())};
  }
  if (!answer) return {Judgment::Mark::unreadable, std::string(wanted(solved.question.kind))};
  if (is_same(*answer, solved.answer, solved)) return {Judgment::Mark::right, ""};
  for (const auto& [quantity, says] : solved.mistakes) {
    if (is_same(*answer, quantity, solved)) return {Judgment::Mark::wrong, says};
  }
  return {Judgment::Mark::wrong, ""};
}

}  // namespace attn
