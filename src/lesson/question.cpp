#include "lesson/question.hpp"

#include <algorithm>
#include <array>

#include "quantity/quantity.hpp"
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
        [](Question& question, const Entry& entry) { question.notes.push_back(note_of(entry)); }},
};

void check_whole(const Question& question) {
  if (question.ask.empty()) fail("the question has no text: give it a line ask:");
  if (question.of.empty()) fail("the question has no answer: give it a line of: with an expression");
  const bool is_choice = question.kind == AnswerKind::choice;
  if (is_choice && question.choices.empty())
    fail("kind: choice needs choices: give a line such as choices: rises | falls");
  if (!is_choice && !question.choices.empty())
    fail("choices need kind: choice: change the kind, or leave out the choices");
  if (question.tolerance && question.kind != AnswerKind::number)
    fail("tolerance needs kind: number: change the kind, or leave out the tolerance");
}

}  // namespace

std::string_view name_of(AnswerKind kind) {
  return std::ranges::find(kinds, kind, &Kind::kind)->name;
}

Question read_question(const Document& document, const FencedBlock& block) {
  Question question;
  question.place = document.at(block.first_line);
  std::vector<std::string_view> given;
  for (const Entry& entry : entries_of(document, block.first_line + 1, block.last_line, block.margin)) {
    at_place(document.at(entry.line), [&] {
      const Key& key = look_up(std::span<const Key>(keys), entry.key, "key of a question");
      if (!key.repeats && std::ranges::find(given, key.name) != given.end())
        fail("{} is given twice: give it once", key.name);
      given.push_back(key.name);
      key.set(question, entry);
    });
  }
  at_place(question.place, [&] { check_whole(question); });
  return question;
}

std::vector<std::string> question_lines(const Question& question) {
  std::vector<std::string> lines = {question.ask};
  for (std::size_t i = 0; i < question.choices.size(); ++i)
    lines.push_back(fmt::format("{}) {}", i + 1, question.choices[i]));
  return lines;
}

}  // namespace attn
