#include "school/tutor/typed_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "core/support/text.hpp"
#include "school/tutor/diagnosis.hpp"

namespace attn {

namespace {

// --- typed answer

// "2x4", "2 × 4", "2 by 4", "[2, 4]". Anything else between the numbers is a slip, such as in "2.4".
std::optional<Quantity> read_shape(std::string_view typed) {
  std::string plain = in_lower_case(typed);
  for (const std::string_view sign : {"×", "by", "x", "*", ",", "[", "]", "(", ")"}) {
    for (std::size_t at; (at = plain.find(sign)) != std::string::npos;) plain.replace(at, sign.size(), " ");
  }
  if (plain.find_first_not_of("0123456789 ") != std::string::npos) return std::nullopt;
  const std::vector<std::string> numbers = split_at_any(plain, " ");
  const bool short_enough = std::ranges::all_of(numbers, [](const std::string& n) { return n.size() < 10; });
  if (numbers.size() != 2 || !short_enough) return std::nullopt;
  return Shape{std::stoul(numbers[0]), std::stoul(numbers[1])};
}

std::string_view without_signs_around(std::string_view typed) {
  constexpr std::array<std::string_view, 10> signs = {" ", "\t", "\"", "'", "`", ".", "“", "”", "‘", "’"};
  const auto begins = [&](std::string_view sign) { return typed.starts_with(sign); };
  const auto ends = [&](std::string_view sign) { return typed.ends_with(sign); };
  for (auto sign = signs.begin(); (sign = std::ranges::find_if(signs, begins)) != signs.end();)
    typed.remove_prefix(sign->size());
  for (auto sign = signs.begin(); (sign = std::ranges::find_if(signs, ends)) != signs.end();)
    typed.remove_suffix(sign->size());
  return typed;
}

// A word without an article before it and without quotes and a full stop around it.
std::string_view bare_word(std::string_view typed) {
  typed = without_signs_around(typed);
  for (const std::string_view article : {"the ", "a ", "an "}) {
    if (in_lower_case(typed.substr(0, article.size())) == article) return trimmed(typed.substr(article.size()));
  }
  return typed;
}

// Whether `words` stand in a text as they are, from the beginning of a word to the end of one.
bool has_words(const std::string& text, const std::string& words) {
  constexpr std::string_view around = " ,:()\"";
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    const std::size_t end = at + words.size();
    if ((at == 0 || around.find(text[at - 1]) != std::string_view::npos) &&
        (end == text.size() || around.find(text[end]) != std::string_view::npos))
      return true;
  }
  return false;
}

// The only one of the choices for which this holds.
template <class Holds>
std::optional<Quantity> only_choice(const std::vector<std::string>& choices, const Holds& holds) {
  std::optional<Quantity> found;
  for (const std::string& choice : choices) {
    if (!holds(in_lower_case(choice))) continue;
    if (found) return std::nullopt;
    found = choice;
  }
  return found;
}

// What stands before the first comma or other sign that ends a part of a sentence: "yes" of "yes, because they differ".
std::string_view first_part(std::string_view typed) {
  constexpr std::string_view signs = ",.;:";
  for (std::size_t at = 0; (at = typed.find_first_of(signs, at)) != std::string_view::npos; ++at) {
    if (at + 1 == typed.size() || typed[at + 1] == ' ') return trimmed(typed.substr(0, at));
  }
  return typed;
}

// A text without commas, and with hyphens for minus signs: as people type it.
std::string plain_signs(std::string text) {
  std::erase(text, ',');
  for (std::size_t at; (at = text.find("−")) != std::string::npos;) text.replace(at, std::string_view("−").size(), "-");
  return text;
}

// By its words or its number; by what it alone begins with, or has in it; or it is the first part of a longer answer.
// Anywhere else in one, its words may be denied.
std::optional<Quantity> read_choice(std::string_view typed, const std::vector<std::string>& choices) {
  const std::string word = in_lower_case(typed), plain = plain_signs(word);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (plain == plain_signs(in_lower_case(choices[i])) || word == std::to_string(i + 1)) return choices[i];
  }
  const auto begins = [&](const std::string& choice) { return choice.starts_with(word) && has_words(choice, word); };
  const auto has_it = [&](const std::string& choice) { return has_words(choice, word); };
  const auto is_first_part = [&](const std::string& choice) { return choice == first_part(word); };
  if (const std::optional<Quantity> found = only_choice(choices, begins)) return found;
  if (const std::optional<Quantity> found = only_choice(choices, has_it)) return found;
  return only_choice(choices, is_first_part);
}

