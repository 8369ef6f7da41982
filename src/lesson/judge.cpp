#include "lesson/judge.hpp"

#include <algorithm>
#include <cmath>

#include "support/lower_case.hpp"

namespace attn {
namespace {

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

std::optional<Quantity> read_word(std::string_view typed, const Posed& posed) {
  const std::string word = in_lower_case(typed);
  const std::vector<std::string>& choices = posed.question.choices;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (word == in_lower_case(choices[i]) || word == std::to_string(i + 1)) return choices[i];
  }
  if (!choices.empty()) return std::nullopt;
  const std::string& answer = std::get<std::string>(posed.answer);
  if (word == in_lower_case(answer)) return answer;
  for (const auto& [quantity, says] : posed.mistakes) {
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

std::optional<Quantity> read_answer(std::string_view typed, const Posed& posed) {
  if (typed.empty()) return std::nullopt;
  if (posed.question.kind == AnswerKind::shape) return read_shape(typed);
  if (posed.question.kind != AnswerKind::number) return read_word(typed, posed);
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

Judged judge(const Posed& posed, std::string_view typed) {
  std::optional<Quantity> answer;
  try {
    answer = read_answer(trimmed(typed), posed);
  } catch (const InputError& error) {
    return {Judged::Mark::unreadable, fmt::format("{}.", error.what())};
  }
  if (!answer) return {Judged::Mark::unreadable, std::string(wanted(posed.question.kind))};
  if (is_same(*answer, posed.answer, posed)) return {Judged::Mark::right, ""};
  for (const auto& [quantity, says] : posed.mistakes) {
    if (is_same(*answer, quantity, posed)) return {Judged::Mark::wrong, says};
  }
  return {Judged::Mark::wrong, ""};
}

}  // namespace attn
