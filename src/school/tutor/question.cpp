#include "school/tutor/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/support/text.hpp"
#include "core/term/quantity.hpp"
#include "page/document/document.hpp"
#include "school/tutor/diagnosis.hpp"
#include "school/tutor/judge.hpp"
#include "school/tutor/typed_answer.hpp"

namespace attn {

namespace {

// --- question

struct KindName {
  std::string_view name;
  AnswerKind kind;
};

constexpr std::array kinds = {
    KindName{"number", AnswerKind::number},
    KindName{"choice", AnswerKind::choice},
    KindName{"shape", AnswerKind::shape},
    KindName{"word", AnswerKind::word},
};

std::vector<std::string> split_choices(std::string_view value) {
  std::vector<std::string> choices;
  for (const std::string& choice : split_at_any(value, "|")) choices.emplace_back(trimmed(choice));
  if (choices.size() < 2 || std::ranges::find(choices, "") != choices.end())
    fail("give at least two choices, separated by |: rises | falls");
  return choices;
}

double tolerance_of(const std::string& value) {
  const Quantity quantity = look_up_quantity(value, nullptr).quantity;
  const double* const tolerance = std::get_if<double>(&quantity);
  if (!tolerance || !(*tolerance >= 0.0)) fail("tolerance must be a number of 0 or more, not '{}'", value);
  return *tolerance;
}

AuthorsNote note_of(const Entry& entry) {
  constexpr std::string_view arrow = "=>";
  const std::size_t at = entry.value.find(arrow);
  if (at == std::string::npos) fail("wrong: write an expression, =>, and a note: scores[1,2] => This is …");
  AuthorsNote note{std::string(trimmed(std::string_view(entry.value).substr(0, at))),
                   std::string(trimmed(std::string_view(entry.value).substr(at + arrow.size()))), entry.line};
  if (note.of.empty() || note.says.empty())
    fail("wrong: write an expression, =>, and a note: scores[1,2] => This is …");
  return note;
}

// A key of a question. Those of which there can be several are lists.
struct QuestionKey {
  std::string_view name;
  bool repeats;
  void (*set)(Question& question, const Entry& entry);
};

void set_text(Question& question, const Entry& entry) {
  if (!question.ask.empty()) fail("the question has a text already: give one of ask:, predict: and why:");
  question.ask = entry.value;
}

constexpr std::array question_keys = {
    QuestionKey{"ask", false, set_text},
    QuestionKey{"predict", false,
                [](Question& question, const Entry& entry) {
                  set_text(question, entry);
                  question.predicts = true;
                }},
    QuestionKey{"why", false,
                [](Question& question, const Entry& entry) {
                  set_text(question, entry);
                  question.asks_why = true;
                  question.kind = AnswerKind::choice;
                }},
    QuestionKey{"because", false, [](Question& question, const Entry& entry) { question.because = entry.value; }},
    QuestionKey{"kind", false,
                [](Question& question, const Entry& entry) {
                  question.kind = look_up(std::span<const KindName>(kinds), entry.value, "kind of question").kind;
                }},
    QuestionKey{"of", false, [](Question& question, const Entry& entry) { question.of = entry.value; }},
    QuestionKey{"path", true,
                [](Question& question, const Entry& entry) {
                  question.paths.push_back({entry.value, entry.line});
                }},
    QuestionKey{"on", false, [](Question& question, const Entry& entry) { question.on = entry.value; }},
    QuestionKey{"explore", false, [](Question& question, const Entry& entry) { question.explore = entry.value; }},
    QuestionKey{"tolerance", false,
                [](Question& question, const Entry& entry) { question.tolerance = tolerance_of(entry.value); }},
    QuestionKey{"choices", false,
                [](Question& question, const Entry& entry) { question.choices = split_choices(entry.value); }},
    QuestionKey{"hint", true, [](Question& question, const Entry& entry) { question.hints.push_back(entry.value); }},
    QuestionKey{"wrong", true,
                [](Question& question, const Entry& entry) { question.notes.push_back(note_of(entry)); }},
};

// A reason cannot be computed. Each of the others is wrong in a way that is told.
void check_why(const Question& question) {
  if (!question.of.empty() || !question.on.empty())
    fail("of: and on: have no effect with why: give because: and choices:");
  if (std::ranges::count(question.choices, question.because) != 1)
    fail("why: give the right one of its choices as because:, in the same words");
  for (const std::string& choice : question.choices) {
    const bool has_note = std::ranges::any_of(
        question.notes, [&](const AuthorsNote& note) { return note.of == fmt::format("\"{}\"", choice); });
    if (choice != question.because && !has_note)
      fail("why: the choice '{}' has no reason: give wrong: \"{}\" => …", choice, choice);
  }
}

void check_whole_question(const Question& question) {
  if (question.ask.empty()) fail("the question has no text: give it a line ask:");
  if (question.asks_why) return check_why(question);
  if (!question.because.empty()) fail("because: belongs to why: give the answer as of: with an expression");
  if (question.explore && question.on.empty())
    fail("explore: a screen shows a computation: give the command as on:, such as on: attn walk --example animal");
  if (question.of.empty()) fail("the question has no answer: give it a line of: with an expression");
  const bool is_choice = question.kind == AnswerKind::choice;
  if (is_choice && question.choices.empty())
    fail("kind: choice needs choices: give a line such as choices: rises | falls");
  if (!is_choice && !question.choices.empty())
    fail("choices need kind: choice: change the kind, or leave out the choices");
  if (question.tolerance && question.kind != AnswerKind::number)
    fail("tolerance needs kind: number: change the kind, or leave out the tolerance");
  if (!question.paths.empty() && question.kind != AnswerKind::number)
    fail("path needs kind: number: change the kind, or leave out the path");
}

// --- answer

// Yes and no choose the first and the second; a number or a word is looked for among the choices.
Quantity number_of_choice(const Quantity& quantity, const Question& question) {
  if (const bool* is_so = std::get_if<bool>(&quantity)) return question.choices[*is_so ? 0 : 1];
  return written(quantity);
}

Evidence evidence_of_unreadable(std::string_view typed, const SolvedQuestion& solved) {
  const std::vector<double> numbers = numbers_typed(typed);
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  const bool asks_for_number = std::holds_alternative<double>(solved.answer);
  const Shape* const shape = std::get_if<Shape>(&solved.answer);
  const std::string word = in_lower_case(typed);
  const bool is_not_finite = std::ranges::find(words_of_infinity(), word) != words_of_infinity().end();
  std::vector<std::string> choices;
  for (std::size_t i = 0; i < solved.question.choices.size(); ++i) choices.push_back(std::to_string(i + 1));
  return {{{fmt::format("asks for a {}", name_of(solved.question.kind)), true},
           {"one number", numbers.size() == 1},
           {"several numbers", numbers.size() > 1},
           {"more than two", numbers.size() > 2},
           {"number of cells", shape && numbers.size() == 1 && numbers.front() == static_cast<double>(shape->cells())},
           {"not finite", asks_for_number && is_not_finite},
           {"add up to the answer", asks_for_number && is_same(sum, solved.answer, solved)}},
          {{"choices", fmt::format("{}", fmt::join(choices, " or "))}}};
}

}  // namespace

// --- question

void note_tables(const std::vector<Block>& blocks, MatricesShown& shown) {
  const auto note = [&](const Table& table) {
    shown.emplace(table.array.empty() ? table.title : table.array, table.cells);
  };
  std::ranges::for_each(tables_of(blocks), note);
  for (const Block& block : blocks) {
    const auto* const product = std::get_if<ProductBlock>(&block);
    if (product) note(product->left), note(product->right), note(product->result);
  }
}

std::string_view name_of(AnswerKind kind) { return std::ranges::find(kinds, kind, &KindName::kind)->name; }

std::vector<std::string_view> keys_of_questions() {
  std::vector<std::string_view> names;
  for (const QuestionKey& key : question_keys) names.push_back(key.name);
  return names;
}

Question read_question(const Document& document, const FencedBlock& block) {
  return question_of(entries_of(document, block.first_line + 1, block.last_line, block.margin),
                     document.at(block.first_line));
}

Question question_of(std::span<const Entry> entries, const Place& place) {
  Question question;
  question.place = place;
  set_by_keys(std::span<const QuestionKey>(question_keys), "key of a question", entries, place.path, question);
  at_place(question.place, [&] { check_whole_question(question); });
  return question;
}

std::vector<std::string> words_of_screen(const Question& question) {
  const std::string line = command_or_options(question.on);
  std::vector<std::string> words = command_lines(line, "on", question.place.line).front().words;
  words.insert(words.begin(), "explore");
  if (!question.explore->empty()) words.insert(words.end(), {"--keys", *question.explore});
  return words;
}

std::vector<std::string> question_lines(const Question& question) {
  std::vector<std::string> lines = {question.ask};
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    lines.push_back(fmt::format("{}) {}", i + 1, question.choices[i]));
  return lines;
}

// --- answer

Quantity as_answer(const Quantity& found, const Question& question) {
  const Quantity quantity = question.kind == AnswerKind::choice ? number_of_choice(found, question) : found;
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

double tolerance_for(const SolvedQuestion& solved) {
  constexpr double usual = 0.005;
  const double size = std::fabs(std::get<double>(solved.answer));
  return solved.question.tolerance.value_or(usual * std::fmax(1.0, size));
}

bool is_same(const Quantity& one, const Quantity& other, const SolvedQuestion& solved) {
  const double *a = std::get_if<double>(&one), *b = std::get_if<double>(&other);
  if (!a || !b) return one == other;
  // A tolerance of 0 is for numbers that are exact but for their last bits.
  static const double rounding = judge_limit("rounding"), last_bits = judge_limit("last bits");
  return std::fabs(*a - *b) <= tolerance_for(solved) * (1 + rounding) + last_bits * std::fabs(*b);
}

SolvedQuestion solve(Question question, const Graph& graph) {
  SolvedQuestion solved{std::move(question), {}, {}};
  const Question& asked = solved.question;
  at_place(asked.place, [&] {
    if (asked.asks_why) {
      solved.answer = asked.because;
      return;
    }
    const QuantityLookup found = look_up_quantity(asked.of, &graph);
    if (!found.of_computation)
      fail("of: '{}' names no part of the computation: give a cell such as scores[1,2], or a size such as d_k",
           asked.of);
    solved.answer = as_answer(found.quantity, asked);
    solved.graph = graph.weak_from_this().lock();
  });
  for (const AuthorsPath& path : asked.paths) {
    at_place({asked.place.path, path.line}, [&] {
      const Quantity quantity = as_answer(look_up_quantity(path.of, &graph).quantity, asked);
      if (!is_same(quantity, solved.answer, solved))
        fail("path: '{}' is {}, and the answer is {}", path.of, written(quantity), written(solved.answer));
    });
  }
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

std::string answer_of(const SolvedQuestion& solved) { return written(solved.answer); }

Judgment judge(const SolvedQuestion& solved, std::string_view typed) {
  std::optional<TypedAnswer> answer;
  try {
    answer = read_answer(trimmed(typed), solved);
  } catch (const InputError& error) {
    return {Judgment::Mark::unreadable, error.what()};
  }
  if (answer && is_same(answer->quantity, solved.answer, solved)) return {Judgment::Mark::right, ""};
  Judgment judged = answer ? diagnose(solved, *answer)
                           : judged_by("unreadable", evidence_of_unreadable(trimmed(typed), solved)).value();
  if (solved.question.predicts && judged.mark == Judgment::Mark::wrong) judged.mark = Judgment::Mark::guess;
  return judged;
}

}  // namespace attn