// The words of a longer answer that are among those to choose from, each once. A denial says nothing of its words.
std::vector<std::string> words_within(std::string_view typed, const std::vector<std::string>& choices) {
  std::vector<std::string> found;
  for (const std::string& part : split_at_any(typed, " \t,;:!?")) {
    const std::string word = in_lower_case(without_signs_around(part));
    if (word == "not") return {};
    const auto is_it = [&](const std::string& choice) { return in_lower_case(choice) == word; };
    const auto choice = std::ranges::find_if(choices, is_it);
    if (choice != choices.end() && std::ranges::find(found, *choice) == found.end()) found.push_back(*choice);
  }
  return found;
}

// As the answer, a note or a word of the row that is asked about has it, upper and lower case alike, alone or as the
// first part of a longer answer.
std::optional<TypedAnswer> read_word(std::string_view typed, const SolvedQuestion& solved) {
  std::vector<std::string> known = {std::get<std::string>(solved.answer)};
  for (const auto& [quantity, says] : solved.notes) known.push_back(written(quantity));
  for (const RecognizedAnswer& one : recognizable_answers(solved)) known.push_back(written(one.quantity));
  for (const std::string_view word : {typed, bare_word(typed), bare_word(first_part(typed))}) {
    for (const std::string& meant : known) {
      if (in_lower_case(word) == in_lower_case(meant)) return TypedAnswer{meant};
    }
  }
  return TypedAnswer{.quantity = std::string(bare_word(typed)),
                     .words = words_within(bare_word(typed), words_to_choose(solved))};
}

// The end of the digits, points and commas that stand here.
std::size_t end_of_number(std::string_view text, std::size_t begin) {
  return std::min(text.find_first_not_of("0123456789.,", begin), text.size());
}

// "0,88" has a decimal comma, "2,099,712" and "1,024.5" have commas between thousands, and "1,024" is
// ambiguous. Other commas stay, and then it is no number.
std::string with_decimal_point(std::string_view number) {
  const std::vector<std::string> groups = split_at_any(number.substr(0, number.find('.')), ",");
  const auto is_thousand = [](const std::string& group) { return group.size() == 3; };
  const bool one_comma = groups.size() == 2 && number.find('.') == std::string_view::npos;
  const bool by_thousands = groups.size() > 1 && groups.front().size() <= 3 && groups.front() != "0" &&
                            std::all_of(groups.begin() + 1, groups.end(), is_thousand);
  std::string point(number), plain(number);
  std::erase(plain, ',');
  if (!one_comma) return by_thousands ? plain : point;
  std::ranges::replace(point, ',', '.');
  if (by_thousands) {
    const Evidence two_ways = {{{"two ways to read it", true}},
                               {{"number", std::string(number)}, {"plain", plain}, {"point", point}}};
    fail("{}", judged_by("unreadable", two_ways)->says);
  }
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

// How many digits stand behind the point, where a number is written out: a sign, digits, perhaps a point.
std::optional<int> decimals_of(std::string_view written) {
  const bool is_per_cent = written.ends_with('%');
  if (is_per_cent) written.remove_suffix(1);
  written = trimmed(written);
  for (const std::string_view sign : {"-", "−", "+"}) {
    if (written.starts_with(sign)) written.remove_prefix(sign.size());
  }
  const std::size_t point = std::min(written.find('.'), written.size());
  constexpr std::size_t most = 300;
  const std::string_view behind = written.substr(std::min(point + 1, written.size()));
  if (written.empty() || behind.size() > most) return std::nullopt;
  if (!std::ranges::all_of(written.substr(0, point), is_digit) || !std::ranges::all_of(behind, is_digit))
    return std::nullopt;
  return static_cast<int>(behind.size()) + (is_per_cent ? 2 : 0);
}

std::optional<TypedAnswer> read_number(std::string_view typed) {
  const std::string expression = with_decimal_points(typed);
  try {
    const Quantity quantity = look_up_quantity(expression, nullptr).quantity;
    const double* const number = std::get_if<double>(&quantity);
    if (number && std::isfinite(*number))
      return TypedAnswer{quantity, decimals_of(expression), trimmed(expression).ends_with('%')};
  } catch (const InputError&) {
    // Whatever it is, it is no number.
  }
  return std::nullopt;
}

std::optional<TypedAnswer> typed_as(std::optional<Quantity> quantity) {
  if (!quantity) return std::nullopt;
  return TypedAnswer{std::move(*quantity)};
}

// --- typed digits

std::string decimal_digits(double number, int decimals) {
  std::string digits = written_fixed(std::fabs(number), decimals);
  std::erase(digits, '.');
  return digits;
}

// Whether it is a number such as 0, 2 or 0.5, at which one arrives in many ways.
bool says_little(const TypedAnswer& typed) {
  if (!typed.decimals) return false;
  const std::string digits = decimal_digits(std::get<double>(typed.quantity), *typed.decimals);
  const std::size_t first = digits.find_first_not_of('0');
  // Zeros behind the point were typed to say something.
  const std::size_t last = *typed.decimals > 0 ? digits.size() - 1 : digits.find_last_not_of('0');
  return first == std::string::npos || first == last;
}

// Zeros before and after the digits of the answer, `a`, are none of them.
bool are_exchanged(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const std::size_t first = a.find_first_not_of('0'), last = a.find_last_not_of('0');
  if (first == std::string::npos || at < first || at + 1 > last) return false;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] && a.substr(at + 2) == b.substr(at + 2);
}

}  // namespace

