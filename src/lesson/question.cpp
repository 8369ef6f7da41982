#include "lesson/question.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "support/lookup.hpp"

namespace attn {
namespace {

struct Kind {
  std::string_view name;
  AnswerKind kind;
};

constexpr std::array kinds = {
    Kind{"number", AnswerKind::number},
    Kind{"choice", AnswerKind::choice},
    Kind{"shape", AnswerKind::shape},
    Kind{"word", AnswerKind::word},
};

std::vector<std::string> split_choices(std::string_view value) {
  std::vector<std::string> choices;
  for (const std::string& choice : parted(value, "|")) choices.emplace_back(trimmed(choice));
  if (choices.size() < 2 || std::ranges::find(choices, "") != choices.end())
    fail("choices are parted by |: rises | falls");
  return choices;
}

double tolerance_of(const std::string& value) {
  const Quantity quantity = look_up_quantity(value, nullptr).quantity;
  const double* const tolerance = std::get_if<double>(&quantity);
  if (!tolerance || !(*tolerance >= 0.0)) fail("tolerance: '{}' is not a number from 0 on", value);
  return *tolerance;
}

Mistake mistake_of(const Entry& entry) {
  constexpr std::string_view arrow = "=>";
  const std::size_t at = entry.value.find(arrow);
  if (at == std::string::npos) fail("wrong: an expression, then =>, then what went wrong");
  Mistake mistake{std::string(trimmed(std::string_view(entry.value).substr(0, at))),
                  std::string(trimmed(std::string_view(entry.value).substr(at + arrow.size()))), entry.line};
  if (mistake.of.empty() || mistake.says.empty()) fail("wrong: an expression, then =>, then what went wrong");
  return mistake;
}

// A key of a question. Those of which there can be several are lists.
struct Key {
  std::string_view name;
  bool repeats;
  void (*set)(Question& question, const Entry& entry);
};

constexpr std::array keys = {
    Key{"ask", false, [](Question& question, const Entry& entry) { question.ask = entry.value; }},
    Key{"kind", false,
        [](Question& question, const Entry& entry) {
          question.kind = look_up(std::span<const Kind>(kinds), entry.value, "kind of question").kind;
        }},
    Key{"of", false, [](Question& question, const Entry& entry) { question.of = entry.value; }},
    Key{"on", false, [](Question& question, const Entry& entry) { question.on = entry.value; }},
    Key{"tolerance", false,
        [](Question& question, const Entry& entry) { question.tolerance = tolerance_of(entry.value); }},
    Key{"choices", false,
        [](Question& question, const Entry& entry) { question.choices = split_choices(entry.value); }},
    Key{"hint", true, [](Question& question, const Entry& entry) { question.hints.push_back(entry.value); }},
    Key{"wrong", true,
        [](Question& question, const Entry& entry) { question.mistakes.push_back(mistake_of(entry)); }},
};

void check_whole(const Question& question) {
  if (question.ask.empty()) fail("the question asks nothing: give it a line ask:");
  if (question.of.empty()) fail("the question has no answer: give it a line of: with an expression");
  const bool is_choice = question.kind == AnswerKind::choice;
  if (is_choice && question.choices.empty())
    fail("a choice needs something to choose from: choices: rises | falls");
  if (!is_choice && !question.choices.empty()) fail("choices belong to kind: choice");
  if (question.tolerance && question.kind != AnswerKind::number) fail("tolerance belongs to kind: number");
}

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
  if (!fits) fail("the kind of the question is another one than that of '{}'", written(found));
  if (const double* number = std::get_if<double>(&quantity); number && !std::isfinite(*number))
    fail("the answer is {}, and nobody can type that: ask for something else", written(quantity));
  if (question.kind == AnswerKind::choice &&
      std::ranges::find(question.choices, written(quantity)) == question.choices.end())
    fail("'{}' is none of the choices {}", written(quantity), fmt::join(question.choices, " | "));
  return quantity;
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

// A number may be half a hundredth off, or half a percent of a large one.
double tolerance_for(const Posed& posed) {
  constexpr double usual = 0.005;
  const double size = std::fabs(std::get<double>(posed.answer));
  return posed.question.tolerance.value_or(usual * std::fmax(1.0, size));
}

bool same(const Quantity& one, const Quantity& other, const Posed& posed) {
  const double *a = std::get_if<double>(&one), *b = std::get_if<double>(&other);
  if (!a || !b) return one == other;
  // A tolerance of 0 is for numbers that are exact but for their last bits.
  return std::fabs(*a - *b) <= tolerance_for(posed) * (1 + 1e-9) + 1e-12 * std::fabs(*b);
}

std::optional<Quantity> read_shape(std::string_view typed) {
  std::string digits;
  std::vector<std::string> numbers;
  for (const char c : typed) digits += c >= '0' && c <= '9' ? c : ' ';
  numbers = parted(digits, " ");
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

std::optional<Quantity> read_answer(std::string_view typed, const Posed& posed) {
  if (typed.empty()) return std::nullopt;
  if (posed.question.kind == AnswerKind::shape) return read_shape(typed);
  if (posed.question.kind != AnswerKind::number) return read_word(typed, posed);
  try {
    const Quantity quantity = look_up_quantity(typed, nullptr).quantity;
    if (std::holds_alternative<double>(quantity)) return quantity;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

std::string_view wanted(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::number:
      return "a number is wanted here, such as 0.25 or 1/4";
    case AnswerKind::choice:
      return "one of the choices is wanted here, or its number";
    case AnswerKind::shape:
      return "a shape is wanted here, rows × columns, such as 2x4";
    case AnswerKind::word:
      return "a word is wanted here";
  }
  return "";
}

}  // namespace

Question read_question(const Document& document, const FencedBlock& block) {
  Question question;
  question.place = document.at(block.first_line);
  std::vector<std::string_view> given;
  for (const Entry& entry : entries_of(document, block.first_line + 1, block.last_line, block.margin)) {
    at_place(document.at(entry.line), [&] {
      const Key& key = look_up(std::span<const Key>(keys), entry.key, "line of a question");
      if (!key.repeats && std::ranges::find(given, key.name) != given.end())
        fail("{} is given twice: give it once", key.name);
      given.push_back(key.name);
      key.set(question, entry);
    });
  }
  at_place(question.place, [&] { check_whole(question); });
  return question;
}

Posed pose(Question question, const Graph& graph) {
  Posed posed{std::move(question), {}, {}};
  const Question& asked = posed.question;
  at_place(asked.place, [&] {
    const LookedUp found = look_up_quantity(asked.of, &graph);
    if (!found.of_computation)
      fail("of: '{}' looks nothing up: name a cell such as scores[1,2], or a size such as d_k", asked.of);
    posed.answer = quantity_of(found.quantity, asked);
  });
  for (const Mistake& mistake : asked.mistakes) {
    at_place({asked.place.path, mistake.line}, [&] {
      Quantity quantity = quantity_of(look_up_quantity(mistake.of, &graph).quantity, asked);
      if (same(quantity, posed.answer, posed))
        fail("wrong: '{}' is {}, and right", mistake.of, written(quantity));
      posed.mistakes.emplace_back(std::move(quantity), mistake.says);
    });
  }
  return posed;
}

Judged judge(const Posed& posed, std::string_view typed) {
  const std::optional<Quantity> answer = read_answer(trimmed(typed), posed);
  if (!answer) return {Judged::Mark::unreadable, std::string(wanted(posed.question.kind))};
  if (same(*answer, posed.answer, posed)) return {Judged::Mark::right, ""};
  for (const auto& [quantity, says] : posed.mistakes) {
    if (same(*answer, quantity, posed)) return {Judged::Mark::wrong, says};
  }
  return {Judged::Mark::wrong, ""};
}

std::string answer_of(const Posed& posed) {
  return written(posed.answer);
}

std::vector<std::string> question_lines(const Question& question) {
  std::vector<std::string> lines = {question.ask};
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    lines.push_back(fmt::format("{}) {}", i + 1, question.choices[i]));
  return lines;
}

}  // namespace attn
