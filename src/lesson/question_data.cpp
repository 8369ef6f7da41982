#include "lesson/question_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lesson/diagnosis.hpp"
#include "lesson/first_step.hpp"
#include "lesson/typed_digits.hpp"

namespace attn {
namespace {

std::string_view name_of(Recognised::Kind kind) {
  switch (kind) {
    case Recognised::Kind::note:
      return "note";
    case Recognised::Kind::given:
      return "given";
    case Recognised::Kind::neighbor:
      return "neighbor";
    case Recognised::Kind::mistake:
      return "mistake";
    case Recognised::Kind::convention:
      return "convention";
    case Recognised::Kind::slip:
      return "slip";
    case Recognised::Kind::operand:
      return "operand";
    case Recognised::Kind::elsewhere:
      return "elsewhere";
  }
  return "";
}

// A number is compared as it was typed, with no more digits than these.
double with_digits_compared(double value) {
  constexpr int digits = 15;
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

class QuestionWriter {
 public:
  QuestionWriter(const SolvedQuestion& solved, JsonWriter& json) : solved_(solved), json_(json) {}

  void write(std::string_view key) {
    const Question& question = solved_.question;
    json_.begin_object();
    member("key", key);
    member("kind", name_of(question.kind));
    if (!question.choices.empty()) json_.key("choices"), json_.strings(question.choices);
    if (!question.hints.empty()) json_.key("hints"), json_.strings(question.hints);
    json_.key("answer");
    write(solved_.answer);
    member("shown", answer_of(solved_));
    if (question.kind == AnswerKind::number) json_.key("tolerance"), json_.number(tolerance_for(solved_));
    member("wanted", what_is_wanted(question.kind));
    if (const std::string step = first_step(solved_); !step.empty()) member("first", step);
    if (question.kind == AnswerKind::number) write_digits();
    if (question.kind == AnswerKind::shape) member("axes", about_axes(solved_));
    if (question.kind == AnswerKind::word) json_.key("words"), json_.strings(words_to_choose(solved_));
    json_.key("recognised");
    json_.begin_array();
    std::size_t others = 0;
    std::vector<Quantity> told;
    for (const Recognised& row : recognisable(solved_)) {
      // Of slips and other numbers the first is told.
      const bool is_one_of_many = row.kind >= Recognised::Kind::slip;
      const bool is_further = is_one_of_many && std::ranges::find(told, row.quantity) != told.end();
      if (is_one_of_many && !is_further) told.push_back(row.quantity);
      if (is_further || (row.kind >= Recognised::Kind::operand && ++others > most_other_numbers_on_page))
        continue;
      write(row);
    }
    json_.end_array();
    json_.end_object();
  }

 private:
  void member(std::string_view name, std::string_view value) {
    json_.key(name);
    json_.string(value);
  }

  void write_digits() {
    json_.key("decimals");
    json_.integer(static_cast<std::uint64_t>(decimals_wanted(solved_)));
    json_.key("isComputed");
    json_.boolean(solved_.graph != nullptr);
  }

  // A number, a word, or rows and columns.
  void write(const Quantity& quantity) {
    if (const double* const number = std::get_if<double>(&quantity))
      return json_.number(with_digits_compared(*number));
    if (const Shape* const shape = std::get_if<Shape>(&quantity)) {
      json_.begin_array();
      json_.integer(shape->rows);
      json_.integer(shape->columns);
      return json_.end_array();
    }
    json_.string(written(quantity));
  }

  void write(const Recognised& row) {
    json_.begin_object();
    member("kind", name_of(row.kind));
    json_.key("quantity");
    write(row.quantity);
    if (row.mistake) member("summary", row.mistake->summary);
    member("says", row.says);
    json_.end_object();
  }

  const SolvedQuestion& solved_;
  JsonWriter& json_;
};

}  // namespace

void write_question(const SolvedQuestion& solved, std::string_view key, JsonWriter& json) {
  QuestionWriter(solved, json).write(key);
}

}  // namespace attn