// --- typed answer

bool is_whole(double number) { return std::fabs(number) < 1e15 && std::nearbyint(number) == number; }

std::optional<TypedAnswer> read_answer(std::string_view typed, const SolvedQuestion& solved) {
  if (typed.empty()) return std::nullopt;
  if (solved.question.kind == AnswerKind::shape) return typed_as(read_shape(typed));
  if (solved.question.kind == AnswerKind::choice) return typed_as(read_choice(typed, solved.question.choices));
  if (solved.question.kind == AnswerKind::word) return read_word(typed, solved);
  return read_number(typed);
}

std::vector<double> numbers_typed(std::string_view typed) {
  std::string plain(typed);
  for (const std::string_view sign : {"×", "x", "(", ")", "[", "]", ";", ", "}) {
    for (std::size_t at; (at = plain.find(sign)) != std::string::npos;) plain.replace(at, sign.size(), " ");
  }
  std::vector<double> numbers;
  for (const std::string& part : split_at_any(plain, " ,")) {
    const std::optional<double> number = parse_number<double>(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

double precision_of(const TypedAnswer& typed) {
  static const double of_expression = judge_limit("precision of an expression");
  static const double rounding = judge_limit("rounding"), last_bits = judge_limit("last bits");
  const double number = std::fabs(std::get<double>(typed.quantity));
  if (!typed.decimals) return of_expression * number;  // worked out by the program, perhaps from rounded numbers
  return 0.5 * std::pow(10.0, -*typed.decimals) * (1 + rounding) + last_bits * number;
}

// --- typed digits

int decimals_wanted(const SolvedQuestion& solved) {
  const double tolerance = tolerance_for(solved);
  int decimals = 0;
  while (decimals < 6 && 0.5 * std::pow(10.0, -decimals) > tolerance * (1 + 1e-9)) ++decimals;
  return decimals;
}

bool tells(const TypedAnswer& typed, double number, double closeness) {
  static const double next_to_nothing = judge_limit("next to nothing"), nothing = judge_limit("nothing");
  const double off = std::fabs(number - std::get<double>(typed.quantity)), size = std::fabs(number);
  const double precision = precision_of(typed);
  return off <= precision &&
         (off <= (closeness > 0.0 ? next_to_nothing : nothing) * size || precision <= closeness * size);
}

Evidence evidence_of_digits(const SolvedQuestion& solved, const TypedAnswer& typed) {
  const double answer = std::get<double>(solved.answer), number = std::get<double>(typed.quantity);
  const double off = std::fabs(number - answer), size = std::fabs(answer), typed_size = std::fabs(number);
  const int wanted = decimals_wanted(solved), decimals = typed.decimals.value_or(wanted);
  const double unit = std::pow(10.0, -decimals);
  const bool has_digits = typed.decimals && decimals <= judge_limit("decimals with a meaning");
  const bool are_alike = off <= judge_limit("alike") * size || (number == 0.0 && size < judge_limit("like 0"));
  const bool have_same_sign = (answer < 0) == (number < 0), is_little = says_little(typed);
  // With the sign by mistake, or with the point moved by one place instead of two.
  const auto is_as_percentage = [&](double times) {
    return typed.is_per_cent && std::fabs(times * number - answer) <= judge_limit("closely") * size;
  };
  const bool is_small_whole = typed.decimals == 0 && typed_size < judge_limit("small whole number");
  return {{
              {"too much per cent", is_as_percentage(100) || is_as_percentage(10)},
              {"says much", !is_little && !is_small_whole},  // a small whole number stands somewhere everywhere
              {"rounded too far", decimals < wanted && are_alike && number != 0.0 && off <= precision_of(typed)},
              {"cut off", has_digits && are_alike && number != 0.0 && decimals >= wanted &&
                              std::fabs(number - std::trunc(answer / unit) * unit) < judge_limit("rounding") * unit},
              {"two digits exchanged",
               has_digits && have_same_sign &&
                   are_exchanged(decimal_digits(answer, decimals), decimal_digits(number, decimals))},
              // No rounding leads from one whole number to the other.
              {"close", off <= judge_limit("close") * size && !(is_whole(answer) && is_whole(number))},
              {"other sign", answer != 0.0 && number != 0.0 && !have_same_sign},
              {"negative answer", answer < 0},
              {"larger", typed_size > size},
              {"far", std::fmax(size, typed_size) > judge_limit("far") * std::fmin(size, typed_size)},
              {"one decimal", wanted == 1},
          },
          {{"decimals", std::to_string(wanted)}}};
}

}  // namespace attn
